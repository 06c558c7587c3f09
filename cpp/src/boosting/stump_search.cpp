#include "boosting/stump_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <iterator>

namespace fastpu::detail {

namespace {

constexpr double kTie = 1e-12;             // candidates this close to the best count as equal to it
constexpr double kBoundSlack = 1e-12;      // far above the rounding of the bounds
constexpr double kBinsPerWorker = 4096;    // fewer bins than this are not worth waking a thread
constexpr index_t kRowsPerWorker = 16384;  // the same for the rows of promising bins
constexpr index_t kPromisingPerBlock = 4;  // promising bins of one parallel task
constexpr index_t kBinsPerBlock = 2048;    // bins of one parallel task, roughly
constexpr double kMiddleTie = 1e-9;        // sides that differ by less are equal; missing entries are not above then

}  // namespace

StumpSearch::StumpSearch(BoostState& state, const FeatureOrder* order, const LocalStumpRows* rows,
                         const std::uint8_t* categorical, double low, Team& team)
    : state_(state),
      features_(state.features()),
      order_(order),
      rows_(rows),
      categorical_(categorical),
      low_(low),
      team_(team),
      order_of_(at(features_.n_features), -1),
      best_of_feature_(order_of_.size()),
      first_cut_(order_of_.size(), -1),
      end_cut_(order_of_.size(), -1),
      occupied_(categorical != nullptr ? order_of_.size() : 0),
      middle_bin_(order_of_.size()),
      middle_share_(order_of_.size()),
      rows_of_code_(occupied_.size()),
      scans_(at(team.n_threads())) {
  index_t most_bins = 0;
  for (index_t e = 0; e < features_.n_features; ++e) most_bins = std::max(most_bins, features_.n_bins(e));
  for (Scan& scan : scans_) {
    scan.gain.resize(at(most_bins));
    scan.prefix.resize(scan.gain.size());
  }
  if (order_ == nullptr) return;
  for (std::size_t i = 0; i < order_->features.size(); ++i) {
    order_of_[at(order_->features[i])] = static_cast<index_t>(i);
  }
}

Boundary StumpSearch::best(const GainCoefs& coefs) {
  const index_t n_features = features_.n_features;
  const auto bins = static_cast<double>(features_.total_bins());
  const int workers = static_cast<int>(std::min<double>(team_.n_threads(), 1.0 + bins / kBinsPerWorker));
  const index_t per_block = std::max<index_t>(1, kBinsPerBlock * n_features / features_.total_bins());
  for (Scan& scan : scans_) scan.start_round();
  team_.for_each(count_blocks(n_features, per_block), workers, [&](index_t block, int worker) {
    Scan& scan = scans_[at(worker)];
    for (index_t e = block * per_block; e < std::min(n_features, (block + 1) * per_block); ++e) {
      state_.settle(e);
      if (first_cut_[at(e)] < 0) find_cuts(e, coefs);
      load(e, coefs, scan);
      if (is_categorical(e)) {
        const Boundary set = best_set(e, scan, coefs);
        best_of_feature_[at(e)] = set.feature < 0 ? -1 : set.score;
      } else {
        best_of_feature_[at(e)] = state_.kernels().largest_score(scan.prefix.data(), first_cut_[at(e)], end_cut_[at(e)],
                                                                 scan.total, scan.slope, scan.center);
      }
      scan.best = std::max(scan.best, best_of_feature_[at(e)]);
      if (order_of(e) >= 0) list_promising_bins(e, coefs, scan);
    }
  });
  if (order_ != nullptr) look_inside(coefs);
  const double best = std::ranges::max(best_of_feature_);
  if (best < 0) return {};
  const double limit = best - kTie;
  for (index_t e = 0; e < n_features; ++e) {
    if (best_of_feature_[at(e)] < limit) continue;
    Boundary boundary = first_reaching(e, limit, coefs, scans_[0]);
    boundary.missing_above = !boundary.by_categories && boundary.feature >= 0 && is_larger_above(boundary);
    return boundary;
  }
  return {};
}

void StumpSearch::load(index_t feature, const GainCoefs& coefs, Scan& scan) const {
  const index_t n_bins = features_.n_bins(feature);
  state_.kernels().bin_gains(state_.unlabelled_bins(feature), state_.labelled_bins(feature), n_bins, coefs,
                             scan.gain.data());
  scan.total = state_.kernels().prefix_sums(scan.gain.data(), n_bins, scan.prefix.data());
  scan.slope = 1.0 - low_;
  scan.center = low_ * scan.total;
}

// A cut without rows on one side is no candidate: its Delta is 0, but its edge is that of a constant vote.
void StumpSearch::find_cuts(index_t feature, const GainCoefs& k) {
  const double* u = state_.unlabelled_bins(feature);
  const double* l = state_.labelled_bins(feature);
  const auto is_occupied = [&](index_t b) {
    return k.unlabelled_minus * u[2 * b] + k.unlabelled_plus * u[2 * b + 1] + k.labelled_minus * l[2 * b] +
               k.labelled_plus * l[2 * b + 1] >
           0;
  };
  index_t first = 0;
  index_t last = features_.n_bins(feature) - 1;
  while (first < last && !is_occupied(first)) ++first;
  while (first < last && !is_occupied(last)) --last;
  first_cut_[at(feature)] = first;
  end_cut_[at(feature)] = last;
  find_middle(feature);
  if (!is_categorical(feature)) return;
  CategorySet& occupied = occupied_[at(feature)];
  for (index_t b = first; b <= last; ++b) {
    if (is_occupied(b)) occupied.add(static_cast<std::uint32_t>(b));
  }
}

// Rows of one group count by their weights, and all together as the rows that they are.
void StumpSearch::find_middle(index_t feature) {
  const double* u = state_.unlabelled_bins(feature);
  const double* l = state_.labelled_bins(feature);
  const auto per_weight = [&](std::size_t slot) {
    return state_.sums()[slot] > 0 ? state_.group_rows()[slot] / state_.sums()[slot] : 0.0;
  };
  const double of_unlabelled = per_weight(kUnlabelledMinus);
  const double of_negative = per_weight(kLabelledMinus);
  const double of_positive = per_weight(kLabelledPlus);
  const auto rows_in = [&](index_t b) {
    return of_unlabelled * u[2 * b] + (of_negative * l[2 * b] + of_positive * l[2 * b + 1]);
  };
  const index_t n_bins = features_.n_bins(feature);
  double n_rows = 0;
  for (index_t b = 0; b < n_bins; ++b) n_rows += rows_in(b);
  if (is_categorical(feature)) {
    for (index_t b = 0; b < n_bins; ++b) rows_of_code_[at(feature)].push_back(rows_in(b));
  }
  if (features_.cuts->has_missing(feature) && rows_in(0) > 0) return;  // missing ones stay below every cut
  const double middle = 0.5 * n_rows * (1 - kMiddleTie);
  double below = 0;
  index_t b = 0;
  while (b + 1 < n_bins && below + rows_in(b) < middle) below += rows_in(b++);
  middle_bin_[at(feature)] = static_cast<std::int32_t>(b);
  middle_share_[at(feature)] = rows_in(b) > 0 ? (middle - below) / rows_in(b) : 0.0;
}

// Whether the larger part of the training rows is above a boundary, all counted as before the first stump; false for
// features with missing entries.
bool StumpSearch::is_larger_above(const Boundary& boundary) const {
  const std::size_t e = at(boundary.feature);
  if (boundary.position < 0 || boundary.cut != middle_bin_[e]) return boundary.cut < middle_bin_[e];
  const auto& starts = order_->bin_start[at(order_of(boundary.feature))];
  const auto first = static_cast<double>(starts[at(boundary.cut)]);
  const auto end = static_cast<double>(starts[at(boundary.cut) + 1]);
  return (static_cast<double>(boundary.position) - first) / (end - first) < middle_share_[e];
}

// By the formulas of stump_boost.hpp. A set of all categories, or of none, is no candidate.
Boundary StumpSearch::best_set(index_t feature, const Scan& scan, const GainCoefs& k) const {
  const PerSlot coefs = {k.unlabelled_minus, k.unlabelled_plus, k.labelled_minus, k.labelled_plus};
  const PerSlot& sums = state_.sums();
  const PerSlot& group_rows = state_.group_rows();
  PerSlot rows_per_weight{};
  double n_rows = 0;
  double variance = 0;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const double share = coefs[slot] * sums[slot];
    if (!(share > 0)) continue;
    rows_per_weight[slot] = group_rows[slot] / sums[slot];
    n_rows += group_rows[slot];
    variance += share * share / group_rows[slot];
  }
  const double* u = state_.unlabelled_bins(feature);
  const double* l = state_.labelled_bins(feature);
  const CategorySet& occupied = occupied_[at(feature)];
  CategorySet gaining;
  CategorySet not_losing;
  double gained = 0;
  double lost = 0;
  double sum_gaining = 0;
  double sum_not_losing = 0;
  for (index_t b = 0; b < features_.n_bins(feature); ++b) {
    const auto code = static_cast<std::uint32_t>(b);
    if (!occupied.has(code)) continue;
    const double rows =
        (rows_per_weight[kUnlabelledMinus] * u[2 * b] + rows_per_weight[kUnlabelledPlus] * u[2 * b + 1]) +
        (rows_per_weight[kLabelledMinus] * l[2 * b] + rows_per_weight[kLabelledPlus] * l[2 * b + 1]);
    const double error = std::sqrt(std::max(0.0, rows / n_rows * variance));
    const double gain = scan.gain[at(b)];
    if (gain - error > kTie) {
      gaining.add(code);
      gained += gain - error;
      sum_gaining += gain;
    }
    if (gain + error < -kTie) {
      lost -= gain + error;
    } else {
      not_losing.add(code);
      sum_not_losing += gain;
    }
  }
  const auto score = [&](const CategorySet& codes, double net, double sum) {
    const bool is_proper = codes.words != CategorySet{}.words && codes.words != occupied.words;
    return is_proper ? std::min(net, scan.score(sum)) : -1.0;
  };
  const double score_of_gaining = score(gaining, gained - low_ * lost, sum_gaining);
  const double score_of_not_losing = score(not_losing, lost - low_ * gained, sum_not_losing);
  Boundary best;
  best.score = std::max(score_of_gaining, score_of_not_losing);
  if (!(best.score > 0)) return {};
  best.feature = feature;
  best.by_categories = true;
  best.codes = score_of_gaining >= score_of_not_losing ? gaining : not_losing;
  const std::vector<double>& rows_of_code = rows_of_code_[at(feature)];
  double inside = 0;
  double outside = 0;
  for (std::size_t code = 0; code < rows_of_code.size(); ++code) {
    (best.codes.has(static_cast<std::uint32_t>(code)) ? inside : outside) += rows_of_code[code];
  }
  if (inside > outside * (1 + kMiddleTie)) {
    for (std::size_t w = 0; w < best.codes.words.size(); ++w) best.codes.words[w] |= ~occupied.words[w];
  }
  return best;
}

