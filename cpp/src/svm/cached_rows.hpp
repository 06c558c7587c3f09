// Cached kernel rows, from which sequential minimal optimisation takes kernel values and gradients. Variables are
// numbered as in the problem; the active ones also have positions, which are the columns of the cache, or, where the
// cache keeps whole rows, those of copies of its rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/svm/smo_problem.hpp"
#include "kernels/svm_kernels.hpp"

namespace fastpu::detail {

// By how much some variables change: variables[k] by differences[k].
struct VariableChanges {
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

// Copies of kernel rows that have only some of their columns. They lie close together, so that passes over a few
// columns of many rows find them in the caches of the processor.
template <class T>
class NarrowRows {
 public:
  // Chooses the columns, and forgets all rows. There is room for n_rows of them, in `memory`, which grows if need be.
  void set_columns(std::vector<index_t> columns, index_t n_rows, AlignedBuffer<T>& memory) {
    columns_ = std::move(columns);
    stride_ = round_up(static_cast<index_t>(columns_.size()), kKernelPanel) + kSmoLane;
    row_in_.assign(at(n_rows), -1);
    slot_of_.assign(columns_.size(), -1);
    next_ = 0;
    last_ = -1;
    if (memory.size() < n_rows * stride_) memory = AlignedBuffer<T>(n_rows * stride_, "copies of kernel rows");
    values_ = memory.data();
  }
  // Whether there is room for the rows of all columns, so that none gives way to another.
  bool has_room_for_all() const { return row_in_.size() >= columns_.size(); }
  const std::vector<index_t>& columns() const { return columns_; }

  bool holds(index_t row) const { return slot_of_[at(row)] >= 0; }
  // The row of a number, which is below that of columns, or null. Valid until the call after the next.
  const T* find(index_t row) {
    const index_t slot = slot_of_[at(row)];
    if (slot < 0) return nullptr;
    last_ = slot;
    return values_ + slot * stride_;
  }
  // Adds a row in place of the oldest one, but for the one that was asked for last.
  const T* add(index_t row, const T* whole) {
    const auto advance = [&] { next_ = next_ + 1 < static_cast<index_t>(row_in_.size()) ? next_ + 1 : 0; };
    if (next_ == last_) advance();
    if (row_in_[at(next_)] >= 0) slot_of_[at(row_in_[at(next_)])] = -1;
    row_in_[at(next_)] = row;
    slot_of_[at(row)] = last_ = next_;
    T* out = values_ + next_ * stride_;
    for (const index_t column : columns_) *out++ = whole[column];
    std::fill(out, values_ + (next_ + 1) * stride_, T{});
    advance();
    return values_ + last_ * stride_;
  }

 private:
  std::vector<index_t> columns_;
  index_t stride_ = 0;
  T* values_ = nullptr;
  std::vector<index_t> row_in_;   // of each slot, -1 if none
  std::vector<index_t> slot_of_;  // of each row, -1 if none
  index_t next_ = 0;
  index_t last_ = -1;
};

template <class T>
class CachedRows {
 public:
  // Where the cache keeps whole rows, its columns are all variables, whichever are active.
  CachedRows(KernelCache<T>& cache, const SmoProblem& problem, bool keeps_rows, Team& team)
      : cache_(cache),
        problem_(problem),
        keeps_rows_(keeps_rows),
        team_(team),
        variable_of_(make_vector<index_t>(cache.kernel().n_rows(), "numbers of variables")) {
    for (index_t i = 0; i < problem.n; ++i) variable_of_[at(problem.rows[i])] = i;
    if (!keeps_rows) return;
    cache_.set_columns(problem.rows, problem.n, team);
    column_of_ = make_vector<index_t>(problem.n, "columns of variables");
    for (index_t c = 0; c < problem.n; ++c) column_of_[at(variable_of_[at(cache_.columns()[at(c)])])] = c;
  }

  bool gains_by_several_rows() const { return cache_.kernel().gains_by_several_rows(); }
  double diagonal(index_t variable) const { return cache_.kernel().diagonal(problem_.rows[variable]); }

