#include "boosting/local_stump_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/add_exactly.hpp"
#include "common/fill_with_zeros.hpp"

namespace fastpu {

namespace detail {

namespace {

constexpr index_t kBlockWords = 64;  // words of row bits in one parallel task
constexpr index_t kBlockRows = 64 * kBlockWords;
constexpr index_t kMostBlockWords = 4096;   // of one task that changes rows: these take some milliseconds
constexpr index_t kWordsBetweenPolls = 64;  // wide CSR rows of so many words take some milliseconds
constexpr double kNegligible = 1e-200;      // smaller weights (of a sum of 1 or more) are 0 until they are set afresh
constexpr double kCodesPerWorker = 32768;   // fewer codes than this are not worth waking a thread

void set_bit(RowBits& bits, index_t i) { bits[at(i / 64)] |= std::uint64_t{1} << (i % 64); }

// Writes the numbers of the rows whose bits are set in a word, and returns the end of the list.
std::uint32_t* list_bits(std::uint64_t word, index_t word_index, std::uint32_t* out) {
  const auto base = static_cast<std::uint32_t>(word_index * 64);
  while (word != 0) {
    *out++ = base + static_cast<std::uint32_t>(std::countr_zero(word));
    word &= word - 1;
  }
  return out;
}

// Sets the bits of the rows whose code is in the set.
template <class Code>
void rows_in_set(const Code* codes, const CategorySet& set, RowBits& rows) {
  for (std::uint64_t& word : rows) {
    word = 0;
    for (unsigned i = 0; i < 64; ++i) word |= static_cast<std::uint64_t>(set.has(codes[i])) << i;
    codes += 64;
  }
}

// Adds a weight of at most 1 to the sum of its slot.
void add_weight(WeightSums& sums, std::size_t slot, double weight) {
  const double scaled = weight * kWeightDigit;
  const auto first = static_cast<std::int64_t>(scaled);
  sums.first[slot] += first;
  sums.second[slot] += std::llround((scaled - static_cast<double>(first)) * kWeightDigit);
}

}  // namespace

LocalStumpRows::LocalStumpRows(const BoostTrainingSet& train, Team& team)
    : features_(*train.features),
      order_(train.order),
      weight_(train.sample_weight),
      kernels_(stump_kernels(team.isa())),
      code_kernels_(code_kernels(team.isa())),
      team_(team),
      histogram_(features_),
      codes_per_row_(static_cast<double>(features_.n_features)),
      active_(at(count_blocks(features_.n_rows, 64))),
      labelled_(active_.size()),
      above_(active_.size()),
      side_(active_.size()),
      states_(features_.n_rows, "the row weights"),
      group_(features_.n_rows, "the row groups"),
      added_(at(team.n_threads())),
      added_sums_(added_.size()) {
  if (features_.is_sparse()) {
    codes_per_row_ = static_cast<double>(features_.row_bins.size()) / static_cast<double>(features_.n_rows);
  }
  PerGroup& sums = groups_.weight;
  for (index_t i = 0; i < features_.n_rows; ++i) {
    const std::int8_t label = train.labels[i];
    if (label < -1 || label > 1) {
      throw std::invalid_argument("labels must be +1, 0 or -1, got " + std::to_string(label) + " in row " +
                                  std::to_string(i));
    }
    states_[i] = RowState{0, 0, 0, 0};
    group_[i] = label;
    if (label != 0) set_bit(labelled_, i);
    const double w = weight_ != nullptr ? weight_[i] : 1.0;
    (label > 0 ? sums.positive : label < 0 ? sums.negative : sums.unlabelled) += w;
    if (w > 0) ++groups_.n_rows[at(label + 1)];
  }
}

void LocalStumpRows::start(bool use_unlabelled) {
  std::ranges::fill(active_, std::uint64_t{0});
  for (index_t i = 0; i < features_.n_rows; ++i) {
    if ((weight_ == nullptr || weight_[i] > 0) && (group_[i] != 0 || use_unlabelled)) set_bit(active_, i);
  }
}

template <class Visit>
void LocalStumpRows::for_row_blocks(Visit&& visit) {
  const index_t n_blocks = count_blocks(features_.n_rows, kBlockRows);
  team_.for_each(n_blocks, [&](index_t block, int) {
    const index_t first = block * kBlockRows;
    visit(at(block), first, std::min(features_.n_rows, first + kBlockRows));
  });
}

// ---- Weights ----

// A weight is exp(exponent - largest exponent of the group), with the logarithm of the sample weight in the exponent:
// so weights neither overflow nor vanish, whatever the scale of f and of the sample weights.
std::pair<double, double> LocalStumpRows::exponents(index_t i) const {
  const double f = states_[i].f + states_[i].f_low;
  const double log_weight = weight_ != nullptr ? std::log(weight_[i]) : 0.0;
  return {group_[i] > 0 ? -kInfinity : log_weight + f, group_[i] < 0 ? -kInfinity : log_weight - f};
}

PerSlot LocalStumpRows::tops() {
  PerSlot top{-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  std::vector<PerSlot> tops(at(count_blocks(features_.n_rows, kBlockRows)), top);
  for_row_blocks([&](std::size_t block, index_t first, index_t end) {
    PerSlot& own = tops[block];
    for (index_t i = first; i < end; ++i) {
      if (!is_active(i)) continue;
      const auto [minus, plus] = exponents(i);
      const std::size_t kind = group_[i] != 0 ? kLabelledMinus : kUnlabelledMinus;
      own[kind] = std::max(own[kind], minus);
      own[kind + 1] = std::max(own[kind + 1], plus);
    }
  });
  for (const PerSlot& own : tops) {
    for (std::size_t k = 0; k < kSlots; ++k) top[k] = std::max(top[k], own[k]);
  }
  return top;
}

WeightSums LocalStumpRows::weigh(const PerSlot& tops) {
  std::vector<WeightSums> sums(at(count_blocks(features_.n_rows, kBlockRows)));
  for_row_blocks([&](std::size_t block, index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      if (!is_active(i)) continue;
      const auto [minus, plus] = exponents(i);
      const std::size_t kind = group_[i] != 0 ? kLabelledMinus : kUnlabelledMinus;
      const auto weight = [](double exponent, double top) {
        const double w = exponent == -kInfinity ? 0.0 : std::exp(exponent - top);
        return w > kNegligible ? w : 0.0;
      };
      states_[i].minus = weight(minus, tops[kind]);
      states_[i].plus = weight(plus, tops[kind + 1]);
      add_weight(sums[block], kind, states_[i].minus);
      add_weight(sums[block], kind + 1, states_[i].plus);
    }
  });
  WeightSums all;
  for (const WeightSums& own : sums) {
    for (std::size_t k = 0; k < kSlots; ++k) {
      all.first[k] += own.first[k];
      all.second[k] += own.second[k];
    }
  }
  return all;
}

// ---- The rows on one side of a stump ----

void LocalStumpRows::find_above(const StumpBoundary& boundary) {
  const index_t e = boundary.feature;
  if (features_.is_sparse()) {
    const auto cut = static_cast<std::uint32_t>(boundary.cut);
    const bool zero_above = features_.zero_code[at(e)] > cut;
    std::ranges::fill(above_, zero_above ? ~std::uint64_t{0} : std::uint64_t{0});
    for (index_t p = features_.column_start[at(e)]; p < features_.column_start[at(e + 1)]; ++p) {
      if ((features_.column_codes[at(p)] > cut) == zero_above) continue;
      const std::uint32_t row = features_.column_rows[at(p)];
      above_[row / 64] ^= std::uint64_t{1} << (row % 64);
    }
    return;
  }
  with_code_type(features_.width, [&]<class Code>(Code) {
    const auto* codes = reinterpret_cast<const Code*>(features_.by_column.data()) + e * features_.column_stride;
    if (boundary.by_categories) return rows_in_set(codes, boundary.codes, above_);
    code_kernels_.of<Code>().above(codes, static_cast<Code>(boundary.cut), n_words(), above_.data());
  });
  if (boundary.position < 0) return;
  const auto i = at(std::ranges::lower_bound(order_->features, e) - order_->features.begin());
  const index_t end = order_->bin_start[i][at(boundary.cut) + 1];
  for (index_t p = boundary.position; p < end; ++p) {
    const std::uint32_t row = order_->rows[i][p] & FeatureOrder::kRow;
    above_[row / 64] |= std::uint64_t{1} << (row % 64);
  }
}

index_t LocalStumpRows::count_above(const StumpBoundary& boundary) {
  find_above(boundary);
  index_t n_above = 0;
  for (std::size_t w = 0; w < active_.size(); ++w) n_above += std::popcount(above_[w] & active_[w]);
  return n_above;
}

const RowBits& LocalStumpRows::changed(const StumpChange& change) {
  if (change.is_of_all) return active_;
  for (std::size_t w = 0; w < active_.size(); ++w) side_[w] = (change.is_above ? above_[w] : ~above_[w]) & active_[w];
  return side_;
}

// ---- What rows add to the histograms ----

AddedRows LocalStumpRows::add(const StumpChange& change) {
  const RowBits& listed = changed(change);
  index_t n_listed = 0;
  for (const std::uint64_t word : listed) n_listed += std::popcount(word);
  for (auto& sums : added_sums_) sums = {};
  std::vector<char> worked(added_.size(), 0);
  const double codes = static_cast<double>(n_listed) * codes_per_row_;
  int workers = static_cast<int>(std::min<double>(team_.n_threads(), 1.0 + codes / kCodesPerWorker));
  // Merging a worker's histogram costs time, so few rows are added by one worker, whatever the number of threads.
  if (codes < static_cast<double>(histogram_.size)) workers = 1;
  // Blocks are large, since long lists of rows use the caches best; the sums do not depend on the blocks.
  const index_t block_words = std::clamp<index_t>(n_words() / (8 * index_t{workers}), kBlockWords, kMostBlockWords);
  team_.for_each(count_blocks(n_words(), block_words), workers, [&](index_t block, int worker) {
    const auto w = at(worker);
    if (added_[w].empty()) {
      added_[w] = AlignedBuffer<std::int64_t>(histogram_.size, "the histograms of a thread");
      fill_with_zeros(added_[w].data(), histogram_.size, team_);
    }
    worked[w] = 1;
    std::array<std::array<std::uint32_t, kMostRows>, 2> lists;
    std::array<std::uint32_t*, 2> ends = {lists[0].data(), lists[1].data()};
    const auto add_listed = [&](std::size_t kind) {
      const std::uint32_t* rows = lists[kind].data();
      const PairSums sums = add_list(kind, rows, ends[kind] - rows, change.rows[kind], added_[w].data());
      added_sums_[w][kind].minus += sums.minus;
      added_sums_[w][kind].plus += sums.plus;
      ends[kind] = lists[kind].data();
    };
    const index_t end_word = std::min(n_words(), (block + 1) * block_words);
    for (index_t word = block * block_words; word < end_word; ++word) {
      if (word % kWordsBetweenPolls == 0) team_.poll();
      const std::uint64_t labelled = labelled_[at(word)];
      const std::array<std::uint64_t, 2> bits = {listed[at(word)] & ~labelled, listed[at(word)] & labelled};
      for (std::size_t kind = 0; kind < 2; ++kind) {
        ends[kind] = list_bits(bits[kind], word, ends[kind]);
        if (ends[kind] - lists[kind].data() > kMostRows - 64) add_listed(kind);
      }
    }
    for (std::size_t kind = 0; kind < 2; ++kind) add_listed(kind);
  });
  AddedRows added;
  for (std::size_t w = 0; w < added_.size(); ++w) {
    if (worked[w] != 0) added.histograms.push_back(added_[w].data());
    for (std::size_t kind = 0; kind < 2; ++kind) {
      added.sums[kind].minus += added_sums_[w][kind].minus;
      added.sums[kind].plus += added_sums_[w][kind].plus;
    }
  }
  return added;
}

PairSums LocalStumpRows::add_list(std::size_t kind, const std::uint32_t* rows, index_t n, const RowChange& change,
                                  std::int64_t* histogram) {
  std::int64_t* bins = histogram + static_cast<index_t>(kind) * histogram_.kind_offset;
  if (features_.is_sparse()) return add_sparse(rows, n, change, bins);
  return with_code_type(features_.width, [&]<class Code>(Code) {
    const DenseCodes<Code> codes{reinterpret_cast<const Code*>(features_.by_row.data()), features_.row_stride,
                                 features_.n_features, histogram_.bin_stride};
    return kernels_.add_rows<Code>()(codes, states_.data(), rows, n, change, bins);
  });
}

PairSums LocalStumpRows::add_sparse(const std::uint32_t* rows, index_t n, const RowChange& change,
                                    std::int64_t* histogram) {
  PairSums sums;
  for (index_t i = 0; i < n; ++i) {
    const std::size_t row = rows[i];
    RowState& s = states_[static_cast<index_t>(row)];
    const auto minus = static_cast<std::int64_t>(s.minus * change.minus_scale);
    const auto plus = static_cast<std::int64_t>(s.plus * change.plus_scale);
    sums.minus += minus;
    sums.plus += plus;
    for (index_t p = features_.row_start[row]; p < features_.row_start[row + 1]; ++p) {
      std::int64_t* bin = histogram + 2 * static_cast<index_t>(features_.row_bins[at(p)]);
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

}  // namespace detail

StumpHistogram::StumpHistogram(const BinnedFeatures& features) : features_(&features) {
  if (features.is_sparse()) {
    kind_offset = 2 * features.total_bins();
    size = 2 * kind_offset;
    return;
  }
  for (index_t e = 0; e < features.n_features; ++e) {
    bin_stride = std::max(bin_stride, features.n_bins(e) + detail::kBinPadding);
  }
  kind_offset = 2 * bin_stride;
  size = features.n_features * 2 * kind_offset;
}

std::unique_ptr<StumpRows> make_stump_rows(const BoostTrainingSet& train, Team& team) {
  return std::make_unique<detail::LocalStumpRows>(train, team);
}

}  // namespace fastpu