double StumpSearch::row_gain(std::uint32_t row, const GainCoefs& k) const {
  const RowState& s = rows_->row(row);
  return rows_->is_labelled(row) ? k.labelled_plus * s.plus - k.labelled_minus * s.minus
                                 : k.unlabelled_plus * s.plus - k.unlabelled_minus * s.minus;
}

// Calls visit(position, Delta) for the boundaries inside a bin from the highest to the lowest; `above` is the Delta
// above it.
template <class Visit>
void StumpSearch::visit_inside(index_t feature, index_t bin, double above, const GainCoefs& coefs,
                               Visit&& visit) const {
  const auto i = at(order_of(feature));
  const auto& rows = order_->rows[i];
  const index_t first = order_->bin_start[i][at(bin)];
  const index_t end = order_->bin_start[i][at(bin) + 1];
  double delta = above;
  for (index_t p = end - 1; p > first; --p) {
    const std::uint32_t row = rows[p];
    delta += row_gain(row & FeatureOrder::kRow, coefs);
    if ((row & FeatureOrder::kRunStart) != 0) visit(p, delta);
  }
}

// What no |score| inside the bin exceeds.
double StumpSearch::bin_bound(const Scan& scan, index_t feature, index_t bin, const GainCoefs& k) const {
  const double above = scan.above(bin);
  const double* u = state_.unlabelled_bins(feature) + 2 * bin;
  const double* l = state_.labelled_bins(feature) + 2 * bin;
  const double up = above + (k.unlabelled_plus * u[1] + k.labelled_plus * l[1]);
  const double down = above - (k.unlabelled_minus * u[0] + k.labelled_minus * l[0]);
  return std::max(scan.score(up), -scan.score(down)) + kBoundSlack;
}

