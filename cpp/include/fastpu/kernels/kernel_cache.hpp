// Rows of a kernel matrix, computed in blocks by several threads and kept while memory lasts: a least-recently-used
// cache whose rows are known by their number in the whole data, so that they survive from one problem to the next.
//
// Memory is taken into use only as it turns out to be worth it, that is, when a row is asked for again that had to go:
// the first touch of memory costs more than many a kernel value.
//
// All cached rows hold values of the same columns, in the same order. When the columns change, those that stay come
// first, in their old order; cached rows keep their values, and what a row lacks is computed when it is asked for.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel.hpp"

namespace fastpu {

template <class T>
class KernelCache {
 public:
  // Holds at most max_bytes of kernel values, less what a solver keeps for each row of the data, but never fewer than
  // two rows. The kernel must outlive the cache.
  KernelCache(const Kernel<T>& kernel, index_t max_bytes);

  const Kernel<T>& kernel() const { return *kernel_; }

  // Takes another kernel over as many rows in place of the one before, which need not live any longer. The values of
  // that one are forgotten, and their memory is kept.
  void serve(const Kernel<T>& kernel);

  // Chooses the columns: n distinct rows of the data. columns() then holds them in their new order.
  void set_columns(const index_t* rows, index_t n, Team& team);
  const std::vector<index_t>& columns() const { return columns_; }

  // Memory for the solver that uses the cache, which keeps it from one problem to the next: its first touch takes time.
  AlignedBuffer<T>& scratch() { return scratch_; }

  // How many rows of the present columns fit.
  index_t capacity() const { return static_cast<index_t>(slot_row_.size()); }
  bool holds(index_t row) const;
  // The values of one row as from get(), or null if some have to be computed.
  const T* find(index_t row);

  // values[k][c] = K(rows[k], columns()[c]) for n <= capacity() distinct rows, until the next call of get or
  // set_columns. There is room for whole panels behind the last column.
  void get(const index_t* rows, index_t n, const T** values, Team& team);

  // The same in three parts, so that other work can be done beside the second one: prepare() finds room for n rows,
  // compute() fills each of their blocks once, on any thread, and finish() makes the rows known to find(), which
  // returns null until then. Meanwhile one thread may ask for n_more other rows; n + n_more <= capacity().
  class PendingRows {
   public:
    index_t n_blocks() const { return n_blocks_; }

   private:
    friend class KernelCache;
    struct Incomplete {
      index_t row;
      index_t length;  // columns that are there
      T* values;
    };
    std::vector<Incomplete> rows_;
    index_t start_ = 0;  // the first column that is computed: all of the rows have those before it already
    index_t block_size_ = 1;
    index_t n_blocks_ = 0;
  };
  void prepare(const index_t* rows, index_t n, index_t n_more, PendingRows& pending);
  void compute(const PendingRows& pending, index_t block) const;
  void finish(PendingRows& pending);

 private:
  T* slot(index_t s) { return arena_.data() + s * slot_size_; }
  void change_columns(std::vector<index_t> columns, const std::vector<index_t>& from, Team& team);
  void forget();
  void move_values(const std::vector<index_t>& from, index_t new_slot_size, Team& team);
  void unlink(index_t s);
  void link_after(index_t before, index_t s);
  void link_newest(index_t s) { link_after(older_[at(capacity())], s); }
  void touch(index_t s) {
    unlink(s);
    link_newest(s);
  }
  void use_more_slots(index_t n);

  const Kernel<T>* kernel_;
  index_t max_values_;
  AlignedBuffer<T> arena_;
  AlignedBuffer<T> scratch_;
  std::vector<index_t> columns_;
  std::unique_ptr<KernelColumns<T>> packed_;
  index_t slot_size_ = 0;
  std::vector<index_t> slot_row_;     // row in each slot, -1 if none
  std::vector<index_t> slot_length_;  // how many of its columns are there
  std::vector<index_t> row_slot_;     // slot of each row of the data, -1 if none
  std::vector<bool> was_cached_;      // rows that are in the cache or were once
  index_t values_in_use_;             // of the arena: the slots within are linked
  index_t n_linked_ = 0;
  // The slots in use by time of use, as a ring through one position more than there are slots: its `newer_` is the
  // oldest slot.
  std::vector<index_t> older_;
  std::vector<index_t> newer_;
};

}  // namespace fastpu
