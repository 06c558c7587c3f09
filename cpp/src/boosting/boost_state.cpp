#include "boosting/boost_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace fastpu::detail {

namespace {

constexpr index_t kBlockWords = 64;  // a parallel task is 64 words: 4096 rows
constexpr index_t kBlockRows = 64 * kBlockWords;
constexpr index_t kMostBlockWords = 4096;   // of the rows that a stump moves: 262144 rows, some milliseconds
constexpr index_t kWordsBetweenPolls = 64;  // of wide CSR rows some milliseconds
constexpr double kFixedPoint = 0x1p61;      // a group's sum in fixed point: sums stay within 63 bits
constexpr double kNegligible = 1e-200;      // weights below it (sum 1) are 0 until the next refresh
constexpr index_t kRefreshRounds = 128;     // rounding errors add up for so many rounds at most,
constexpr double kRefreshShrink = 16;       // a sum loses so much of its size (4 bits),
constexpr double kRefreshMovement = 200;    // and no weight changes by more than exp of this
constexpr double kCodesPerWorker = 32768;   // less work than this is not worth waking a thread

index_t n_words_of(index_t n_rows) { return (n_rows + 63) / 64; }

// (high, low) += x without error.
void add_exactly(double& high, double& low, double x) {
  const double sum = high + x;
  const double part = sum - high;
  low += (high - (sum - part)) + (x - part);
  high = sum;
}

void set_bit(RowBits& bits, index_t i) { bits[static_cast<std::size_t>(i / 64)] |= std::uint64_t{1} << (i % 64); }

// Appends the positions of the bits of a word, 64 * word_index on.
std::uint32_t* list_bits(std::uint64_t word, index_t word_index, std::uint32_t* out) {
  const auto base = static_cast<std::uint32_t>(word_index * 64);
  while (word != 0) {
    *out++ = base + static_cast<std::uint32_t>(std::countr_zero(word));
    word &= word - 1;
  }
  return out;
}

}  // namespace

BoostState::BoostState(const BinnedFeatures& features, const std::int8_t* labels, const double* weight,
                       bool use_unlabelled, Isa isa, Team& team)
    : features_(features),
      weight_(weight),
      kernels_(stump_kernels(isa)),
      team_(team),
      active_(static_cast<std::size_t>(n_words_of(features.n_rows))),
      labelled_(active_.size()),
      small_(active_.size()),
      rows_(features.n_rows, "the row weights"),
      group_(features.n_rows, "the row groups"),
      added_(static_cast<std::size_t>(team.n_threads())),
      added_sums_(added_.size()) {
  for (index_t i = 0; i < features.n_rows; ++i) {
    rows_[i] = RowState{0, 0, 0, 0};
    group_[i] = labels[i];
    if (labels[i] != 0) set_bit(labelled_, i);
    if ((weight == nullptr || weight[i] > 0) && (labels[i] != 0 || use_unlabelled)) {
      set_bit(active_, i);
      ++n_active_;
      if (labels[i] >= 0) group_rows_[labels[i] > 0 ? kLabelledPlus : kUnlabelledPlus] += 1;
      if (labels[i] <= 0) group_rows_[labels[i] < 0 ? kLabelledMinus : kUnlabelledMinus] += 1;
    }
  }
  index_t histogram_size = 0;
  if (features.is_sparse()) {
    kind_offset_ = 2 * features.total_bins();
    histogram_size = 2 * kind_offset_;
    codes_per_row_ = static_cast<double>(features.row_bins.size()) / static_cast<double>(features.n_rows);
  } else {
    for (index_t e = 0; e < features.n_features; ++e) {
      bin_stride_ = std::max(bin_stride_, features.n_bins(e) + kBinPadding);
    }
    kind_offset_ = 2 * bin_stride_;
    histogram_size = features.n_features * 2 * kind_offset_;
    codes_per_row_ = static_cast<double>(features.n_features);
  }
  histogram_ = AlignedBuffer<double>(histogram_size, "the histograms");
  refresh();
  log_weights_ = log_totals_;
}

PerSlot BoostState::log_means() const {
  PerSlot means{};
  for (std::size_t k = 0; k < kSlots; ++k) means[k] = log_totals_[k] - log_weights_[k];
  return means;
}

GainCoefs BoostState::gain_coefs(const PerSlot& shares) const {
  PerSlot coef{};
  for (std::size_t k = 0; k < kSlots; ++k) coef[k] = sums_[k] > 0 ? shares[k] / sums_[k] : 0.0;
  return {coef[kUnlabelledMinus], coef[kUnlabelledPlus], coef[kLabelledMinus], coef[kLabelledPlus]};
}

