// One pass over the rows of X: products with a vector, a computation on them row by row, and weighted sums of the
// rows, with X read from memory once. Rows are (x - centre, 1): the last element of a vector is the intercept's.
//
// Rows are dealt out in groups, cut by the size of X alone, and the sums of groups are added in order: results are the
// same for any number of threads.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "linalg/row_kernels.hpp"

namespace fastpu::detail {

inline bool is_sparse(const RowsView& x) { return x.index() >= 2; }

// Gram matrices are computed for at most so many features; sparse rows are made dense for them, block by block.
inline constexpr index_t kMostGramFeatures = 2000;

// Rows first to first + n - 1 of the pass.
struct RowBlock {
  index_t first;
  index_t n;
  index_t group;
  const double* products;      // of the rows
  double* scale;               // the body fills it, where a Gram matrix is computed
  double* weights[kMostSums];  // the body fills them
};

class RowPass {
 public:
  // All rows, or n of them if `rows` is not null; the data of x, rows and centre (n_columns() values) must outlive
  // this.
  RowPass(const RowsView& x, const index_t* rows, index_t n, const double* centre, Team& team);

  index_t n() const { return n_; }
  index_t n_features() const { return n_features_; }
  // The length of vectors: a value for each feature, one for the intercept, and zeros.
  index_t width() const { return width_; }
  index_t n_groups() const { return n_groups_; }
  bool has_gram() const { return n_features_ <= kMostGramFeatures; }
  Team& team() const { return team_; }

  // For many passes: rows are packed once and kept, if that takes little enough memory.
  void keep_packed();

  // body(block) for every block, which finds products with w (unless that is null) and leaves `n_sums` weights for each
  // row; then sums[s] = sum_i weights[s][i] (x_i - centre, 1).
  template <class Body>
  void run(const double* w, int n_sums, double* const* sums, Body&& body) {
    gram(w, nullptr, n_sums, sums, body);
  }

  // The same, and unless that is null, gram = sum_i scale_i^2 (x_i - centre, 1) (x_i - centre, 1)', its upper triangle
  // in tiles of eight by eight, stored with width() columns. It needs has_gram(), and that body(block) fills scale.
  template <class Body>
  void gram(const double* w, double* gram, int n_sums, double* const* sums, Body&& body) {
    const bool is_packed = gram != nullptr || is_packed_;
    const bool packs = gram != nullptr || (is_packed_ && (w != nullptr || n_sums > 0));
    const double shift = w == nullptr || is_packed ? 0.0 : shift_of(w);
    if (gram != nullptr) start_gram();
    start_sums(n_sums);
    for_groups([&](index_t first, index_t end, index_t group, Scratch& scratch) {
      for (index_t row = first; row < end; row += block_rows_) {
        const RowBlock block = block_at(row, end, group, scratch);
        const PackedRows packed = packs ? pack(block, scratch) : PackedRows{};
        if (w != nullptr) multiply(block, packed, w, shift, scratch);
        body(block);
        if (n_sums > 0) accumulate(block, packed, n_sums);
        if (gram != nullptr) accumulate_gram(block, packed, scratch);
      }
      if (!is_packed) close_sums(group, n_sums);
    });
    if (gram != nullptr) add_gram(gram);
    add_groups(n_sums, sums);
  }

  // body(first, end, group) over the rows of each group, X not touched.
  template <class Body>
  void rows(Body&& body) {
    const int workers = n_ < 20'000 ? 1 : team_.n_threads();
    team_.for_each(n_groups_, workers, [&](index_t group, int) {
      body(group * group_rows_, std::min((group + 1) * group_rows_, n_), group);
    });
  }

 private:
  struct Scratch {
    AlignedBuffer<double> packed;
    AlignedBuffer<double> scaled;
    AlignedBuffer<double> values;  // products, scale and weights of a block
  };

  template <class Body>
  void for_groups(Body&& body) {
    const int workers = work_ < 100'000 ? 1 : team_.n_threads();
    team_.for_each(n_groups_, workers, [&](index_t group, int worker) {
      Scratch& scratch = scratch_[at(worker)];
      if (scratch.values.empty()) open(scratch);
      body(group * group_rows_, std::min((group + 1) * group_rows_, n_), group, scratch);
    });
  }

  void open(Scratch& scratch) const;
  RowBlock block_at(index_t row, index_t end, index_t group, Scratch& scratch);
  index_t row_of(index_t i) const { return rows_ == nullptr ? i : rows_[i]; }
  double shift_of(const double* w) const;
  index_t block_size() const { return width_ / kPanelWidth * panel_stride(block_rows_); }
  double* room_for_block(AlignedBuffer<double>& buffer) const;
  void pack_into(const RowBlock& block, double* out) const;
  PackedRows packed_at(const RowBlock& block, const double* data) const;
  PackedRows pack(const RowBlock& block, Scratch& scratch) const;
  void multiply(const RowBlock& block, const PackedRows& packed, const double* w, double shift, Scratch& scratch) const;
  void start_sums(int n_sums);
  void accumulate(const RowBlock& block, const PackedRows& packed, int n_sums);
  void close_sums(index_t group, int n_sums);
  void add_groups(int n_sums, double* const* sums) const;
  void start_gram();
  void accumulate_gram(const RowBlock& block, const PackedRows& packed, Scratch& scratch);
  void add_gram(double* gram) const;
  double* group_sum(index_t group, int s) { return group_sums_.data() + (group * kMostSums + s) * width_; }
  const double* group_sum(index_t group, int s) const { return group_sums_.data() + (group * kMostSums + s) * width_; }

  RowsView x_;
  const index_t* rows_;
  index_t n_;
  const double* centre_;
  const RowKernels& kernels_;
  Team& team_;
  bool is_packed_;  // whether passes pack their rows; those with a Gram matrix always do
  index_t n_features_;
  index_t width_;
  index_t block_rows_;
  index_t group_rows_;
  index_t n_groups_;
  double work_;
  std::vector<Scratch> scratch_;      // one per worker
  AlignedBuffer<double> group_sums_;  // kMostSums for each group
  AlignedBuffer<double> group_grams_;
  AlignedBuffer<double> kept_;  // all blocks, if they are kept
};

}  // namespace fastpu::detail
