// The BLAS table on its way from _blas to the core, and private hooks through which tests/test_blas.py compares Blas
// with NumPy. No public function uses the hooks.
#include "bind_blas.hpp"

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/numpy.h>

#include <stdexcept>
#include <string>

namespace fastpu {
namespace {

using namespace pybind11::literals;

// Strided rows are welcome here: they are what Blas has to be tested with.
template <class T>
using Array = py::array_t<T, 0>;

template <class T>
index_t row_stride(const Array<T>& array) {
  constexpr auto kItem = static_cast<py::ssize_t>(sizeof(T));
  if (array.ndim() != 2) throw std::invalid_argument("expected a 2-D array");
  if (array.size() == 0) return array.shape(1);  // NumPy leaves the strides of empty arrays to chance
  if ((array.shape(1) > 1 && array.strides(1) != kItem) || array.strides(0) % kItem != 0) {
    throw std::invalid_argument("expected contiguous rows");
  }
  return array.shape(0) == 1 ? array.shape(1) : array.strides(0) / kItem;
}

template <class T>
BlasMatrix<const T> view(const Array<T>& array) {
  return {array.data(), array.shape(0), array.shape(1), row_stride(array)};
}

template <class T>
BlasMatrix<T> mutable_view(Array<T>& array) {
  return {array.mutable_data(), array.shape(0), array.shape(1), row_stride(array)};
}

void check_length(const py::array& vector, py::ssize_t length, const char* name) {
  if (vector.ndim() != 1 || vector.shape(0) != length || (length > 1 && vector.strides(0) != vector.itemsize())) {
    throw std::invalid_argument(std::string(name) + " must be contiguous, of length " + std::to_string(length));
  }
}

Op op(bool is_transposed) { return is_transposed ? Op::transpose : Op::none; }
Triangle triangle(bool is_lower) { return is_lower ? Triangle::lower : Triangle::upper; }

template <class T>
void gemm(const Array<T>& a, const Array<T>& b, Array<T>& c, bool transpose_a, bool transpose_b, T alpha, T beta) {
  const Blas& functions = blas();
  const auto a_view = view(a);
  const auto b_view = view(b);
  const auto c_view = mutable_view(c);
  const py::gil_scoped_release nogil;
  functions.gemm(op(transpose_a), op(transpose_b), alpha, a_view, b_view, beta, c_view);
}

template <class T>
void syrk(const Array<T>& a, Array<T>& c, bool transpose_a, bool lower, T alpha, T beta) {
  const Blas& functions = blas();
  const auto a_view = view(a);
  const auto c_view = mutable_view(c);
  const py::gil_scoped_release nogil;
  functions.syrk(triangle(lower), op(transpose_a), alpha, a_view, beta, c_view);
}

template <class T>
void gemv(const Array<T>& a, const Array<T>& x, Array<T>& y, bool transpose_a, T alpha, T beta) {
  const Blas& functions = blas();
  const auto a_view = view(a);
  check_length(x, a.shape(transpose_a ? 0 : 1), "x");
  check_length(y, a.shape(transpose_a ? 1 : 0), "y");
  const T* const x_data = x.data();
  T* const y_data = y.mutable_data();
  const py::gil_scoped_release nogil;
  functions.gemv(op(transpose_a), alpha, a_view, x_data, beta, y_data);
}

index_t potrf(Array<double>& a, bool lower) {
  const Blas& functions = blas();
  const auto a_view = mutable_view(a);
  const py::gil_scoped_release nogil;
  return functions.potrf(triangle(lower), a_view);
}

void potrs(const Array<double>& factor, Array<double>& b, bool lower) {
  const Blas& functions = blas();
  const auto factor_view = view(factor);
  const auto b_view = mutable_view(b);
  const py::gil_scoped_release nogil;
  functions.potrs(triangle(lower), factor_view, b_view);
}

template <class T>
void bind_hooks(py::module_& module) {
  module.def("_blas_gemm", &gemm<T>, py::arg("a").noconvert(), py::arg("b").noconvert(), py::arg("c").noconvert(),
             py::kw_only(), "transpose_a"_a, "transpose_b"_a, "alpha"_a, "beta"_a);
  module.def("_blas_syrk", &syrk<T>, py::arg("a").noconvert(), py::arg("c").noconvert(), py::kw_only(), "transpose_a"_a,
             "lower"_a, "alpha"_a, "beta"_a);
  module.def("_blas_gemv", &gemv<T>, py::arg("a").noconvert(), py::arg("x").noconvert(), py::arg("y").noconvert(),
             py::kw_only(), "transpose_a"_a, "alpha"_a, "beta"_a);
}

}  // namespace

const Blas& blas() {
  // Not a plain static: its lock and the GIL, which an import can release, could wait for each other.
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Blas> storage;
  return storage
      .call_once_and_store_result([] {
        const py::object table = py::module_::import("fastpu._blas").attr("table");
        const void* const pointer = PyCapsule_GetPointer(table.ptr(), kBlasCapsule);
        if (pointer == nullptr) throw py::error_already_set();
        return Blas(*static_cast<const BlasTable*>(pointer));
      })
      .get_stored();
}

void bind_blas(py::module_& module) {
  bind_hooks<double>(module);
  bind_hooks<float>(module);
  module.def("_blas_potrf", &potrf, py::arg("a").noconvert(), py::kw_only(), "lower"_a);
  module.def("_blas_potrs", &potrs, py::arg("factor").noconvert(), py::arg("b").noconvert(), py::kw_only(), "lower"_a);
}

}  // namespace fastpu