  // Makes these variables the active ones; returns them in the order of their positions.
  std::vector<index_t> activate(const std::vector<index_t>& variables) {
    if (keeps_rows_) {
      choose_columns(variables);
    } else {
      const std::vector<index_t> rows = rows_of(variables);
      cache_.set_columns(rows.data(), static_cast<index_t>(rows.size()), team_);
      active_rows_ = cache_.columns();
    }
    std::vector<index_t> order;
    order.reserve(active_rows_.size());
    for (const index_t row : active_rows_) order.push_back(variable_of_[at(row)]);
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
    return is_narrow_ ? narrow_.add(position, values_.back()) : values_.back();
  }
  // Returns the same row if it is in the cache, and null if it would have to be computed.
  const T* find(index_t position) {
    const T* copy = is_narrow_ ? narrow_.find(position) : nullptr;
    if (copy != nullptr) return copy;
    const T* values = cache_.find(row_at(position));
    return is_narrow_ && values != nullptr ? narrow_.add(position, values) : values;
  }

  // Rows that are computed beside other work, in the three parts of KernelCache::prepare().
  using PendingRows = typename KernelCache<T>::PendingRows;  // NOLINT(readability-redundant-typename): for clang < 16
  bool may_compute_ahead(index_t n) const {
    return gains_by_several_rows() && !cache_.kernel().is_serial() && 4 * n <= cache_.capacity();
  }
  void prepare(const std::vector<index_t>& positions, index_t n_more, PendingRows& pending) {
    asked_.clear();
    for (const index_t position : positions) asked_.push_back(row_at(position));
    cache_.prepare(asked_.data(), static_cast<index_t>(asked_.size()), n_more, pending);
  }
  void compute(const PendingRows& pending, index_t block) const { cache_.compute(pending, block); }
  void finish(PendingRows& pending) { cache_.finish(pending); }

  // Computes the kernel matrix of some active variables.
  void kernel_of(const std::vector<index_t>& positions, std::vector<double>& kernel) {
    or_out_of_memory<double>(static_cast<index_t>(positions.size() * positions.size()), "the kernel of free variables",
                             [&](std::size_t size) { kernel.resize(size); });
    std::size_t n_written = 0;
    const auto add = [&](const T* row, const std::vector<index_t>& columns) {
      for (const index_t column : columns) kernel[n_written++] = static_cast<double>(row[column]);
    };
    std::vector<index_t> columns = positions;
    if (is_narrow_) {
      for (index_t& column : columns) column = narrow_.columns()[at(column)];
    }
    const auto most = at(cache_.capacity());
    for (std::size_t start = 0; start < positions.size(); start += most) {
      const std::size_t n = std::min(most, positions.size() - start);
      asked_.clear();
      for (std::size_t k = 0; k < n; ++k) {
        if (!is_narrow_ || !narrow_.holds(positions[start + k])) asked_.push_back(row_at(positions[start + k]));
      }
      values_.resize(asked_.size());
      cache_.get(asked_.data(), static_cast<index_t>(asked_.size()), values_.data(), team_);
      auto whole = values_.begin();
      for (std::size_t k = 0; k < n; ++k) {
        if (is_narrow_ && narrow_.holds(positions[start + k])) {
          add(narrow_.find(positions[start + k]), positions);
        } else {
          add(*whole++, columns);
        }
      }
    }
  }

  // Adds K times the changes to the gradients of the active variables (by position).
  void update(const VariableChanges& changes, double* gradient) {
    if (!is_narrow_) {
      add_products(changes, gradient);
      return;
    }
    if (narrow_.has_room_for_all() && add_narrow_products(changes, gradient)) return;
    const std::vector<double> sums = products_of(changes);
    for (const index_t column : narrow_.columns()) *gradient++ += sums[at(column)];
  }

