// How arguments cross from Python: checked, viewed in place, never converted (src/fastpu/data/_validate.py has done
// that).
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

namespace py = pybind11;

// The team that a call computes with. On Python's main thread, the only one that runs signal handlers, it checks for
// signals every 50 ms. Its level is the one that the environment variable FASTPU_ISA names, and without it the best
// one; raises ValueError for a name that is no level of this machine. Must be called with the GIL held. `poll` is
// called as well wherever the team checks for signals, on any thread and without the GIL.
Team team_of_call(int n_threads, Team::Poll poll = {});

// A C-contiguous array of exactly this type.
template <class T>
using Array = py::array_t<T, py::array::c_style>;

// Returns `array`, which must be a C-contiguous array of exactly type T.
template <class T>
Array<T> check_type(const py::handle& array, const char* name) {
  if (!py::isinstance<Array<T>>(array)) throw py::type_error(std::string(name) + " has the wrong type for _core");
  return py::reinterpret_borrow<Array<T>>(array);
}

// The same for an array of two dimensions.
template <class T>
Array<T> check_2d(const py::handle& array, const char* name) {
  auto typed = check_type<T>(array, name);
  if (typed.ndim() != 2) throw py::value_error(std::string(name) + " must be a 2-D array");
  return typed;
}

// A copy of the elements, not one by one: a pickle may have put the array at any byte.
template <class T>
std::vector<T> vector_of(const py::handle& array, const char* name) {
  const auto elements = check_type<T>(array, name);
  auto values = make_vector<T>(elements.size(), name);
  if (!values.empty()) std::memcpy(values.data(), elements.data(), values.size() * sizeof(T));
  return values;
}

// Returns the elements of a 1-D array, n of them if n >= 0. They must lie where a T may: in a message between Dask's
// workers an array begins at any byte.
template <class T>
const T* view_1d(const py::handle& array, const char* name, index_t n = -1) {
  const auto typed = check_type<T>(array, name);
  if (typed.ndim() != 1 || (n >= 0 && typed.shape(0) != n)) {
    throw py::value_error(std::string(name) + " must be a 1-D array of " + std::to_string(n) + " elements");
  }
  const T* const values = typed.data();
  if (reinterpret_cast<std::uintptr_t>(values) % alignof(T) != 0) {
    throw py::value_error(std::string(name) + " must be aligned in memory");
  }
  return values;
}

// The same for an array of n elements that may be left out: null for None.
template <class T>
const T* view_or_null(const py::object& array, const char* name, index_t n) {
  return array.is_none() ? nullptr : view_1d<T>(array, name, n);
}

// Checks numbers of rows of a matrix that has n_data of them; returns the numbers.
inline const index_t* check_rows(const index_t* rows, index_t n, const char* name, index_t n_data) {
  if (!std::all_of(rows, rows + n, [&](index_t row) { return row >= 0 && row < n_data; })) {
    throw py::value_error(std::string(name) + " holds a row that is not there");
  }
  return rows;
}

// Returns the numbers in a 1-D array of them, and sets n to how many there are.
inline const index_t* view_rows(const py::handle& array, const char* name, index_t n_data, index_t& n) {
  n = static_cast<index_t>(py::len(array));
  return check_rows(view_1d<index_t>(array, name, n), n, name, n_data);
}

template <class T>
CsrView<T> view_csr(const py::object& data, const py::object& indices, const py::object& indptr, index_t n_cols) {
  const auto n_stored = static_cast<index_t>(py::len(data));
  CsrView<T> view;
  view.n_rows = static_cast<index_t>(py::len(indptr)) - 1;
  view.n_cols = n_cols;
  view.values = view_1d<T>(data, "CSR data");
  view.columns = view_1d<std::int32_t>(indices, "CSR indices", n_stored);
  view.row_start = view_1d<index_t>(indptr, "CSR indptr");
  if (view.n_rows < 0 || view.row_start[0] != 0 || view.row_start[view.n_rows] != n_stored) {
    throw py::value_error("CSR indptr must run from 0 to the number of stored values");
  }
  return view;
}

// The matrix behind a DenseMatrix, a CsrMatrix (src/fastpu/data/_matrix.py) or an ndarray. The caller keeps the object
// alive, and with it the arrays that it holds.
inline RowsView view_matrix(const py::handle& matrix) {
  const py::object indptr = py::getattr(matrix, "indptr", py::none());
  if (!indptr.is_none()) {
    const py::object data = matrix.attr("data");
    const auto csr = [&](auto zero) {
      return RowsView(
          view_csr<decltype(zero)>(data, matrix.attr("indices"), indptr, matrix.attr("n_features").cast<index_t>()));
    };
    return py::isinstance<Array<float>>(data) ? csr(0.0F) : csr(0.0);
  }
  const py::object values = py::getattr(matrix, "values", matrix);
  const auto dense = [&](auto zero) {
    using T = decltype(zero);
    const auto array = py::reinterpret_borrow<Array<T>>(values);
    if (array.ndim() != 2) throw py::value_error("a matrix must have 2 dimensions");
    return RowsView(DenseView<T>{array.data(), array.shape(0), array.shape(1)});
  };
  if (py::isinstance<Array<float>>(values)) return dense(0.0F);
  if (py::isinstance<Array<double>>(values)) return dense(0.0);
  throw py::type_error("a matrix must be a C-contiguous float32 or float64 array");
}

// A copy. pybind11's own constructor from a pointer does not notice when there is no memory for it, and makes an array
// that crashes whoever touches it.
template <class T>
py::array_t<T> to_array(const T* values, index_t n) {
  py::array_t<T> array(static_cast<py::ssize_t>(n));
  std::copy_n(values, n, array.mutable_data());
  return array;
}

template <class Values>
auto to_array(const Values& values) {
  return to_array(values.data(), static_cast<index_t>(values.size()));
}

// Returns body(), which is called with the GIL released.
template <class Body>
auto unlocked(Body&& body) {
  const py::gil_scoped_release nogil;
  return body();
}

}  // namespace fastpu