// Lists the bins of a feature whose bound reaches the best score that this worker has found so far.
void StumpSearch::list_promising_bins(index_t feature, const GainCoefs& coefs, Scan& scan) const {
  for (index_t b = first_cut_[at(feature)]; b <= end_cut_[at(feature)]; ++b) {
    const double bound = bin_bound(scan, feature, b, coefs);
    if (bound >= scan.best - kTie) scan.promising.push_back({feature, b, bound, scan.above(b), scan.center});
  }
}

// Searches the promising bins, those of the largest bounds first, and raises best_of_feature_ to their best scores. A
// bin is left out when its bound is below the best score found by any worker so far. Which bins are left out may depend
// on timing, but never a bin that holds the best candidate or a tie with it.
void StumpSearch::look_inside(const GainCoefs& coefs) {
  promising_.clear();
  double best = -1;
  for (const Scan& scan : scans_) best = std::max(best, scan.best);
  for (const Scan& scan : scans_) {
    std::ranges::copy_if(scan.promising, std::back_inserter(promising_),
                         [&](const PromisingBin& bin) { return bin.bound >= best - kTie; });
  }
  std::ranges::sort(promising_, std::ranges::greater{}, &PromisingBin::bound);
  best_inside_.assign(promising_.size(), -1.0);
  std::atomic<double> best_anywhere = best;
  const auto n_bins = static_cast<index_t>(promising_.size());
  const index_t rows_per_bin = features_.n_rows / (1 + features_.total_bins() / features_.n_features);
  const int workers = n_bins * rows_per_bin < kRowsPerWorker ? 1 : team_.n_threads();
  team_.for_each(count_blocks(n_bins, kPromisingPerBlock), workers, [&](index_t block, int) {
    for (index_t i = block * kPromisingPerBlock; i < std::min(n_bins, (block + 1) * kPromisingPerBlock); ++i) {
      const PromisingBin& bin = promising_[at(i)];
      if (bin.bound < best_anywhere.load(std::memory_order_relaxed) - kTie) continue;
      const double slope = 1.0 - low_;
      double largest = -1;
      visit_inside(bin.feature, bin.bin, bin.above, coefs,
                   [&](index_t, double delta) { largest = std::max(largest, std::abs(slope * delta + bin.center)); });
      best_inside_[at(i)] = largest;
      double seen = best_anywhere.load(std::memory_order_relaxed);
      while (largest > seen && !best_anywhere.compare_exchange_weak(seen, largest, std::memory_order_relaxed)) {
      }
    }
  });
  for (std::size_t i = 0; i < promising_.size(); ++i) {
    double& own = best_of_feature_[at(promising_[i].feature)];
    own = std::max(own, best_inside_[i]);
  }
}