  // Adds K times the changes, if there are any, to the gradients of the given variables. The kernel may be another one
  // over the same rows.
  template <class U>
  void update_others(const Kernel<U>& kernel, const VariableChanges& changes, const std::vector<index_t>& variables,
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
  void update_others(const VariableChanges& changes, const std::vector<index_t>& variables, double* gradient) {
    if (!keeps_rows_) {
      update_others(cache_.kernel(), changes, variables, gradient);
    } else if (changes.size() > 0) {
      const std::vector<double> sums = products_of(changes);
      for (const index_t i : variables) gradient[i] += sums[at(column_of_[at(i)])];
    }
  }
  // The same for the variables that change themselves, where every kernel value counts for both of its variables.
  void update_own(const Kernel<double>& kernel, const VariableChanges& changes, double* gradient) {
    auto sums = make_vector<double>(changes.size(), "gradients");
    kernel_scores_of_support(kernel, rows_of(changes.variables).data(), changes.differences.data(), changes.size(),
                             team_, sums.data());
    for (std::size_t k = 0; k < sums.size(); ++k) gradient[changes.variables[k]] += sums[k];
  }

 private:
  index_t row_at(index_t position) const { return active_rows_[at(position)]; }
  std::vector<index_t> rows_of(const std::vector<index_t>& variables) const {
    std::vector<index_t> rows;
    rows.reserve(variables.size());
    for (const index_t i : variables) rows.push_back(problem_.rows[i]);
    return rows;
  }

  void choose_columns(const std::vector<index_t>& variables) {
    constexpr index_t kMostBytes = 32 << 20;  // of copies, which take no more than a quarter of the cache beside it
    auto is_active = make_vector<char>(problem_.n, "active variables");
    for (const index_t i : variables) is_active[at(column_of_[at(i)])] = 1;
    std::vector<index_t> columns;
    active_rows_.clear();
    for (index_t c = 0; c < problem_.n; ++c) {
      if (is_active[at(c)] == 0) continue;
      columns.push_back(c);
      active_rows_.push_back(cache_.columns()[at(c)]);
    }
    const auto n = static_cast<index_t>(columns.size());
    is_narrow_ = n > 0 && n < problem_.n;
    if (!is_narrow_) return;
    position_of_.assign(at(problem_.n), -1);
    for (index_t p = 0; p < n; ++p) position_of_[at(variable_of_[at(active_rows_[at(p)])])] = p;
    const index_t bytes = std::min(kMostBytes, cache_.capacity() / 4 * problem_.n * static_cast<index_t>(sizeof(T)));
    narrow_.set_columns(std::move(columns),
                        std::clamp<index_t>(bytes / (n * static_cast<index_t>(sizeof(T))), 2, std::max<index_t>(2, n)),
                        cache_.scratch());
  }

  // Adds the products by copies of kernel rows, which have the active columns alone; returns false if a variable that
  // changes is not active. Every sum has the bits that it has among those of all columns.
  bool add_narrow_products(const VariableChanges& changes, double* gradient) {
    std::vector<index_t> positions;
    positions.reserve(changes.variables.size());
    for (const index_t i : changes.variables) {
      const index_t position = position_of_[at(i)];
      if (position < 0) return false;
      positions.push_back(position);
    }
    const auto n = static_cast<index_t>(narrow_.columns().size());
    auto sums = make_vector<double>(n, "gradients");
    const auto& loops = svm_kernels(team_.isa()).of<T>();
    const index_t most = std::max<index_t>(1, cache_.capacity() / 4);
    std::vector<const T*> rows;
    for (index_t start = 0; start < changes.size(); start += most) {
      const index_t n_rows = std::min(most, changes.size() - start);
      asked_.clear();
      for (index_t k = start; k < start + n_rows; ++k) {
        if (!narrow_.holds(positions[at(k)])) asked_.push_back(row_at(positions[at(k)]));
      }
      values_.resize(asked_.size());
      if (!asked_.empty()) cache_.get(asked_.data(), static_cast<index_t>(asked_.size()), values_.data(), team_);
      auto whole = values_.begin();
      rows.clear();
      for (index_t k = start; k < start + n_rows; ++k) {
        const index_t position = positions[at(k)];
        rows.push_back(narrow_.holds(position) ? narrow_.find(position) : narrow_.add(position, *whole++));
      }
      loops.add_rows(sums.data(), rows.data(), changes.differences.data() + start, n_rows, n);
    }
    for (index_t c = 0; c < n; ++c) gradient[c] += sums[at(c)];
    return true;
  }

  std::vector<double> products_of(const VariableChanges& changes) {
    auto sums = make_vector<double>(problem_.n, "gradients");
    add_products(changes, sums.data());
    return sums;
  }
  // Adds K times the changes to numbers by the columns of the cache.
  void add_products(const VariableChanges& changes, double* sums) {
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
        loops.add_rows(sums + first, from.data(), changes.differences.data() + start, n, end - first);
      });
    }
  }

  KernelCache<T>& cache_;
  const SmoProblem& problem_;
  bool keeps_rows_;
  Team& team_;
  std::vector<index_t> variable_of_;  // of each row of the data
  std::vector<index_t> column_of_;    // of each variable, where the cache keeps whole rows
  std::vector<index_t> active_rows_;  // of each position
  std::vector<index_t> position_of_;  // of each variable, -1 if it is not active; kept where is_narrow_
  NarrowRows<T> narrow_;              // in use where is_narrow_
  bool is_narrow_ = false;
  std::vector<index_t> asked_;
  std::vector<const T*> values_;
};

}  // namespace fastpu::detail
