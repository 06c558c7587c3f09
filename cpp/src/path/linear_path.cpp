// The path of a linear kernel: it is followed on centred rows, and its result is that for the rows as they are given.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/path/svm_path.hpp"
#include "linalg/row_products.hpp"
#include "path/path_start.hpp"
#include "path/path_walk.hpp"

namespace fastpu {
namespace detail {
namespace {

using Vector = std::vector<double>;

// The rows of a path less their mean, in their order.
struct CentredRows {
  Vector mean;
  AlignedBuffer<double> values;
  DenseView<double> view;
};

template <class View>
CentredRows centre(const View& given, const SvmPathProblem& problem) {
  const index_t n = problem.n;
  const index_t d = given.n_cols;
  CentredRows rows{Vector(at(d)), AlignedBuffer<double>(n * d, "the centred rows"), {}};
  rows.view = {rows.values.data(), n, d};
  std::fill_n(rows.values.data(), n * d, 0.0);
  for (index_t i = 0; i < n; ++i) {
    add_row(given, problem.rows[i], 1.0, rows.values.data() + i * d);
    add_row(given, problem.rows[i], 1.0, rows.mean.data());
  }
  for (double& value : rows.mean) value /= static_cast<double>(n);
  if (!std::ranges::all_of(rows.mean, [](double value) { return std::isfinite(value); })) {
    throw std::invalid_argument("sums of kernel values overflow or vanish; scale X");
  }
  for (index_t i = 0; i < n; ++i) {
    for (index_t f = 0; f < d; ++f) rows.values[i * d + f] -= rows.mean[at(f)];
  }
  return rows;
}

Vector alpha_at(const SvmPathResult& path, std::size_t knot) {
  Vector alpha = path.start_alpha;
  for (index_t k = 0; k < path.change_start[knot + 1]; ++k) {
    alpha[at(path.change_row[at(k)])] = path.change_alpha[at(k)];
  }
  return alpha;
}

// a'b in two sums, of the even and of the odd places, four pairs at a time from the last one. Paths of every version
// are summed in this order, so that they have the same bits.
double dot_in_pairs(const double* a, const double* b, index_t n) {
  double even = 0;
  double odd = 0;
  index_t first = 0;
  for (; first + 8 <= n; first += 8) {
    for (index_t k = first + 6; k >= first; k -= 2) {
      even += a[k] * b[k];
      odd += a[k + 1] * b[k + 1];
    }
  }
  for (index_t k = first; k < n; k += 2) {
    even += a[k] * b[k];
    if (k + 1 < n) odd += a[k + 1] * b[k + 1];
  }
  return even + odd;
}

// Turns the offsets of the centred rows into those of the given ones: a0 less lam w'mean.
void move_offsets(SvmPathResult& path, const SvmPathProblem& problem, const CentredRows& rows) {
  const index_t d = rows.view.n_cols;
  if (!path.weights.empty()) {
    for (std::size_t k = 0; k < path.knots.size(); ++k) {
      path.offsets[k] -= dot_in_pairs(path.weights.data() + at(d) * k, rows.mean.data(), d);
    }
    return;
  }
  Vector products(at(problem.n));  // x'mean
  Vector alpha = path.start_alpha;
  double sum = 0;  // of y a x'mean
  for (index_t i = 0; i < problem.n; ++i) {
    products[at(i)] = dot(rows.view, i, rows.mean.data());
    sum += problem.labels[i] * alpha[at(i)] * products[at(i)];
  }
  for (std::size_t k = 0; k < path.knots.size(); ++k) {
    for (index_t c = path.change_start[k]; c < path.change_start[k + 1]; ++c) {
      const std::size_t i = at(path.change_row[at(c)]);
      sum += problem.labels[i] * (path.change_alpha[at(c)] - alpha[i]) * products[i];
      alpha[i] = path.change_alpha[at(c)];
    }
    path.offsets[k] -= sum;
  }
}

// The largest violation of the optimality conditions by the linear model at the last breakpoint, on the given rows: far
// from the origin a score has fewer digits than on centred rows. X'(y a) is summed over `summed`, whose rows are
// `numbers`, where the path has not kept it. 0 for a trivial path.
template <class Given, class Summed>
double violation_at_end(const SvmPathResult& path, const SvmPathProblem& problem, const Given& given,
                        const Summed& summed, const index_t* numbers) {
  if (path.knots.empty()) return 0;
  const std::size_t last = path.knots.size() - (path.knots.back() > 0 ? 1 : 2);  // the end may be lam = 0
  const double lam = path.knots[last];
  const Vector alpha = alpha_at(path, last);
  const std::size_t d = at(given.n_cols);
  Vector w(d);
  if (!path.weights.empty()) {
    std::copy_n(path.weights.begin() + static_cast<std::ptrdiff_t>(d * last), d, w.begin());
  } else {
    for (index_t i = 0; i < problem.n; ++i) add_row(summed, numbers[i], problem.labels[i] * alpha[at(i)], w.data());
  }
  for (double& value : w) value /= lam;
  const double intercept = path.offsets[last] / lam;
  double worst = 0;
  for (index_t i = 0; i < problem.n; ++i) {
    const double slack = problem.labels[i] * (dot(given, problem.rows[i], w.data()) + intercept) - 1;
    if (alpha[at(i)] < problem.costs[i]) worst = std::max(worst, -slack);
    if (alpha[at(i)] > 0) worst = std::max(worst, slack);
  }
  return worst;
}

template <class View>
SvmPathResult path_of_centred(const View& given, const SvmPathProblem& problem, const SvmPathOptions& options,
                              const PathCallback& callback, Team& team) {
  heavier_class(problem);  // refuses labels and costs before anything is computed
  const CentredRows rows = centre(given, problem);
  std::vector<index_t> numbers(at(problem.n));
  std::iota(numbers.begin(), numbers.end(), index_t{0});
  SvmPathProblem centred = problem;
  centred.rows = numbers.data();
  const auto kernel = make_kernel(rows.view, {KernelKind::linear}, team);
  KernelCache<double> cache(*kernel, options.cache_bytes);
  const bool has_few_features = given.n_cols <= kMostFeatures;
  SvmPathResult path = PathWalk(cache, has_few_features ? &rows.view : nullptr, centred, options, callback, team).run();
  move_offsets(path, problem, rows);
  check_finite(path);
  path.violation = std::max(path.violation, violation_at_end(path, problem, given, rows.view, numbers.data()));
  return path;
}

SvmPathResult path_of(const DenseView<double>& rows, const SvmPathProblem& problem, const SvmPathOptions& options,
                      const PathCallback& callback, Team& team) {
  return path_of_centred(rows, problem, options, callback, team);
}

SvmPathResult path_of(const CsrView<double>& rows, const SvmPathProblem& problem, const SvmPathOptions& options,
                      const PathCallback& callback, Team& team) {
  if (rows.n_cols <= kMostFeatures) return path_of_centred(rows, problem, options, callback, team);
  const auto kernel = make_kernel(rows, {KernelKind::linear}, team);
  SvmPathResult path = svm_path(*kernel, problem, options, callback, team);
  path.violation = std::max(path.violation, violation_at_end(path, problem, rows, rows, problem.rows));
  return path;
}

}  // namespace
}  // namespace detail

SvmPathResult linear_svm_path(const LinearRows& rows, const SvmPathProblem& problem, const SvmPathOptions& options,
                              const PathCallback& callback, Team& team) {
  return std::visit([&](const auto& view) { return detail::path_of(view, problem, options, callback, team); }, rows);
}

}  // namespace fastpu