Boundary StumpSearch::first_reaching(index_t feature, double limit, const GainCoefs& coefs, Scan& scan) const {
  load(feature, coefs, scan);
  if (is_categorical(feature)) return best_set(feature, scan, coefs);
  Boundary reaching;
  for (index_t b = first_cut_[at(feature)]; b <= end_cut_[at(feature)]; ++b) {
    if (order_of(feature) >= 0 && bin_bound(scan, feature, b, coefs) >= limit) {
      visit_inside(feature, b, scan.above(b), coefs, [&](index_t position, double delta) {
        const double score = scan.score(delta);
        if (std::abs(score) >= limit) reaching = {{feature, b, position}, score};
      });
      if (reaching.feature >= 0) return reaching;
    }
    const double score = scan.score(scan.above(b));
    if (b < end_cut_[at(feature)] && std::abs(score) >= limit) return {{feature, b}, score};
  }
  return reaching;
}

PerSlot StumpSearch::sums_above(const Boundary& boundary) const {
  PerSlot sums{};
  const double* u = state_.unlabelled_bins(boundary.feature);
  const double* l = state_.labelled_bins(boundary.feature);
  for (index_t b = boundary.by_categories ? 0 : boundary.cut + 1; b < features_.n_bins(boundary.feature); ++b) {
    if (boundary.by_categories && !boundary.codes.has(static_cast<std::uint32_t>(b))) continue;
    sums[kUnlabelledMinus] += u[2 * b];
    sums[kUnlabelledPlus] += u[2 * b + 1];
    sums[kLabelledMinus] += l[2 * b];
    sums[kLabelledPlus] += l[2 * b + 1];
  }
  if (boundary.position < 0) return sums;
  const auto i = at(order_of(boundary.feature));
  const index_t end = order_->bin_start[i][at(boundary.cut) + 1];
  for (index_t p = boundary.position; p < end; ++p) {
    const std::uint32_t row = order_->rows[i][p] & FeatureOrder::kRow;
    const RowState& s = rows_->row(row);
    const std::size_t kind = rows_->is_labelled(row) ? kLabelledMinus : kUnlabelledMinus;
    sums[kind] += s.minus;
    sums[kind + 1] += s.plus;
  }
  return sums;
}

}  // namespace fastpu::detail
