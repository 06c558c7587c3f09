#include "fastpu/kernels/kernel_cache.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace fastpu {

namespace {

constexpr index_t kBlock = 4 * kKernelPanel;  // columns that one worker computes at a time
constexpr index_t kLeastParallel = 50'000;    // fewer values than this are not worth waking a thread
constexpr index_t kBytesPerRow = 256;         // what a solver keeps for each row of the data, beside the kernel values
constexpr index_t kUsedAtOnce = 1 << 22;      // values of memory that are in use from the start

}  // namespace

template <class T>
KernelCache<T>::KernelCache(const Kernel<T>& kernel, index_t max_bytes)
    : kernel_(&kernel),
      max_values_(std::max(max_bytes / 2, max_bytes - kBytesPerRow * kernel.n_rows()) /
                  static_cast<index_t>(sizeof(T))),
      row_slot_(make_vector<index_t>(kernel.n_rows(), "places of cached kernel rows")),
      was_cached_(at(kernel.n_rows()), false),
      values_in_use_(kUsedAtOnce) {
  std::ranges::fill(row_slot_, index_t{-1});
}

template <class T>
void KernelCache<T>::serve(const Kernel<T>& kernel) {
  assert(at(kernel.n_rows()) == row_slot_.size());
  kernel_ = &kernel;
  forget();
  was_cached_.assign(was_cached_.size(), false);
}

template <class T>
bool KernelCache<T>::holds(index_t row) const {
  return row_slot_[at(row)] >= 0;
}

template <class T>
const T* KernelCache<T>::find(index_t row) {
  const index_t s = row_slot_[at(row)];
  if (s < 0 || slot_length_[at(s)] < static_cast<index_t>(columns_.size())) return nullptr;
  touch(s);
  return slot(s);
}

template <class T>
void KernelCache<T>::unlink(index_t s) {
  newer_[at(older_[at(s)])] = newer_[at(s)];
  older_[at(newer_[at(s)])] = older_[at(s)];
}

template <class T>
void KernelCache<T>::link_after(index_t before, index_t s) {
  const index_t behind = newer_[at(before)];
  newer_[at(before)] = s;
  older_[at(s)] = before;
  newer_[at(s)] = behind;
  older_[at(behind)] = s;
}

// Takes slots into use: n of them (or all, if there are fewer), and more if they lie in memory that is in use already.
template <class T>
void KernelCache<T>::use_more_slots(index_t n) {
  values_in_use_ = std::max(values_in_use_, std::min(n, capacity()) * slot_size_);
  const index_t n_wanted = std::min(values_in_use_ / slot_size_, capacity());
  for (; n_linked_ < n_wanted; ++n_linked_) link_after(capacity(), n_linked_);
}

