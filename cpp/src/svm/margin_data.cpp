#include "svm/margin_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

// Largest sum of squares of the entries: neither it nor its products with costs may overflow.
constexpr double kMostSquares = 1e200;

// sums[f] += x_if - origin_f and squares[f] += its square, over some rows.
template <class T>
void add_moments(const DenseView<T>& x, index_t first, index_t end, const double* origin, double* sums,
                 double* squares) {
  for (index_t i = first; i < end; ++i) {
    const T* row = x.row(i);
    for (index_t f = 0; f < x.n_cols; ++f) {
      const double value = static_cast<double>(row[f]) - origin[f];
      sums[f] += value;
      squares[f] += value * value;
    }
  }
}

// Sparse rows are not shifted: their origin is 0.
template <class T>
void add_moments(const CsrView<T>& x, index_t first, index_t end, const double* /*origin*/, double* sums,
                 double* squares) {
  for (index_t e = x.row_start[first]; e < x.row_start[end]; ++e) {
    const auto value = static_cast<double>(x.values[e]);
    sums[x.columns[e]] += value;
    squares[x.columns[e]] += value * value;
  }
}

std::string too_large(index_t column) {
  return "X must be smaller: the sum of squares of its column " + std::to_string(column) +
         " is more than can be computed with; scale X";
}

}  // namespace

MarginData::MarginData(const RowsView& x, Team& team) : x_(x) {
  const index_t n = n_rows();
  const index_t p = n_features();
  if (n == 0) throw std::invalid_argument("X must have at least 1 row, got 0");
  centre_ = AlignedBuffer<double>::zeros(p + kPanelWidth, "the means of columns");
  deviation_ = AlignedBuffer<double>::zeros(p + kPanelWidth, "the standard deviations of columns");

  // Sums are of differences from the first row, so that little cancels and columns of equal values are found exactly.
  auto origin = make_vector<double>(p, "the means of columns");
  std::visit(
      [&]<class View>(const View& view) {
        if constexpr (View::kIsDense) std::copy_n(view.row(0), p, origin.begin());
      },
      x_);
  RowPass pass(x_, nullptr, n, centre_.data(), team);
  const index_t n_groups = pass.n_groups();
  auto moments = AlignedBuffer<double>::zeros(2 * n_groups * p, "the standard deviations of columns");
  pass.rows([&](index_t first, index_t end, index_t group) {
    double* sums = moments.data() + 2 * group * p;
    std::visit([&](const auto& view) { add_moments(view, first, end, origin.data(), sums, sums + p); }, x_);
  });
  const auto count = static_cast<double>(n);
  double total = 0;
  for (index_t f = 0; f < p; ++f) {
    double sum = 0;
    double squares = 0;
    for (index_t group = 0; group < n_groups; ++group) {
      sum += moments[2 * group * p + f];
      squares += moments[(2 * group + 1) * p + f];
    }
    if (!(squares <= kMostSquares)) throw std::invalid_argument(too_large(f));
    centre_[f] = origin[at(f)] + sum / count;
    const double about_centre = std::max(squares - sum * (sum / count), 0.0);
    deviation_[f] = about_centre > 0 ? std::sqrt(about_centre / count) : 1.0;
    total += about_centre;
  }
  if (!(total <= kMostSquares)) throw std::invalid_argument(too_large(0));
  size_ = total > 0 ? total / count : 1.0;
}

const double* MarginData::gram(Team& team) const {
  const std::scoped_lock lock(gram_lock_);
  if (gram_.empty()) {
    RowPass pass(x_, nullptr, n_rows(), centre(), team);
    AlignedBuffer<double> gram(pass.width() * pass.width(), "the Gram matrix");
    pass.gram(nullptr, gram.data(), 0, nullptr, [](const RowBlock& block) { std::fill_n(block.scale, block.n, 1.0); });
    gram_ = std::move(gram);
  }
  return gram_.data();
}

void gather_rows(const RowsView& x, const index_t* rows, index_t n, const double* centre, double* out) {
  std::visit(
      [&](const auto& view) {
        for (index_t k = 0; k < n; ++k) {
          double* to = out + k * view.n_cols;
          for (index_t f = 0; f < view.n_cols; ++f) to[f] = -centre[f];
          add_row(view, rows[k], 1.0, to);
        }
      },
      x);
}

}  // namespace fastpu::detail
