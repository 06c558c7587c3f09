// Cached kernel rows, from which sequential minimal optimisation takes kernel values and gradients. Variables are
// numbered as in the problem; the active ones also have positions, which are the columns of the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fastpu/kernels/kernel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/svm/smo_problem.hpp"
#include "kernels/svm_kernels.hpp"

namespace fastpu::detail {

// Changes of variables, as (variable, difference).
struct Changes {
  std::vector<index_t> variables;
  std::vector<double> differences;
  void add(index_t variable, double difference) {
    variables.push_back(variable);
    differences.push_back(difference);
  }
  void clear() {
    variables.clear();
    differences.clear();
  }
  index_t size() const { return static_cast<index_t>(variables.size()); }
};

template <class T>
class CachedRows {
 public:
  CachedRows(KernelCache<T>& cache, const SmoProblem& problem, Team& team)
      : cache_(cache),
        problem_(problem),
        team_(team),
        variable_of_(make_vector<index_t>(cache.kernel().n_rows(), "numbers of variables")) {
    for (index_t i = 0; i < problem.n; ++i) variable_of_[at(problem.rows[i])] = i;
  }

  double diagonal(index_t variable) const { return cache_.kernel().diagonal(problem_.rows[variable]); }

  // Makes these variables the active ones; returns them in the order of their positions.
  std::vector<index_t> activate(const std::vector<index_t>& variables) {
    const std::vector<index_t> rows = rows_of(variables);
    cache_.set_columns(rows.data(), static_cast<index_t>(rows.size()), team_);
    std::vector<index_t> order;
    order.reserve(rows.size());
    for (const index_t row : cache_.columns()) order.push_back(variable_of_[at(row)]);
    return order;
  }

  bool holds(index_t position) const { return cache_.holds(row_at(position)); }

  // Returns the kernel values of an active variable with all active ones, valid until the call after the next. Rows of
  // others that are likely to be needed soon are computed along with it: several rows at once are faster than one by
  // one.
  const T* row(index_t position, const std::vector<index_t>& others) {
    std::vector<index_t>& rows = asked_;
    rows.assign(1, row_at(position));
    const auto most = at(std::max<index_t>(1, cache_.capacity() / 4));
    for (const index_t other : others) {
      if (rows.size() < most) rows.push_back(row_at(other));
    }
    std::ranges::reverse(rows);  // the row that is needed comes last, so that it is the last to leave the cache
    values_.resize(rows.size());
    cache_.get(rows.data(), static_cast<index_t>(rows.size()), values_.data(), team_);
    return values_.back();
  }
  // Returns the same row if it is in the cache, and null if it would have to be computed.
  const T* find(index_t position) { return cache_.find(row_at(position)); }

  // Rows that are computed beside other work, in the three parts of KernelCache::prepare().
  using PendingRows = typename KernelCache<T>::PendingRows;  // NOLINT(readability-redundant-typename): for clang < 16
  bool may_compute_ahead(index_t n) const { return 4 * n <= cache_.capacity() && !cache_.kernel().is_serial(); }
  void prepare(const std::vector<index_t>& positions, index_t n_more, PendingRows& pending) {
    asked_.clear();
    for (const index_t position : positions) asked_.push_back(row_at(position));
    cache_.prepare(asked_.data(), static_cast<index_t>(asked_.size()), n_more, pending);
  }
  void compute(const PendingRows& pending, index_t block) const { cache_.compute(pending, block); }
  void finish(PendingRows& pending) { cache_.finish(pending); }

  // Computes the kernel matrix of some active variables.
  void kernel_of(const std::vector<index_t>& positions, std::vector<double>& kernel) {
    kernel.reserve(positions.size() * positions.size());
    const auto most = at(cache_.capacity());
    for (std::size_t start = 0; start < positions.size(); start += most) {
      const std::size_t n = std::min(most, positions.size() - start);
      asked_.clear();
      for (std::size_t k = 0; k < n; ++k) asked_.push_back(row_at(positions[start + k]));
      values_.resize(n);
      cache_.get(asked_.data(), static_cast<index_t>(n), values_.data(), team_);
      for (const T* row : values_) {
        for (const index_t position : positions) kernel.push_back(static_cast<double>(row[position]));
      }
    }
  }

  // Adds K times the changes to the gradients of the active variables (by position).
  void update(const Changes& changes, double* gradient) {
    const index_t n_columns = static_cast<index_t>(cache_.columns().size());
    const std::vector<index_t> rows = rows_of(changes.variables);
    const auto& loops = svm_kernels(team_.isa()).of<T>();
    constexpr index_t kRowsAtOnce = 128;
    const index_t most = std::min(kRowsAtOnce, cache_.capacity());
    for (index_t start = 0; start < changes.size(); start += most) {
      const index_t n = std::min(most, changes.size() - start);
      values_.resize(at(n));
      cache_.get(rows.data() + start, n, values_.data(), team_);
      constexpr index_t kBlock = 1024;
      const int max_workers = n * n_columns < 200'000 ? 1 : team_.n_threads();
      team_.for_blocks(n_columns, kBlock, max_workers, [&](index_t first, index_t end, int) {
        std::vector<const T*> from(values_.begin(), values_.end());
        for (const T*& row : from) row += first;
        loops.add_rows(gradient + first, from.data(), changes.differences.data() + start, n, end - first);
      });
    }
  }

  // Adds K times the changes, if there are any, to the gradients of the given variables. The kernel may be another one
  // over the same rows.
  template <class U>
  void update_others(const Kernel<U>& kernel, const Changes& changes, const std::vector<index_t>& variables,
                     double* gradient) {
    if (changes.size() == 0) return;
    const std::vector<index_t> support = rows_of(changes.variables);
    const std::vector<index_t> x = rows_of(variables);
    const auto n_x = static_cast<index_t>(x.size());
    auto sums = make_vector<double>(n_x, "gradients");
    const double zero = 0;
    kernel_scores(kernel, KernelModels{support.data(), changes.size(), changes.differences.data(), &zero, 1}, x.data(),
                  n_x, team_, sums.data());
    for (std::size_t k = 0; k < variables.size(); ++k) gradient[variables[k]] += sums[k];
  }
  void update_others(const Changes& changes, const std::vector<index_t>& variables, double* gradient) {
    update_others(cache_.kernel(), changes, variables, gradient);
  }
  // The same for the variables that change themselves, where every kernel value counts for both of its variables.
  void update_own(const Kernel<double>& kernel, const Changes& changes, double* gradient) {
    auto sums = make_vector<double>(changes.size(), "gradients");
    kernel_scores_of_support(kernel, rows_of(changes.variables).data(), changes.differences.data(), changes.size(),
                             team_, sums.data());
    for (std::size_t k = 0; k < sums.size(); ++k) gradient[changes.variables[k]] += sums[k];
  }

 private:
  index_t row_at(index_t position) const { return cache_.columns()[at(position)]; }
  std::vector<index_t> rows_of(const std::vector<index_t>& variables) const {
    std::vector<index_t> rows;
    rows.reserve(variables.size());
    for (const index_t i : variables) rows.push_back(problem_.rows[i]);
    return rows;
  }

  KernelCache<T>& cache_;
  const SmoProblem& problem_;
  Team& team_;
  std::vector<index_t> variable_of_;
  std::vector<index_t> asked_;
  std::vector<const T*> values_;
};

}  // namespace fastpu::detail