// The values that rows keep lie at from[0] < from[1] < ... of their old columns. Rows are moved to the first slots, and
// slots to their new size; where these grow, from behind, so that nothing is overwritten that is still to be read.
template <class T>
void KernelCache<T>::move_values(const std::vector<index_t>& from, index_t new_slot_size, Team& team) {
  const index_t n_slots = capacity();
  // If slots grow, fewer fit, and the newest rows stay.
  const auto n_keep = std::min<index_t>(max_values_ / new_slot_size, kernel_->n_rows());
  std::vector<char> stays(at(n_slots), 0);
  std::vector<index_t> age;  // slots that stay, the newest first
  for (index_t s = older_[at(n_slots)]; s != n_slots && static_cast<index_t>(age.size()) < n_keep; s = older_[at(s)]) {
    if (slot_row_[at(s)] < 0 || slot_length_[at(s)] == 0) continue;
    stays[at(s)] = 1;
    age.push_back(s);
  }
  std::vector<index_t> new_slot(at(n_slots), -1);
  index_t n_kept = 0;
  const index_t middle_size = std::min(slot_size_, new_slot_size);
  for (index_t s = 0; s < n_slots; ++s) {
    if (slot_row_[at(s)] >= 0) row_slot_[at(slot_row_[at(s)])] = -1;
    if (stays[at(s)] == 0) continue;
    team.poll();
    const T* old_values = slot(s);
    T* values = arena_.data() + n_kept * middle_size;
    const auto length = std::ranges::lower_bound(from, slot_length_[at(s)]) - from.begin();
    for (index_t c = 0; c < length; ++c) values[c] = old_values[from[at(c)]];
    slot_row_[at(n_kept)] = slot_row_[at(s)];
    slot_length_[at(n_kept)] = length;
    new_slot[at(s)] = n_kept++;
  }
  if (new_slot_size > middle_size) {
    for (index_t s = n_kept - 1; s > 0; --s) {
      std::copy_backward(arena_.data() + s * middle_size, arena_.data() + s * middle_size + slot_length_[at(s)],
                         arena_.data() + s * new_slot_size + slot_length_[at(s)]);
    }
  }
  // Loops over whole vectors also read the values after the last one of a complete row, and nothing else sets these.
  for (index_t s = 0; s < n_kept; ++s) {
    T* values = arena_.data() + s * new_slot_size;
    std::fill(values + slot_length_[at(s)], values + round_up(slot_length_[at(s)], kKernelPanel), T{});
  }
  slot_size_ = new_slot_size;
  slot_row_.resize(at(n_keep), -1);
  slot_length_.resize(at(n_keep), 0);
  std::fill(slot_row_.begin() + n_kept, slot_row_.end(), index_t{-1});
  std::fill(slot_length_.begin() + n_kept, slot_length_.end(), index_t{0});
  older_.assign(at(n_keep + 1), n_keep);
  newer_.assign(at(n_keep + 1), n_keep);
  std::ranges::reverse(age);
  for (const index_t s : age) link_newest(new_slot[at(s)]);
  n_linked_ = n_kept;
  use_more_slots(std::min<index_t>(2, n_keep));
  for (index_t s = 0; s < n_kept; ++s) row_slot_[at(slot_row_[at(s)])] = s;
}

template <class T>
void KernelCache<T>::set_columns(const index_t* rows, index_t n, Team& team) {
  const index_t n_rows = kernel_->n_rows();
  // For every column 1 if it is wanted, and 2 if it is wanted and was there before.
  auto wanted = make_vector<char>(n_rows, "columns of a kernel");
  for (index_t c = 0; c < n; ++c) wanted[at(rows[c])] = 1;
  auto columns = reserve_vector<index_t>(n, "columns of a kernel");
  auto from = reserve_vector<index_t>(n, "columns of a kernel");
  for (index_t c = 0; c < static_cast<index_t>(columns_.size()); ++c) {
    if (wanted[at(columns_[at(c)])] == 0) continue;
    wanted[at(columns_[at(c)])] = 2;
    columns.push_back(columns_[at(c)]);
    from.push_back(c);
  }
  for (index_t c = 0; c < n; ++c) {
    if (wanted[at(rows[c])] == 1) columns.push_back(rows[c]);
  }
  assert(static_cast<index_t>(columns.size()) == n);
  if (packed_ && columns == columns_) return;

  try {
    change_columns(std::move(columns), from, team);
  } catch (...) {  // out of memory, or Ctrl-C: some rows have been moved already and others have not
    forget();
    throw;
  }
}

template <class T>
void KernelCache<T>::change_columns(std::vector<index_t> columns, const std::vector<index_t>& from, Team& team) {
  const auto n = static_cast<index_t>(columns.size());
  const index_t n_rows = kernel_->n_rows();
  const index_t slot_size = round_up(n, kKernelPanel);
  max_values_ = std::max(max_values_, 2 * slot_size);
  const index_t needed = std::min(max_values_, n_rows * round_up(n_rows, kKernelPanel));
  if (arena_.size() < needed) {  // an arena too small for two rows held nothing worth keeping
    forget();
    arena_ = AlignedBuffer<T>(needed, "the cache of kernel rows (cache_mb)");
  }
  packed_.reset();  // freed before the new ones are made, as each may be as large as the data
  if (older_.empty()) {
    older_.assign(1, 0);
    newer_.assign(1, 0);
    slot_size_ = slot_size;
  }
  move_values(from, slot_size, team);
  columns_ = std::move(columns);
  packed_ = kernel_->pack(columns_.data(), n, team);
}