bool BoostState::is_stale() const {
  if (rounds_since_refresh_ >= kRefreshRounds || movement_since_refresh_ > kRefreshMovement) return true;
  for (std::size_t k = 0; k < kSlots; ++k) {
    if (peak_sums_[k] > kRefreshShrink * sums_[k]) return true;
  }
  return false;
}

// With a bin for every distinct value of a CSR matrix, histograms can take hundreds of megabytes.
template <class T>
void BoostState::fill_with_zeros(AlignedBuffer<T>& values) {
  constexpr index_t kAtOnce = index_t{1} << 19;
  for (index_t first = 0; first < values.size(); first += kAtOnce) {
    team_.poll();
    std::fill_n(values.data() + first, std::min(kAtOnce, values.size() - first), T(0));
  }
}

template <class Visit>
void BoostState::for_row_blocks(Visit&& visit) {
  const index_t n_blocks = count_blocks(features_.n_rows, kBlockRows);
  team_.for_each(n_blocks, [&](index_t block, int worker) {
    const index_t first = block * kBlockRows;
    visit(block, first, std::min(features_.n_rows, first + kBlockRows), worker);
  });
}

void BoostState::refresh() {
  const auto n_blocks = static_cast<std::size_t>(count_blocks(features_.n_rows, kBlockRows));
  const auto is_active = [&](index_t i) { return ((active_[static_cast<std::size_t>(i / 64)] >> (i % 64)) & 1U) != 0; };
  // A weight is exp(exponent - largest exponent of the group), with the logarithm of the sample weight in the exponent:
  // so weights neither overflow nor vanish, whatever the scale of f and of the sample weights.
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const auto exponents = [&](index_t i) {
    const double f = rows_[i].f + rows_[i].f_low;
    const double log_weight = weight_ != nullptr ? std::log(weight_[i]) : 0.0;
    return std::pair{group_[i] > 0 ? kNone : log_weight + f, group_[i] < 0 ? kNone : log_weight - f};
  };
  std::vector<PerSlot> peaks(n_blocks, PerSlot{kNone, kNone, kNone, kNone});
  for_row_blocks([&](index_t block, index_t first, index_t end, int) {
    PerSlot& peak = peaks[static_cast<std::size_t>(block)];
    for (index_t i = first; i < end; ++i) {
      if (!is_active(i)) continue;
      const auto [minus, plus] = exponents(i);
      const std::size_t kind = group_[i] != 0 ? kLabelledMinus : kUnlabelledMinus;
      peak[kind] = std::max(peak[kind], minus);
      peak[kind + 1] = std::max(peak[kind + 1], plus);
    }
  });
  PerSlot peak = peaks[0];
  for (const PerSlot& p : peaks) {
    for (std::size_t k = 0; k < kSlots; ++k) peak[k] = std::max(peak[k], p[k]);
  }
  std::vector<PerSlot> partial(n_blocks, PerSlot{});
  for_row_blocks([&](index_t block, index_t first, index_t end, int) {
    PerSlot& sum = partial[static_cast<std::size_t>(block)];
    for (index_t i = first; i < end; ++i) {
      if (!is_active(i)) continue;
      const auto [minus, plus] = exponents(i);
      const std::size_t kind = group_[i] != 0 ? kLabelledMinus : kUnlabelledMinus;
      const auto weight = [](double exponent, double top) {
        const double w = exponent == kNone ? 0.0 : std::exp(exponent - top);
        return w > kNegligible ? w : 0.0;
      };
      rows_[i].minus = weight(minus, peak[kind]);
      rows_[i].plus = weight(plus, peak[kind + 1]);
      sum[kind] += rows_[i].minus;
      sum[kind + 1] += rows_[i].plus;
    }
  });
  sums_ = PerSlot{};
  for (const PerSlot& p : partial) {  // blocks in order: the same sum for every number of threads
    for (std::size_t k = 0; k < kSlots; ++k) sums_[k] += p[k];
  }
  const double offset = offset_ + offset_low_;
  for (std::size_t k = 0; k < kSlots; ++k) {
    const double sign = k == kUnlabelledMinus || k == kLabelledMinus ? 1.0 : -1.0;
    log_totals_[k] = sums_[k] > 0 ? std::log(sums_[k]) + peak[k] + sign * offset : kNone;
  }
  peak_sums_ = sums_;
  rounds_since_refresh_ = 0;
  movement_since_refresh_ = 0;

  fill_with_zeros(histogram_);
  for (AlignedBuffer<std::int64_t>& added : added_) {
    if (std::ranges::find(pending_, added.data()) != pending_.end()) fill_with_zeros(added);
  }
  std::array<RowChange, 2> changes;
  for (std::size_t k = 0; k < kSlots; ++k) {
    RowChange& change = changes[k / 2];
    const double scale = sums_[k] > 0 ? kFixedPoint / sums_[k] : 0.0;
    (k % 2 == 0 ? change.minus_scale : change.plus_scale) = scale;
    pending_factor_[k] = sums_[k] > 0 ? 1.0 / scale : 0.0;
  }
  add_rows(active_, n_active_, changes);
}

