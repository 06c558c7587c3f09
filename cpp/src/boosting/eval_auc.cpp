#include "boosting/eval_auc.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "data/category_of.hpp"
#include "data/entries_by_feature.hpp"
#include "data/float_key.hpp"

namespace fastpu::detail {

namespace {

template <class T>
bool is_above_limit(T value, T limit, const StumpBoundary& stump) {
  return value > -std::numeric_limits<T>::infinity() ? value > limit : stump.missing_above;
}

template <class T>
FindAbove above_in(const DenseView<T>& x, Team& /*team*/) {
  return [x](const StumpBoundary& stump, double threshold, std::vector<char>& above) {
    const T limit = floor_to<T>(threshold);
    for (index_t i = 0; i < x.n_rows; ++i) {
      const T value = x.row(i)[stump.feature];
      const bool is_above = stump.by_categories ? stump.codes.has(static_cast<std::uint32_t>(category_of(value) + 1))
                                                : is_above_limit(value, limit, stump);
      above[at(i)] = static_cast<char>(is_above);
    }
  };
}

// A stump costs what its column holds.
template <class T>
FindAbove above_in(const CsrView<T>& x, Team& team) {
  const auto columns = std::make_shared<EntriesByFeature<T>>(x, Pacer(team));
  return [columns](const StumpBoundary& stump, double threshold, std::vector<char>& above) {
    const T limit = floor_to<T>(threshold);
    above.assign(above.size(), static_cast<char>(T(0) > limit));
    for (index_t p = columns->start[at(stump.feature)]; p < columns->start[at(stump.feature + 1)]; ++p) {
      above[columns->rows[p]] = static_cast<char>(is_above_limit(columns->values[p], limit, stump));
    }
  };
}

FindAbove above_in(const BinnedFeatures& x, Team& /*team*/) {
  return [&x](const StumpBoundary& stump, double /*threshold*/, std::vector<char>& above) {
    // Code 0 stands for missing values alone where the cuts tell them from others.
    const bool zero_above = stump.missing_above && x.cuts->has_missing(stump.feature);
    const auto is_above = [&](index_t code) { return code == 0 ? zero_above : code > stump.cut; };
    if (x.is_sparse()) {
      const std::size_t e = at(stump.feature);
      above.assign(above.size(), static_cast<char>(is_above(x.zero_code[e])));
      for (index_t p = x.column_start[e]; p < x.column_start[e + 1]; ++p) {
        above[x.column_rows[at(p)]] = static_cast<char>(is_above(x.column_codes[at(p)]));
      }
      return;
    }
    with_code_type(x.width, [&]<class Code>(Code) {
      const auto* codes = reinterpret_cast<const Code*>(x.by_column.data()) + stump.feature * x.column_stride;
      for (std::size_t i = 0; i < above.size(); ++i) {
        above[i] = static_cast<char>(stump.by_categories ? stump.codes.has(codes[i]) : is_above(codes[i]));
      }
    });
  };
}

void check_features_of_set(const BinnedFeatures& x, const BinnedFeatures& training) {
  if (same_cuts(x, training)) return;
  throw std::invalid_argument(
      "eval_set holds BinnedFeatures with other cuts than X: bin all rows together and take B[rows]");
}

template <class View>
void check_features_of_set(const View& x, const BinnedFeatures& training) {
  if (x.n_cols == training.n_features) return;
  throw std::invalid_argument("eval_set must have the " + std::to_string(training.n_features) + " features of X, got " +
                              std::to_string(x.n_cols));
}

}  // namespace

EvalAuc::EvalAuc(const BoostEvalSet& eval, const BinnedFeatures& training, Team& team)
    : find_above_(visit_features(eval.features, [&](const auto& x) {
        check_features_of_set(x, training);
        return above_in(x, team);
      })) {
  const auto n = visit_features(eval.features, [](const auto& x) { return at(x.n_rows); });
  std::size_t count[3] = {};
  double weight[3] = {};
  const auto weight_of = [&](std::size_t i) { return eval.sample_weight == nullptr ? 1.0 : eval.sample_weight[i]; };
  for (std::size_t i = 0; i < n; ++i) {
    if (eval.labels[i] < -1 || eval.labels[i] > 1) {
      throw std::invalid_argument("labels of eval_set must be +1, 0 or -1, got " + std::to_string(eval.labels[i]) +
                                  " in row " + std::to_string(i));
    }
    if (!(weight_of(i) > 0)) continue;
    ++count[eval.labels[i] + 1];
    weight[eval.labels[i] + 1] += weight_of(i);
  }
  const bool has_negative = count[0] > 0;
  const std::size_t n_other = has_negative ? count[0] : count[1];
  if (count[2] == 0 || n_other == 0) {
    throw std::invalid_argument(
        "eval_set must hold positives (+1) and negatives (-1), or positives and unlabelled rows (0), got " +
        std::to_string(count[2]) + " positive, " + std::to_string(count[0]) + " negative and " +
        std::to_string(count[1]) + " unlabelled rows");
  }
  n_pairs_ = weight[2] * weight[has_negative ? 0 : 1];
  side_.resize(n);
  if (eval.sample_weight != nullptr) weight_.assign(eval.sample_weight, eval.sample_weight + n);
  score_.assign(n, 0.0);
  above_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    if ((has_negative && eval.labels[i] == 0) || !(weight_of(i) > 0)) continue;
    side_[i] = eval.labels[i] > 0 ? 1 : -1;
    order_.push_back(static_cast<std::uint32_t>(i));
  }
}

double EvalAuc::add_stump(const StumpBoundary& stump, double threshold, bool fires_above, double alpha, double low) {
  find_above_(stump, threshold, above_);
  firing_.clear();
  others_.clear();
  for (const std::uint32_t row : order_) {
    const bool fires = (above_[row] != 0) == fires_above;
    score_[row] += fires ? alpha : low * alpha;
    (fires ? firing_ : others_).push_back(row);
  }
  return weight_.empty() ? merge_and_judge<false>() : merge_and_judge<true>();
}

void EvalAuc::add_scores(const double* values) {
  for (const std::uint32_t row : order_) score_[row] += values[row];
}

double EvalAuc::rank() {
  std::ranges::sort(order_, {}, [this](std::uint32_t row) { return score_[row]; });
  firing_ = order_;
  others_.clear();
  return weight_.empty() ? merge_and_judge<false>() : merge_and_judge<true>();
}

template <bool kWeighted>
double EvalAuc::merge_and_judge() {
  std::size_t a = 0;
  std::size_t b = 0;
  double negatives_below = 0;
  double wins = 0;  // pairs (positive, negative) in the right order, ties counting one half
  for (std::size_t i = 0; i < order_.size();) {
    const bool from_a = b == others_.size() || (a < firing_.size() && score_[firing_[a]] <= score_[others_[b]]);
    const double score = score_[from_a ? firing_[a] : others_[b]];
    double positives = 0;
    double negatives = 0;
    const auto take_ties = [&](const std::vector<std::uint32_t>& list, std::size_t& next) {
      for (; next < list.size() && score_[list[next]] == score; ++next) {
        const std::uint32_t row = list[next];
        order_[i++] = row;
        (side_[row] > 0 ? positives : negatives) += kWeighted ? weight_[row] : 1.0;
      }
    };
    take_ties(firing_, a);
    take_ties(others_, b);
    wins += positives * (negatives_below + 0.5 * negatives);
    negatives_below += negatives;
  }
  return wins / n_pairs_;
}

}  // namespace fastpu::detail
