#include "boosting/boost_state.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/add_exactly.hpp"
#include "common/fill_with_zeros.hpp"

namespace fastpu::detail {

namespace {

constexpr double kFixedPoint = 0x1p61;  // the sum of a group in fixed point, so that no sum needs more than 63 bits
// Weights are refreshed after so many rounds, after a sum has shrunk by this factor (4 bits), or after stumps of this
// sum of heights, as some weight may then have changed by exp of it.
constexpr index_t kRefreshRounds = 128;
constexpr double kRefreshShrink = 16;
constexpr double kRefreshMovement = 200;

}  // namespace

BoostState::BoostState(const BinnedFeatures& features, StumpRows& rows, bool use_unlabelled, Team& team)
    : features_(features),
      rows_(rows),
      kernels_(stump_kernels(team.isa())),
      team_(team),
      layout_(features),
      histogram_(layout_.size, "the histograms") {
  rows_.start(use_unlabelled);
  const auto [n_negative, n_unlabelled, n_positive] = rows_.groups().n_rows;
  const auto n_used = use_unlabelled ? static_cast<double>(n_unlabelled) : 0.0;
  group_rows_ = {n_used, n_used, static_cast<double>(n_negative), static_cast<double>(n_positive)};
  n_active_ = n_negative + (use_unlabelled ? n_unlabelled : 0) + n_positive;
  if (n_active_ > kMostStumpRows) {
    throw std::invalid_argument("X must have at most " + std::to_string(kMostStumpRows) + " rows, got " +
                                std::to_string(n_active_));
  }
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

void BoostState::refresh() {
  const PerSlot tops = rows_.tops();
  const WeightSums whole = rows_.weigh(tops);
  const double offset = offset_ + offset_low_;
  for (std::size_t k = 0; k < kSlots; ++k) {
    const auto second = static_cast<double>(whole.second[k]);
    sums_[k] = (static_cast<double>(whole.first[k]) + second / kWeightDigit) / kWeightDigit;
    const double sign = k == kUnlabelledMinus || k == kLabelledMinus ? 1.0 : -1.0;
    log_totals_[k] = sums_[k] > 0 ? std::log(sums_[k]) + tops[k] + sign * offset : -kInfinity;
  }
  peak_sums_ = sums_;
  rounds_since_refresh_ = 0;
  movement_since_refresh_ = 0;

  fill_with_zeros(histogram_.data(), histogram_.size(), team_);
  for (std::int64_t* added : added_.histograms) fill_with_zeros(added, layout_.size, team_);
  StumpChange all;
  set_scale(all);
  for (std::size_t k = 0; k < kSlots; ++k) added_factor_[k] = sums_[k] / kFixedPoint;
  added_ = rows_.add(all);
}

void BoostState::set_scale(StumpChange& change) const {
  for (std::size_t k = 0; k < kSlots; ++k) {
    RowChange& rows = change.rows[k / 2];
    (k % 2 == 0 ? rows.minus_scale : rows.plus_scale) = sums_[k] > 0 ? kFixedPoint / sums_[k] : 0.0;
  }
}

PerSlot BoostState::add_stump(const StumpBoundary& boundary, bool fires_above, double alpha, double low) {
  // The rows of the smaller side alone are changed, beside what is added to f of every row.
  StumpChange small_side{.is_of_all = false, .is_above = 2 * rows_.count_above(boundary) <= n_active_};
  const bool fires = small_side.is_above == fires_above;
  const double height = alpha * (1.0 - low);
  const double common = alpha * (fires ? low : 1.0);
  const double step = fires ? height : -height;
  small_side.rows.fill({.minus_ratio = std::exp(step), .plus_ratio = std::exp(-step), .step = step});
  set_scale(small_side);
  added_ = rows_.add(small_side);

  add_exactly(offset_, offset_low_, common);
  PerSlot factor{};
  for (std::size_t k = 0; k < kSlots; ++k) {
    factor[k] = 1.0;
    added_factor_[k] = 0.0;
    if (!(sums_[k] > 0)) continue;
    const bool is_minus = k % 2 == 0;
    const RowChange& rows = small_side.rows[k / 2];
    const double scale = is_minus ? rows.minus_scale : rows.plus_scale;
    const double change = (is_minus ? rows.minus_ratio : rows.plus_ratio) - 1.0;
    const PairSums& added = added_.sums[k / 2];
    const double small_sum = static_cast<double>(is_minus ? added.minus : added.plus) / scale;
    const double updated = sums_[k] + change * small_sum;
    factor[k] = updated / sums_[k] * std::exp(is_minus ? common : -common);
    log_totals_[k] += std::log(factor[k]);
    sums_[k] = updated;
    peak_sums_[k] = std::max(peak_sums_[k], updated);
    added_factor_[k] = change / scale;
  }
  ++rounds_since_refresh_;
  movement_since_refresh_ += std::abs(height);
  return factor;
}

// For sparse data: what rows without an entry add to the bin of zero is the total less what the other rows add.
void BoostState::zero_bin(index_t feature, std::size_t kind, std::int64_t* added) const {
  const PairSums& total = added_.sums[kind];
  const index_t zero = features_.zero_code[at(feature)];
  PairSums stored;
  for (index_t b = 0; b < features_.n_bins(feature); ++b) {
    stored.minus += added[2 * b];
    stored.plus += added[2 * b + 1];
  }
  added[2 * zero] = total.minus - stored.minus;
  added[2 * zero + 1] = total.plus - stored.plus;
}

void BoostState::settle(index_t feature) {
  const index_t n_bins = features_.n_bins(feature);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (added_.sums[kind].minus == 0 && added_.sums[kind].plus == 0) continue;  // then all bins are 0
    const index_t first = layout_.first_pair(feature) + static_cast<index_t>(kind) * layout_.kind_offset;
    std::int64_t* added = added_.histograms[0] + first;
    for (std::size_t w = 1; w < added_.histograms.size(); ++w) {
      std::int64_t* other = added_.histograms[w] + first;
      for (index_t i = 0; i < 2 * n_bins; ++i) {
        added[i] += other[i];
        other[i] = 0;
      }
    }
    if (features_.is_sparse()) zero_bin(feature, kind, added);
    kernels_.merge_bins(histogram_.data() + first, added, n_bins, added_factor_[2 * kind], added_factor_[2 * kind + 1]);
  }
}

}  // namespace fastpu::detail
