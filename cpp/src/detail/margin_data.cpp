#include "detail/margin_data.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace fastpu::detail {

namespace {

// A sum of as many squares as there are entries must not overflow, nor must what it is multiplied with.
constexpr double kMostSquares = 1e200;

template <class View>
constexpr bool kIsDense = std::is_same_v<View, DenseView<typename View::Value>>;

// squares[f] += (x_if - centre_f)^2 over some rows.
template <class T>
void add_squares(const DenseView<T>& x, index_t first, index_t end, const double* centre, double* squares) {
  for (index_t i = first; i < end; ++i) {
    const T* row = x.row(i);
    for (index_t f = 0; f < x.n_cols; ++f) {
      const double value = static_cast<double>(row[f]) - centre[f];
      squares[f] += value * value;
    }
  }
}

// Of sparse rows zeros count when the sum is complete: what they would have given is taken off here.
template <class T>
void add_squares(const CsrView<T>& x, index_t first, index_t end, const double* centre, double* squares) {
  for (index_t e = x.row_start[first]; e < x.row_start[end]; ++e) {
    const index_t f = x.columns[e];
    const double value = static_cast<double>(x.values[e]);
    squares[f] += value * (value - 2 * centre[f]);
  }
}

std::string too_large(index_t column) {
  return "X must be smaller: the sum of squares of its column " + std::to_string(column) +
         " is more than can be computed with; scale X";
}

}  // namespace

MarginData::MarginData(const MarginRows& x, Isa isa, Team& team) : x_(x), isa_(isa) {
  const index_t n = n_rows();
  const index_t p = n_features();
  centre_ = AlignedBuffer<double>::zeros(p + kPanelWidth, "the means of columns");
  deviation_ = AlignedBuffer<double>::zeros(p + kPanelWidth, "the standard deviations of columns");

  RowPass pass(x_, nullptr, n, centre_.data(), isa, team);
  AlignedBuffer<double> sums(pass.width(), "the means of columns");
  double* const all_sums[] = {sums.data()};
  // Divided row by row, or large values would overflow in the sum; dense ones a second time for what the
  // first has rounded off.
  const double share = 1 / static_cast<double>(n);
  for (int round = 0; round < (is_sparse(x_) ? 1 : 2); ++round) {
    pass.run(nullptr, 1, all_sums, [&](const RowBlock& block) { std::fill_n(block.weights[0], block.n, share); });
    std::transform(sums.data(), sums.data() + p, centre_.data(), centre_.data(), std::plus<>{});
  }

  const index_t n_groups = pass.n_groups();
  auto squares = AlignedBuffer<double>::zeros(n_groups * p, "the standard deviations of columns");
  pass.rows([&](index_t first, index_t end, index_t group) {
    std::visit([&](const auto& view) { add_squares(view, first, end, centre_.data(), squares.data() + group * p); },
               x_);
  });
  double total = 0;
  for (index_t f = 0; f < p; ++f) {
    double sum = is_sparse(x_) ? static_cast<double>(n) * centre_[f] * centre_[f] : 0.0;
    for (index_t group = 0; group < n_groups; ++group) sum += squares[group * p + f];
    if (!(sum <= kMostSquares)) throw std::invalid_argument(too_large(f));
    deviation_[f] = sum > 0 ? std::sqrt(sum / static_cast<double>(n)) : 1.0;
    total += std::max(sum, 0.0);
  }
  if (!(total <= kMostSquares)) throw std::invalid_argument(too_large(0));
  size_ = total > 0 ? total / static_cast<double>(n) : 1.0;
}

const double* MarginData::gram(Team& team) const {
  const std::scoped_lock lock(gram_lock_);
  if (gram_.empty()) {
    RowPass pass(x_, nullptr, n_rows(), centre(), isa_, team);
    AlignedBuffer<double> gram(pass.width() * pass.width(), "the Gram matrix");
    pass.gram(gram.data(), 0, nullptr, [](const RowBlock& block) { std::fill_n(block.scale, block.n, 1.0); });
    gram_ = std::move(gram);
  }
  return gram_.data();
}

void gather_rows(const MarginRows& x, const index_t* rows, index_t n, const double* centre, double* out) {
  std::visit(
      [&]<class View>(const View& view) {
        for (index_t k = 0; k < n; ++k) {
          double* to = out + k * view.n_cols;
          if constexpr (kIsDense<View>) {
            const auto* from = view.row(rows[k]);
            for (index_t f = 0; f < view.n_cols; ++f) to[f] = static_cast<double>(from[f]) - centre[f];
          } else {
            for (index_t f = 0; f < view.n_cols; ++f) to[f] = -centre[f];
            for (index_t e = view.row_start[rows[k]]; e < view.row_start[rows[k] + 1]; ++e) {
              const index_t f = view.columns[e];
              to[f] = static_cast<double>(view.values[e]) - centre[f];
            }
          }
        }
      },
      x);
}

}  // namespace fastpu::detail
