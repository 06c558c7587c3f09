#include "linalg/row_pass.hpp"

#include <cassert>

#include "linalg/row_products.hpp"

// Prefetches n values from `from` on. Beyond 64 KiB nothing is prefetched: there the processor sees the stream itself.
// It is a macro because gcc drops it from a function of its own.
#if defined(__GNUC__)
#define FASTPU_PREFETCH_VALUES(from, n)                                                            \
  do {                                                                                             \
    const auto* const fastpu_at = (from);                                                          \
    constexpr fastpu::index_t kFastpuLine = 64 / static_cast<fastpu::index_t>(sizeof *fastpu_at);  \
    const fastpu::index_t fastpu_n = std::min<fastpu::index_t>((n), 1024 * kFastpuLine);           \
    for (fastpu::index_t k = 0; k < fastpu_n; k += kFastpuLine) __builtin_prefetch(fastpu_at + k); \
  } while (false)
#else
#define FASTPU_PREFETCH_VALUES(from, n) static_cast<void>(0)
#endif

namespace fastpu::detail {

namespace {

constexpr index_t kBlockRows = 64;
constexpr index_t kBlockRowsOfWide = 8;
constexpr index_t kMostGroups = 32;

// The position of a column of row 0.
index_t panel_offset(index_t column, index_t stride) { return column / kPanelWidth * stride + column % kPanelWidth; }

template <class T>
void pack_sparse_row(const CsrView<T>& x, index_t row, const double* centre, double* out, index_t stride) {
  for (index_t f = 0; f < x.n_cols; ++f) out[panel_offset(f, stride)] = -centre[f];
  for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) {
    const index_t f = x.columns[e];
    out[panel_offset(f, stride)] = static_cast<double>(x.values[e]) - centre[f];
  }
  for (index_t f = x.n_cols; f < round_up(x.n_cols + 1, kPanelWidth); ++f) {
    out[panel_offset(f, stride)] = f == x.n_cols ? 1.0 : 0.0;
  }
}

}  // namespace

RowPass::RowPass(const RowsView& x, const index_t* rows, index_t n, const double* centre, Team& team)
    : x_(x),
      rows_(rows),
      n_(n),
      centre_(centre),
      kernels_(row_kernels(team.isa())),
      team_(team),
      n_features_(n_columns(x)),
      width_(round_up(n_features_ + 1, kPanelWidth)),
      block_rows_(is_sparse(x) || has_gram() ? kBlockRows : kBlockRowsOfWide),
      scratch_(at(team.n_threads())) {
  const double entries =
      static_cast<double>(n) * (1 + std::visit([](const auto& view) { return mean_row_size(view); }, x));
  const double all = static_cast<double>(n) * static_cast<double>(width_);
  constexpr double kDense = 0.2;  // share of entries above which sparse rows are faster as dense ones
  is_packed_ = !is_sparse(x) || (has_gram() && entries >= kDense * all);
  work_ = is_packed_ ? all : entries;
  // The results of a group, sums and a Gram matrix, should take little time and memory compared with its rows.
  constexpr index_t kLeastRows = 1024;
  constexpr double kLeastEntries = 50'000;
  const double of_group = std::max(4.0 * kMostSums * static_cast<double>(width_), kLeastEntries);
  const index_t wanted = has_gram() ? n / kLeastRows + 1 : static_cast<index_t>(entries / of_group) + 1;
  const index_t most_groups = std::min(kMostGroups, wanted);
  group_rows_ = std::max(kBlockRows, round_up((n + most_groups - 1) / most_groups, kBlockRows));
  n_groups_ = count_blocks(n, group_rows_);
}

void RowPass::open(Scratch& scratch) const {
  scratch.values = AlignedBuffer<double>::zeros((kMostSums + 2) * block_rows_, "a block of rows");
}

RowBlock RowPass::block_at(index_t row, index_t end, index_t group, Scratch& scratch) {
  // Polled within a group, since a group may take a second.
  if ((row / block_rows_) % 16 == 15) team_.poll();
  double* values = scratch.values.data();
  RowBlock block{row, std::min(block_rows_, end - row), group, values, values + block_rows_, {}};
  for (int s = 0; s < kMostSums; ++s) block.weights[s] = values + (2 + s) * block_rows_;
  return block;
}

double RowPass::shift_of(const double* w) const {
  double shift = w[n_features_];
  for (index_t f = 0; f < n_features_; ++f) shift -= centre_[f] * w[f];
  return shift;
}

double* RowPass::room_for_block(AlignedBuffer<double>& buffer) const {
  if (buffer.empty()) buffer = AlignedBuffer<double>(block_size(), "a block of rows");
  return buffer.data();
}

void RowPass::pack_into(const RowBlock& block, double* out) const {
  const index_t stride = panel_stride(block_rows_);
  std::visit(
      [&]<class View>(const View& view) {
        if constexpr (View::kIsDense) {
          using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
          const T* rows[kBlockRows];
          for (index_t i = 0; i < block.n; ++i) rows[i] = view.row(row_of(block.first + i));
          const T* end = view.row(view.n_rows);
          for_type<T>(kernels_.pack_f32, kernels_.pack_f64)(rows, block.n, n_features_, end, centre_, out, stride);
          // The next block comes from memory while this one is worked on.
          const index_t next = block.first + block_rows_;
          if (rows_ == nullptr && next < n_) {
            FASTPU_PREFETCH_VALUES(view.row(next), std::min(block_rows_, n_ - next) * n_features_);
          }
        } else {
          for (index_t i = 0; i < round_up(block.n, kRowLane); ++i) {
            double* row = out + i * kPanelWidth;
            if (i < block.n) {
              pack_sparse_row(view, row_of(block.first + i), centre_, row, stride);
            } else {
              for (index_t f = 0; f < width_; ++f) row[panel_offset(f, stride)] = 0;
            }
          }
        }
      },
      x_);
}