PerSlot BoostState::add_stump(const RowBits& above, const StumpEffect& effect) {
  index_t n_above = 0;
  for (std::size_t w = 0; w < active_.size(); ++w) n_above += std::popcount(above[w] & active_[w]);
  const bool small_above = 2 * n_above <= n_active_;
  for (std::size_t w = 0; w < active_.size(); ++w) small_[w] = (small_above ? above[w] : ~above[w]) & active_[w];

  const bool small_fires = small_above == effect.fires_above;
  const double height = effect.alpha * (1.0 - effect.low);  // f on the firing side minus f on the other
  const double step = small_fires ? height : -height;
  const double common = effect.alpha * (small_fires ? effect.low : 1.0);  // what every row gets
  const PerSlot ratio = {std::exp(step), std::exp(-step), std::exp(step), std::exp(-step)};
  std::array<RowChange, 2> changes;
  PerSlot scale{};
  for (std::size_t k = 0; k < kSlots; ++k) scale[k] = sums_[k] > 0 ? kFixedPoint / sums_[k] : 0.0;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    changes[kind] =
        RowChange{scale[2 * kind],       scale[2 * kind + 1],      ratio[2 * kind], ratio[2 * kind + 1], step,
                  ratio[2 * kind] - 1.0, ratio[2 * kind + 1] - 1.0};
  }
  add_rows(small_, small_above ? n_above : n_active_ - n_above, changes);

  add_exactly(offset_, offset_low_, common);
  PerSlot factor{};
  for (std::size_t k = 0; k < kSlots; ++k) {
    factor[k] = 1.0;
    pending_factor_[k] = 0.0;
    if (!(sums_[k] > 0)) continue;
    const PairSums& added = pending_sums_[k / 2];
    const double small_sum = static_cast<double>(k % 2 == 0 ? added.minus : added.plus) / scale[k];
    const double updated = sums_[k] + (ratio[k] - 1.0) * small_sum;
    factor[k] = updated / sums_[k] * std::exp(k % 2 == 0 ? common : -common);
    log_totals_[k] += std::log(factor[k]);
    sums_[k] = updated;
    peak_sums_[k] = std::max(peak_sums_[k], updated);
    pending_factor_[k] = (ratio[k] - 1.0) / scale[k];
  }
  ++rounds_since_refresh_;
  movement_since_refresh_ += std::abs(height);
  return factor;
}

void BoostState::add_rows(const RowBits& listed, index_t n_listed, const std::array<RowChange, 2>& changes) {
  for (auto& sums : added_sums_) sums = {};
  std::vector<char> worked(added_.size(), 0);
  const double codes = static_cast<double>(n_listed) * codes_per_row_;
  int workers = static_cast<int>(std::min<double>(team_.n_threads(), 1.0 + codes / kCodesPerWorker));
  // Merging a worker's histogram costs time, so few rows are added without one, whatever the number of threads.
  const bool few = codes < static_cast<double>(histogram_.size());
  const bool directly = few && !features_.is_sparse();
  if (few) workers = 1;
  // Blocks are large, since long lists of rows use the caches best; the sums do not depend on the blocks.
  const index_t block_words = std::clamp<index_t>(n_words() / (8 * index_t{workers}), kBlockWords, kMostBlockWords);
  team_.for_each(count_blocks(n_words(), block_words), workers, [&](index_t block, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    if (!directly && added_[w].empty()) {
      added_[w] = AlignedBuffer<std::int64_t>(histogram_.size(), "the histograms of a thread");
      fill_with_zeros(added_[w]);
    }
    worked[w] = directly ? 0 : 1;
    std::array<std::array<std::uint32_t, kMostRows>, 2> lists;
    std::array<std::uint32_t*, 2> ends = {lists[0].data(), lists[1].data()};
    const auto add = [&](std::size_t kind) {
      const std::uint32_t* rows = lists[kind].data();
      const index_t n = ends[kind] - rows;
      const PairSums sums = directly ? add_list_directly(kind, rows, n, changes[kind])
                                     : add_list(kind, rows, n, changes[kind], added_[w].data());
      added_sums_[w][kind].minus += sums.minus;
      added_sums_[w][kind].plus += sums.plus;
      ends[kind] = lists[kind].data();
    };
    const index_t end_word = std::min(n_words(), (block + 1) * block_words);
    for (index_t word = block * block_words; word < end_word; ++word) {
      if (word % kWordsBetweenPolls == 0) team_.poll();
      const auto at = static_cast<std::size_t>(word);
      const std::array<std::uint64_t, 2> bits = {listed[at] & ~labelled_[at], listed[at] & labelled_[at]};
      for (std::size_t kind = 0; kind < 2; ++kind) {
        ends[kind] = list_bits(bits[kind], word, ends[kind]);
        if (ends[kind] - lists[kind].data() > kMostRows - 64) add(kind);
      }
    }
    for (std::size_t kind = 0; kind < 2; ++kind) add(kind);
  });
  pending_.clear();
  pending_sums_ = {};
  for (std::size_t w = 0; w < added_.size(); ++w) {
    if (worked[w] != 0) pending_.push_back(added_[w].data());
    for (std::size_t kind = 0; kind < 2; ++kind) {
      pending_sums_[kind].minus += added_sums_[w][kind].minus;
      pending_sums_[kind].plus += added_sums_[w][kind].plus;
    }
  }
}

