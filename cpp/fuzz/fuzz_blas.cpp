// BLAS behind checks of shapes, and the tiles above it.

#include "fastpu/linalg/blas.hpp"
#include "fastpu/linalg/tiled_blas.hpp"
#include "fuzz_input.hpp"
#include "reference_blas.hpp"

namespace {

using namespace fuzz;
using fastpu::Blas;
using fastpu::BlasMatrix;
using fastpu::Op;
using fastpu::Team;
using fastpu::TiledBlas;

// Values for any view of up to `n_rows` rows that are `stride` apart.
struct Values {
  index_t n_rows;
  index_t n_cols;
  index_t stride;
  std::vector<double> values;

  Values(Input& input, index_t rows, index_t cols) : n_rows(rows), n_cols(cols), stride(cols + input.below(3)) {
    values.resize(at(n_rows == 0 ? 0 : (n_rows - 1) * stride + n_cols));
    for (double& value : values) value = input.real();
    // What is refused is not read.
    if (input.rarely(32)) stride = n_cols - 1;
    if (input.rarely(64)) n_cols = input.one_of<index_t, 3>({-1, index_t{1} << 31U, index_t{1} << 62U});
  }
  BlasMatrix<double> view() { return {values.data(), n_rows, n_cols, stride}; }
};

void run(Input& input, const Blas& blas) {
  const index_t m = input.below(5);
  const index_t n = input.below(5);
  const index_t k = input.below(5);
  const Op op_a = input.flag() ? Op::transpose : Op::none;
  const Op op_b = input.flag() ? Op::transpose : Op::none;
  const auto shaped = [&](Op op, index_t rows, index_t cols) {
    if (input.rarely(32)) ++rows;
    return op == Op::none ? Values(input, rows, cols) : Values(input, cols, rows);
  };
  auto a = shaped(op_a, m, k);
  auto b = shaped(op_b, k, n);
  auto c = shaped(Op::none, m, n);
  const double alpha = input.real();
  const double beta = input.flag() ? 0.0 : input.real();
  accepted([&] { blas.gemm(op_a, op_b, alpha, a.view(), b.view(), beta, c.view()); });
  auto square = shaped(Op::none, m, m);
  accepted([&] { blas.syrk(op_a, alpha, a.view(), beta, square.view()); });
  std::vector<double> x(at(k));
  std::vector<double> y(at(m));
  if (op_a == Op::none ? a.n_rows == m && a.n_cols == k : a.n_rows == k && a.n_cols == m) {
    accepted([&] { blas.gemv(op_a, alpha, a.view(), x.data(), beta, y.data()); });
  }
}

void run_factors(Input& input, const Blas& blas) {
  const index_t n = input.rarely(250) ? input.between(60, 140) : input.below(7);
  const index_t m = input.below(6);
  Team team(input.n_threads());
  const TiledBlas tiled(blas, team);
  Values a(input, m, n);
  Values gram(input, n, n);
  Values right(input, m, n);
  if (!accepted([&] { tiled.gram(a.view(), gram.view()); })) return;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const double one = gram.values[at(i * gram.stride + j)];
      const double other = gram.values[at(j * gram.stride + i)];
      FUZZ_CHECK(one == other || (std::isnan(one) && std::isnan(other)));
    }
    gram.values[at(i * gram.stride + i)] += 1;
  }
  std::vector<double> copy = gram.values;
  index_t minor = 0;
  index_t one_tile = 0;
  if (!accepted([&] {
        minor = tiled.cholesky(gram.view());
        one_tile = blas.potrf({copy.data(), n, n, gram.stride});
      })) {
    return;
  }
  FUZZ_CHECK(minor >= 0 && minor <= n);
  if (input.is_plain()) FUZZ_CHECK(minor == 0 && one_tile == 0);
  if (minor != 0) return;
  accepted([&] {
    tiled.solve(gram.view(), right.view());
    Values product(input, m, n);
    tiled.product(right.view(), gram.view(), product.view());
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const Blas blas(reference_blas());
  if (input.flag()) {
    run(input, blas);
  } else {
    run_factors(input, blas);
  }
  return 0;
}
