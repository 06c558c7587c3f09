#include "path/path_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fastpu::detail {

namespace {

constexpr index_t kRowsAtOnce = 256;         // kernel rows taken from the cache at once
constexpr index_t kColumns = 1024;           // columns that one worker adds up
constexpr index_t kLeastParallel = 1 << 18;  // with fewer products, waking another thread takes longer than the work

}  // namespace

PathRows::PathRows(KernelCache<double>& cache, const DenseView<double>* linear, Team& team)
    : cache_(&cache),
      loops_(&svm_kernels(team.isa())),
      vector_loops_(&vector_kernels(team.isa())),
      team_(&team),
      linear_(linear) {
  diagonal_.reserve(cache.columns().size());
  for (const index_t row : cache.columns()) diagonal_.push_back(cache.kernel().diagonal(row));
  if (linear == nullptr) return;
  largest_.assign(at(linear->n_cols), 0.0);
  by_feature_ = AlignedBuffer<double>(n() * linear->n_cols, "the rows of a linear path, by feature");
  for (index_t i = 0; i < n(); ++i) {
    for (index_t f = 0; f < linear->n_cols; ++f) {
      by_feature_[f * n() + i] = features(i)[f];
      largest_[at(f)] = std::max(largest_[at(f)], std::abs(features(i)[f]));
    }
  }
}

void PathRows::take(index_t i, const std::vector<index_t>& positions, double* out) {
  team_->poll();  // factoring thousands of rows takes seconds, row by row: Ctrl-C is polled for each
  if (linear_ != nullptr) {
    for (std::size_t k = 0; k < positions.size(); ++k) {
      out[k] = vector_loops_->dot(features(i), features(positions[k]), linear_->n_cols);
    }
    return;
  }
  const index_t number = cache_->columns()[at(i)];
  const double* values = cache_->find(number);
  if (values == nullptr) cache_->get(&number, 1, &values, *team_);
#if defined(__GNUC__)
  // The row is probably not in the processor's cache, and its entries are read in irregular order.
  if (static_cast<index_t>(positions.size()) > n() / 32) {
    for (index_t c = 0; c < n(); c += 8) __builtin_prefetch(values + c);
  }
#endif
  for (std::size_t k = 0; k < positions.size(); ++k) out[k] = values[positions[k]];
}

double PathRows::add_to_factor(ElbowFactor& factor, const std::vector<index_t>& positions, index_t i, double label) {
  if (is_linear()) {
    return factor.add_features(features(i), positions.empty() ? nullptr : features(positions[0]), label);
  }
  column_.resize(positions.size());
  take(i, positions, column_.data());
  return factor.add(column_.data(), diagonal(i), label);
}

// Takes a part of the list at a time: body(rows, first, n_now, from, width) is called with the kernel rows of the n_now
// positions from `first` on, for the `width` columns from `from` on.
template <class Body>
void PathRows::for_each_block(const std::vector<index_t>& positions, const Body& body) {
  const auto n_rows = static_cast<index_t>(positions.size());
  const index_t at_once = std::min(kRowsAtOnce, cache_->capacity());
  for (index_t first = 0; first < n_rows; first += at_once) {
    team_->poll();
    const index_t n_now = std::min(at_once, n_rows - first);
    numbers_.clear();
    for (index_t k = 0; k < n_now; ++k) numbers_.push_back(cache_->columns()[at(positions[at(first + k)])]);
    values_.resize(at(n_now));
    cache_->get(numbers_.data(), n_now, values_.data(), *team_);
    const int max_workers = n_now * n() < kLeastParallel ? 1 : team_->n_threads();
    team_->for_blocks(n(), kColumns, max_workers, [&](index_t from, index_t end, int) {
      const double* rows[kRowsAtOnce];
      for (index_t k = 0; k < n_now; ++k) rows[k] = values_[at(k)] + from;
      body(rows, first, n_now, from, end - from);
    });
  }
}

void PathRows::add_to_weights(const std::vector<index_t>& positions, const double* factors, double* weights) const {
  for (std::size_t k = 0; k < positions.size(); ++k) {
    vector_loops_->add(weights, factors[k], features(positions[k]), linear_->n_cols);
  }
}

void PathRows::add_sizes(const double* factors, double* sizes) const {
  for (index_t i = 0; i < n(); ++i) {
    for (index_t f = 0; f < linear_->n_cols; ++f) sizes[f] += std::abs(factors[i] * features(i)[f]);
  }
}

void PathRows::add_weighted(const double* weights, double* sums) {
  const index_t d = linear_->n_cols;
  const int max_workers = d * n() < kLeastParallel ? 1 : team_->n_threads();
  team_->for_blocks(n(), kColumns, max_workers, [&](index_t from, index_t end, int) {
    const double* columns[kMostFeatures];
    for (index_t f = 0; f < d; ++f) columns[f] = by_feature_.data() + f * n() + from;
    loops_->f64.add_rows(sums + from, columns, weights, d, end - from);
  });
}

void PathRows::add(const std::vector<index_t>& positions, const double* factors, double* sums) {
  if (positions.empty()) return;
  if (linear_ != nullptr) {
    weights_.assign(at(linear_->n_cols), 0.0);
    add_to_weights(positions, factors, weights_.data());
    add_weighted(weights_.data(), sums);
    return;
  }
  for_each_block(positions, [&](const double** rows, index_t first, index_t n_now, index_t from, index_t width) {
    loops_->f64.add_rows(sums + from, rows, factors + first, n_now, width);
  });
}

void PathRows::add_two(const std::vector<index_t>& positions, const double* in_a, const double* in_b, double* a,
                       double* b) {
  for_each_block(positions, [&](const double** rows, index_t first, index_t n_now, index_t from, index_t width) {
    vector_loops_->add_two(a + from, b + from, rows, in_a + first, in_b + first, n_now, width);
  });
}

double PathRows::reach(const std::vector<index_t>& positions, const double* factors) {
  std::vector<double> sums(at(n()), 0.0);
  for_each_block(positions, [&](const double** rows, index_t first, index_t n_now, index_t from, index_t width) {
    for (index_t k = 0; k < n_now; ++k) {
      for (index_t c = 0; c < width; ++c) sums[at(from + c)] += factors[first + k] * std::abs(rows[k][c]);
    }
  });
  return *std::ranges::max_element(sums);
}

double PathRows::reach(const double* weights) const {
  double sum = 0;
  for (index_t f = 0; f < linear_->n_cols; ++f) sum += largest_[at(f)] * std::abs(weights[f]);
  return sum;
}

}  // namespace fastpu::detail