template <class Code>
DenseCodes<Code> BoostState::dense_codes() const {
  return {reinterpret_cast<const Code*>(features_.by_row.data()), features_.row_stride, features_.n_features,
          bin_stride_};
}

PairSums BoostState::add_list(std::size_t kind, const std::uint32_t* rows, index_t n, const RowChange& change,
                              std::int64_t* histogram) {
  std::int64_t* bins = histogram + static_cast<index_t>(kind) * kind_offset_;
  if (features_.is_sparse()) return add_sparse(rows, n, change, bins);
  return features_.width == CodeWidth::one_byte
             ? kernels_.add_byte_rows(dense_codes<std::uint8_t>(), rows_.data(), rows, n, change, bins)
             : kernels_.add_two_byte_rows(dense_codes<std::uint16_t>(), rows_.data(), rows, n, change, bins);
}

PairSums BoostState::add_list_directly(std::size_t kind, const std::uint32_t* rows, index_t n,
                                       const RowChange& change) {
  double* bins = histogram_.data() + static_cast<index_t>(kind) * kind_offset_;
  return features_.width == CodeWidth::one_byte
             ? kernels_.add_byte_rows_directly(dense_codes<std::uint8_t>(), rows_.data(), rows, n, change, bins)
             : kernels_.add_two_byte_rows_directly(dense_codes<std::uint16_t>(), rows_.data(), rows, n, change, bins);
}

PairSums BoostState::add_sparse(const std::uint32_t* rows, index_t n, const RowChange& change,
                                std::int64_t* histogram) {
  PairSums sums;
  for (index_t i = 0; i < n; ++i) {
    const std::size_t row = rows[i];
    RowState& s = rows_[static_cast<index_t>(row)];
    const auto minus = static_cast<std::int64_t>(s.minus * change.minus_scale);
    const auto plus = static_cast<std::int64_t>(s.plus * change.plus_scale);
    sums.minus += minus;
    sums.plus += plus;
    for (index_t p = features_.row_start[row]; p < features_.row_start[row + 1]; ++p) {
      std::int64_t* bin = histogram + 2 * static_cast<index_t>(features_.row_bins[static_cast<std::size_t>(p)]);
      bin[0] += minus;
      bin[1] += plus;
    }
    if (change.step != 0) {
      s.minus *= change.minus_ratio;
      s.plus *= change.plus_ratio;
      add_exactly(s.f, s.f_low, change.step);
    }
  }
  return sums;
}

// Sparse data: the rows without an entry add to the bin of zero what the others leave of the total.
void BoostState::zero_bin(index_t feature, std::size_t kind, std::int64_t* added) const {
  const PairSums& total = pending_sums_[kind];
  const index_t zero = features_.zero_code[static_cast<std::size_t>(feature)];
  PairSums stored;
  for (index_t b = 0; b < features_.n_bins(feature); ++b) {
    stored.minus += added[2 * b];
    stored.plus += added[2 * b + 1];
  }
  added[2 * zero] = total.minus - stored.minus;
  added[2 * zero + 1] = total.plus - stored.plus;
}

void BoostState::settle(index_t feature) {
  if (pending_.empty()) return;
  const index_t n_bins = features_.n_bins(feature);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const index_t first = first_pair(feature) + static_cast<index_t>(kind) * kind_offset_;
    std::int64_t* added = pending_[0] + first;
    for (std::size_t w = 1; w < pending_.size(); ++w) {
      std::int64_t* other = pending_[w] + first;
      for (index_t i = 0; i < 2 * n_bins; ++i) {
        added[i] += other[i];
        other[i] = 0;
      }
    }
    if (features_.is_sparse()) zero_bin(feature, kind, added);
    kernels_.merge_bins(histogram_.data() + first, added, n_bins, pending_factor_[2 * kind],
                        pending_factor_[2 * kind + 1]);
  }
}

void BoostState::all_settled() { pending_.clear(); }

}  // namespace fastpu::detail