// Empties the cache, but keeps its memory.
template <class T>
void KernelCache<T>::forget() {
  columns_.clear();
  packed_.reset();
  slot_row_.clear();
  slot_length_.clear();
  older_.clear();
  newer_.clear();
  n_linked_ = 0;
  std::ranges::fill(row_slot_, index_t{-1});
}

template <class T>
void KernelCache<T>::prepare(const index_t* rows, index_t n, index_t n_more, PendingRows& pending) {
  assert(n + n_more <= capacity());
  assert(std::set<index_t>(rows, rows + n).size() == at(n));
  const auto n_columns = static_cast<index_t>(columns_.size());
  for (index_t k = 0; k < n; ++k) {  // done first, or a row that is cached could be evicted for one that is not
    const index_t s = row_slot_[at(rows[k])];
    if (s >= 0) touch(s);
  }
  for (index_t k = 0; k < n; ++k) {
    if (row_slot_[at(rows[k])] < 0 && was_cached_[at(rows[k])]) values_in_use_ += 4 * slot_size_;
    was_cached_[at(rows[k])] = true;
  }
  values_in_use_ = std::min(values_in_use_, max_values_);
  use_more_slots(n + n_more + 1);  // one more, so that the row of the previous call stays valid
  pending.rows_.clear();
  pending.start_ = n_columns;
  for (index_t k = 0; k < n; ++k) {
    index_t s = row_slot_[at(rows[k])];
    if (s < 0) {
      s = newer_[at(capacity())];
      if (slot_row_[at(s)] >= 0) row_slot_[at(slot_row_[at(s)])] = -1;
      slot_row_[at(s)] = rows[k];
      slot_length_[at(s)] = 0;
      row_slot_[at(rows[k])] = s;
      touch(s);
    }
    if (slot_length_[at(s)] == n_columns) continue;
    pending.rows_.push_back({rows[k], slot_length_[at(s)], slot(s)});
    pending.start_ = std::min(pending.start_, slot_length_[at(s)] / kKernelPanel * kKernelPanel);
  }
  pending.block_size_ = kernel_->is_serial() ? std::max<index_t>(n_columns, 1) : kBlock;
  pending.n_blocks_ = count_blocks(n_columns - pending.start_, pending.block_size_);
}

template <class T>
void KernelCache<T>::compute(const PendingRows& pending, index_t block) const {
  const index_t first = pending.start_ + block * pending.block_size_;
  const index_t last = std::min(first + pending.block_size_, static_cast<index_t>(columns_.size()));
  std::vector<index_t> numbers;
  std::vector<T*> out;
  for (const auto& row : pending.rows_) {
    if (row.length >= last) continue;
    numbers.push_back(row.row);
    out.push_back(row.values + first);
  }
  kernel_->fill(numbers.data(), static_cast<index_t>(numbers.size()), *packed_, first, last, out.data());
}

template <class T>
void KernelCache<T>::finish(PendingRows& pending) {
  for (const auto& row : pending.rows_)
    slot_length_[at(row_slot_[at(row.row)])] = static_cast<index_t>(columns_.size());
  pending.rows_.clear();
  pending.n_blocks_ = 0;
}

template <class T>
void KernelCache<T>::get(const index_t* rows, index_t n, const T** values, Team& team) {
  PendingRows missing;
  prepare(rows, n, 0, missing);
  const index_t n_values = static_cast<index_t>(missing.rows_.size()) * missing.n_blocks_ * missing.block_size_;
  const int max_workers = n_values < kLeastParallel ? 1 : team.n_threads();
  team.for_each(missing.n_blocks_, max_workers, [&](index_t block, int) { compute(missing, block); });
  finish(missing);
  for (index_t k = 0; k < n; ++k) values[k] = slot(row_slot_[at(rows[k])]);
}

template class KernelCache<float>;
template class KernelCache<double>;

}  // namespace fastpu
