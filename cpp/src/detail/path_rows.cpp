#include "detail/path_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fastpu::detail {

namespace {

constexpr index_t kRowsAtOnce = 256;         // of the cache
constexpr index_t kColumns = 1024;           // that one worker adds up
constexpr index_t kLeastParallel = 1 << 18;  // fewer products than this are not worth waking a thread

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

}  // namespace

PathRows::PathRows(KernelCache<double>& cache, Isa isa, Team& team)
    : cache_(&cache), loops_(&svm_kernels(isa)), team_(&team) {
  diagonal_.reserve(cache.columns().size());
  for (const index_t row : cache.columns()) diagonal_.push_back(cache.kernel().diagonal(row));
}

const double* PathRows::row(index_t i) {
  const index_t number = cache_->columns()[at(i)];
  if (const double* values = cache_->find(number)) return values;
  const double* values = nullptr;
  cache_->get(&number, 1, &values, *team_);
  return values;
}

void PathRows::take(index_t i, const std::vector<index_t>& positions, double* out) {
  const double* values = row(i);
  for (std::size_t k = 0; k < positions.size(); ++k) out[k] = values[positions[k]];
}

void PathRows::add(const std::vector<index_t>& positions, const double* factors, double* sums, bool absolute) {
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
    team_->for_each(count_blocks(n(), kColumns), max_workers, [&](index_t block, int) {
      const index_t from = block * kColumns;
      const index_t width = std::min(kColumns, n() - from);
      if (absolute) {
        for (index_t k = 0; k < n_now; ++k) {
          const double* values = values_[at(k)] + from;
          for (index_t c = 0; c < width; ++c) sums[from + c] += factors[first + k] * std::abs(values[c]);
        }
        return;
      }
      const double* shifted[kRowsAtOnce];
      for (index_t k = 0; k < n_now; ++k) shifted[k] = values_[at(k)] + from;
      loops_->f64.add_rows(sums + from, shifted, factors + first, n_now, width);
    });
  }
}

}  // namespace fastpu::detail