PackedRows RowPass::packed_at(const RowBlock& block, const double* data) const {
  return {data, round_up(block.n, kRowLane), panel_stride(block_rows_), width_ / kPanelWidth};
}

PackedRows RowPass::pack(const RowBlock& block, Scratch& scratch) const {
  if (!kept_.empty()) {
    const double* data = kept_.data() + block.first / block_rows_ * block_size();
    constexpr index_t kNear = index_t{1} << 15;  // 256 KiB: so much stays in a cache from one pass to the next
    const bool is_far = kept_.size() > kNear;
    if (is_far && block.first + block_rows_ < n_) FASTPU_PREFETCH_VALUES(data + block_size(), block_size());
    return packed_at(block, data);
  }
  double* out = room_for_block(scratch.packed);
  pack_into(block, out);
  return packed_at(block, out);
}

void RowPass::keep_packed() {
  constexpr index_t kMostKept = index_t{1} << 22;  // 32 MiB
  const index_t n_blocks = count_blocks(n_, block_rows_);
  if (!is_packed_ || !kept_.empty() || n_blocks * block_size() > kMostKept) return;
  AlignedBuffer<double> kept(n_blocks * block_size(), "rows in double");
  for_groups([&](index_t first, index_t end, index_t group, Scratch& scratch) {
    for (index_t row = first; row < end; row += block_rows_) {
      pack_into(block_at(row, end, group, scratch), kept.data() + row / block_rows_ * block_size());
    }
  });
  kept_ = std::move(kept);
}

void RowPass::multiply(const RowBlock& block, const PackedRows& packed, const double* w, double shift,
                       Scratch& scratch) const {
  double* products = scratch.values.data();
  if (packed.data != nullptr) {
    kernels_.products(packed, w, products);
    return;
  }
  std::visit(
      [&](const auto& view) {
        for (index_t i = 0; i < block.n; ++i) products[i] = dot(view, row_of(block.first + i), w) + shift;
      },
      x_);
}

void RowPass::start_sums(int n_sums) {
  assert(n_sums <= kMostSums);
  if (n_sums == 0) return;
  if (group_sums_.empty()) group_sums_ = AlignedBuffer<double>(n_groups_ * kMostSums * width_, "sums of rows");
  group_sums_.clear();
}

void RowPass::accumulate(const RowBlock& block, const PackedRows& packed, int n_sums) {
  if (packed.data != nullptr) {
    const double* weights[kMostSums];
    double* sums[kMostSums];
    for (int s = 0; s < n_sums; ++s) {
      std::fill(block.weights[s] + block.n, block.weights[s] + packed.n_rows, 0.0);
      weights[s] = block.weights[s];
      sums[s] = group_sum(block.group, s);
    }
    kernels_.sums(packed, weights, n_sums, sums);
    return;
  }
  std::visit(
      [&](const auto& view) {
        for (int s = 0; s < n_sums; ++s) {
          double* sum = group_sum(block.group, s);
          for (index_t i = 0; i < block.n; ++i) {
            sum[n_features_] += block.weights[s][i];
            add_row(view, row_of(block.first + i), block.weights[s][i], sum);
          }
        }
      },
      x_);
}

void RowPass::close_sums(index_t group, int n_sums) {
  for (int s = 0; s < n_sums; ++s) {
    double* sum = group_sum(group, s);
    for (index_t f = 0; f < n_features_; ++f) sum[f] -= centre_[f] * sum[n_features_];
  }
}

void RowPass::add_groups(int n_sums, double* const* sums) const {
  for (int s = 0; s < n_sums; ++s) {
    std::fill_n(sums[s], width_, 0.0);
    for (index_t group = 0; group < n_groups_; ++group) {
      const double* from = group_sum(group, s);
      for (index_t f = 0; f < width_; ++f) sums[s][f] += from[f];
    }
  }
}

void RowPass::start_gram() {
  assert(has_gram());
  if (group_grams_.empty()) {
    group_grams_ = AlignedBuffer<double>(n_groups_ * width_ * width_, "Gram matrices of groups of rows");
  }
  group_grams_.clear();
}

void RowPass::accumulate_gram(const RowBlock& block, const PackedRows& packed, Scratch& scratch) {
  double* out = room_for_block(scratch.scaled);
  std::fill(block.scale + block.n, block.scale + packed.n_rows, 0.0);
  kernels_.rescale(packed, block.scale, out);
  kernels_.gram(packed_at(block, out), group_grams_.data() + block.group * width_ * width_, width_);
}

void RowPass::add_gram(double* gram) const {
  const index_t size = width_ * width_;
  std::fill_n(gram, size, 0.0);
  for (index_t group = 0; group < n_groups_; ++group) {
    const double* from = group_grams_.data() + group * size;
    for (index_t k = 0; k < size; ++k) gram[k] += from[k];
  }
}

}  // namespace fastpu::detail
