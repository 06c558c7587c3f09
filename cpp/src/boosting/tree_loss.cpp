#include "fastpu/boosting/tree_loss.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boosting/loss_formula.hpp"
#include "common/to_text.hpp"
#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu {

namespace {

using detail::kDigits;
using detail::kLossRows;
using detail::kLossSlots;
using detail::kMostSize;
using detail::kTopWeight;
using detail::kWeightSlots;
using detail::LossFormula;
using detail::LossMeans;
using detail::LossRows;
using detail::LossScale;
using detail::LossSlopes;

// A power of two that brings numbers from 0 to `top` into [0, 1].
double scale_below(double top) { return top > 0 ? std::ldexp(1.0, std::min(-std::ilogb(top) - 1, 1000)) : 1.0; }

double whole_sum(const TreeLossSums& sums, int slot) {
  const auto first = static_cast<double>(sums.values[at(index_t{2} * slot)]);
  const auto second = static_cast<double>(sums.values[at(index_t{2} * slot + 1)]);
  return (first + second / kDigits) / kDigits;
}

// The most that the rounding of sums may take from a mean, in the units of the sums.
constexpr double kLeastMean = 0x1p-61;

// The sum of squares over a group whose rows have the same |g|, in proportion to their weights.
double squares(double sum, double weight) { return weight > 0 ? sum / weight * sum : 0.0; }

// |g| and h of a row are n times its shares in the slots that it is summed in, and the shares of all rows in the two
// slots of a product sum to 2. A factor allows for the rounding of the exponents.
TreeLossBounds exponential_bounds(const LossMeans& means, const TreeLossTops& tops) {
  constexpr double kRounding = 1e-15;
  double size = 1;
  for (int slot = 0; slot < kLossSlots; ++slot) {
    const double top = tops.values[at(slot)];
    if (std::isfinite(top)) size = std::max(size, std::abs(top));
  }
  const double sum = 2 * means.n() * std::min(std::exp(kRounding * size), kMostSize);
  const PerGroup& weight = means.weight;
  const double n = means.n();
  const double all = squares(n, weight.positive) + squares(n, weight.unlabelled) + squares(n, weight.negative);
  return {sum, sum, all / (2 * n)};
}

// With l(z) = log(1 + e^-z) and s(F) = 1 / (1 + e^-F), s(F) is 1 - e^-l(-F), a concave function of l(-F): so the mean
// of s(F) is at most this function of the mean of l(-F). In the same way the mean of s(F) s(-F) = s(F) (1 - s(F)) is at
// most that function of the mean of s(F).
TreeLossBounds logistic_bounds(const LossMeans& means, const LossSlopes& slopes) {
  const auto slope = [&](detail::LogSlot slot) { return -std::expm1(-means.mean[slot]); };
  const auto curve = [](double s) { return s < 0.5 ? s * (1 - s) : 0.25; };
  const double rising = slope(detail::kLossAsNegative);
  const double falling = slope(detail::kLossPositive);
  const double unlabelled = slope(detail::kLossUnlabelled);
  const double plus = std::abs(slopes.plus.positive);
  const double minus = std::abs(slopes.minus.positive);
  const PerGroup& weight = means.weight;
  const double g_positive = weight.positive * std::min(plus * rising + minus * falling, std::max(plus, minus));
  const double g_unlabelled = weight.unlabelled * std::abs(slopes.plus.unlabelled) * unlabelled;
  const double h = weight.positive * slopes.curve.positive * curve(std::min(rising, falling)) +
                   weight.unlabelled * slopes.curve.unlabelled * curve(unlabelled);
  const double all = squares(g_positive, weight.positive) + squares(g_unlabelled, weight.unlabelled);
  return {g_positive + g_unlabelled, h, h > 0 ? all / h : 0.0};
}

class RowLoss final : public TreeLoss {
 public:
  RowLoss(const TreeLossRows& rows, std::unique_ptr<LossFormula> formula, bool takes_negatives, Team& team)
      : rows_(rows),
        formula_(std::move(formula)),
        kernels_(detail::loss_kernels(team.isa())),
        passes_(formula_->is_exponential() ? kernels_.exponential : kernels_.logistic) {
    if (formula_->is_exponential() && rows.sample_weight != nullptr) {
      log_weight_ = AlignedBuffer<double>(rows.n_rows, "the logarithms of weights");
    }
    team.for_blocks(rows_.n_rows, kLossRows, team.n_threads(), [&](index_t first, index_t end, int /*worker*/) {
      for (index_t i = first; i < end; ++i) check_row(i, takes_negatives);
    });
    most_weight_ = rows_.n_rows > 0 ? 1.0 : 0.0;
    if (rows_.sample_weight != nullptr && rows_.n_rows > 0) {
      most_weight_ = *std::max_element(rows_.sample_weight, rows_.sample_weight + rows_.n_rows);
    }
    scale_of_all_ = scale_below(most_weight_);
    weights_of_all_ = group_weights(nullptr, scale_of_all_, team);
  }

  TreeLossTops tops(const TreeLossScores& scores, Team& team) const override {
    std::vector<TreeLossTops> tops_of_blocks(at(n_blocks()));
    team.for_each(n_blocks(), [&](index_t block, int /*worker*/) {
      if (!passes_.tops(rows_of(scores, block), tops_of_blocks[at(block)].values.data())) {
        refuse_scores(scores, block * kLossRows);
      }
    });
    TreeLossTops all;
    for (const TreeLossTops& of_block : tops_of_blocks) all.extend(of_block);
    check_sizes(all.values[kTopWeight], all.values[0]);
    return all;
  }

  TreeLossSums sums(const TreeLossScores& scores, const TreeLossTops& tops, Team& team) const override {
    const LossScale scale = scale_of(tops);
    TreeLossSums all = group_weights_of(scores, scale.weight, team);
    all.add(sum_blocks(
        team, [&](index_t block, std::int64_t* sums) { passes_.sums(rows_of(scores, block), scale, nullptr, sums); }));
    return all;
  }

  double objective(const TreeLossTops& tops, const TreeLossSums& sums) const override {
    return formula_->objective(means_of(tops, sums));
  }

  TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& sums) const override {
    LossMeans means = means_of(tops, sums);
    const LossSlopes slopes = formula_->slopes(means);
    if (formula_->is_exponential()) return exponential_bounds(means, tops);
    for (double& mean : means.mean) mean += kLeastMean / scale_of(tops).loss;
    return logistic_bounds(means, slopes);
  }

  void derive(const TreeLossScores& scores, const TreeLossTops& tops, const TreeLossSums& sums, double* g, double* h,
              Team& team) const override {
    const LossScale scale = scale_of(tops);
    derive_by(scores, scale, slopes_of(scale, means_of(tops, sums)), nullptr, g, h, team);
  }

  Derivatives derivatives(const TreeLossScores& scores, const TreeLossTops& tops,
                          const TreeLossSums& sums) const override {
    const LossScale scale = scale_of(tops);
    const LossSlopes slopes = slopes_of(scale, means_of(tops, sums));
    return [=, this](index_t first, index_t n, double* g, double* h) {
      derive_rows(scores, first, n, scale, slopes, nullptr, g, h);
    };
  }

  void derive_alone(const TreeLossScores& scores, double* g, double* h, Team& team) const override {
    if (formula_->is_exponential()) return derive_exponential(scores, g, h, team);
    check_sizes(most_weight_, 0);
    const TreeLossSums weights = group_weights_of(scores, scale_of_all_, team);
    derive_by(scores, {}, formula_->slopes(weights_in(weights, scale_of_all_)), nullptr, g, h, team);
  }

 private:
  // The sums keep their summands in h, and the derivatives are computed from these.
  void derive_exponential(const TreeLossScores& scores, double* g, double* h, Team& team) const {
    const TreeLossTops of_all = tops(scores, team);
    const LossScale scale = scale_of(of_all);
    double* const kept = detail::is_one_way(scale) ? h : nullptr;
    TreeLossSums sums = group_weights_of(scores, scale.weight, team);
    sums.add(sum_blocks(team, [&](index_t block, std::int64_t* of_block) {
      double* const to = kept == nullptr ? nullptr : kept + block * kLossRows;
      passes_.sums(rows_of(scores, block), scale, to, of_block);
    }));
    derive_by(scores, scale, slopes_of(scale, means_of(of_all, sums)), kept, g, h, team);
  }

  void derive_by(const TreeLossScores& scores, const LossScale& scale, const LossSlopes& slopes, const double* kept,
                 double* g, double* h, Team& team) const {
    team.for_blocks(rows_.n_rows, kLossRows, team.n_threads(), [&](index_t first, index_t end, int /*worker*/) {
      const double* const of_block = kept == nullptr ? nullptr : kept + first;
      derive_rows(scores, first, end - first, scale, slopes, of_block, g + first, h + first);
    });
  }

  void derive_rows(const TreeLossScores& scores, index_t first, index_t n, const LossScale& scale,
                   const LossSlopes& slopes, const double* kept, double* g, double* h) const {
    if (!passes_.derive(rows_of(scores, first, n), scale, slopes, kept, g, h)) refuse_scores(scores, first);
  }

  // The slopes of the loss; those of an exponential loss are turned into factors of exponentials with offsets.
  LossSlopes slopes_of(const LossScale& scale, const LossMeans& means) const {
    LossSlopes slopes = formula_->slopes(means);
    if (!formula_->is_exponential()) return slopes;
    const auto factors = [](PerGroup& exponents, const PerGroup& offsets) {
      const auto factor = [](double exponent, double offset) {
        return exponent > -kInfinity ? std::exp(exponent - offset) : 0.0;
      };
      exponents = {factor(exponents.negative, offsets.negative), factor(exponents.unlabelled, offsets.unlabelled),
                   factor(exponents.positive, offsets.positive)};
    };
    factors(slopes.plus, scale.rising);
    factors(slopes.minus, scale.falling);
    return slopes;
  }

  static void check_sizes(double weight, double product) {
    if (weight < kMostSize && product < kMostSize) return;
    throw std::invalid_argument("sample_weight, and its product with scores, must be below 2^900");
  }

  index_t n_blocks() const { return count_blocks(rows_.n_rows, kLossRows); }

  // Adds up what add_block(block, sums) writes.
  template <class AddBlock>
  TreeLossSums sum_blocks(Team& team, AddBlock&& add_block) const {
    std::vector<TreeLossSums> sums(at(n_blocks()));
    team.for_each(n_blocks(), [&](index_t block, int /*worker*/) { add_block(block, sums[at(block)].values.data()); });
    TreeLossSums all;
    for (const TreeLossSums& of_block : sums) all.add(of_block);
    return all;
  }

  TreeLossSums group_weights(const std::uint8_t* takes_part, double scale, Team& team) const {
    return sum_blocks(team, [&](index_t block, std::int64_t* sums) {
      kernels_.group_weights(rows_of({.takes_part = takes_part}, block), scale, sums);
    });
  }

  TreeLossSums group_weights_of(const TreeLossScores& scores, double scale, Team& team) const {
    const bool is_known = scores.takes_part == nullptr && scale == scale_of_all_;
    return is_known ? weights_of_all_ : group_weights(scores.takes_part, scale, team);
  }

  void check_row(index_t i, bool takes_negatives) {
    const std::int8_t label = rows_.labels[i];
    if (label > 1 || label < (takes_negatives ? -1 : 0)) {
      throw std::invalid_argument(std::string("labels must be 1") + (takes_negatives ? ", 0 or -1" : " or 0") +
                                  ", got " + std::to_string(label) + " in row " + std::to_string(i));
    }
    if (rows_.sample_weight == nullptr) return;
    const double weight = rows_.sample_weight[i];
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw std::invalid_argument("sample_weight must be finite and at least 0, got " + detail::to_text(weight) +
                                  " in row " + std::to_string(i));
    }
    if (!log_weight_.empty()) log_weight_[i] = std::log(weight);
  }

  LossRows rows_of(const TreeLossScores& scores, index_t block) const {
    const index_t first = block * kLossRows;
    return rows_of(scores, first, std::min(kLossRows, rows_.n_rows - first));
  }
  LossRows rows_of(const TreeLossScores& scores, index_t first, index_t n) const {
    const auto from = [first](const auto* values) { return values == nullptr ? nullptr : values + first; };
    return {from(scores.scores),
            from(scores.narrow),
            from(rows_.labels),
            from(rows_.sample_weight),
            from(log_weight_.data()),
            from(scores.takes_part),
            n};
  }

  // Throws because of a score in the row `start` or after it.
  static void refuse_scores(const TreeLossScores& scores, index_t start) {
    const auto score = [&](index_t i) {
      return scores.scores != nullptr ? scores.scores[i] : static_cast<double>(scores.narrow[i]);
    };
    index_t i = start;
    while (std::fabs(score(i)) < kMostSize) ++i;
    throw std::invalid_argument("scores must be finite and below 2^900, got " + detail::to_text(score(i)) + " in row " +
                                std::to_string(i));
  }

  static bool has_rows(const TreeLossTops& tops, detail::ExpSlot slot) { return std::isfinite(tops.values[slot]); }

  LossScale scale_of(const TreeLossTops& tops) const {
    LossScale scale;
    scale.weight = scale_below(tops.values[kTopWeight]);
    if (!formula_->is_exponential()) {
      scale.loss = scale_below(tops.values[0]);
      return scale;
    }
    const auto offset = [&](detail::ExpSlot slot) { return has_rows(tops, slot) ? -tops.values[slot] : -kInfinity; };
    scale.rising.negative = offset(detail::kRisingNegative);
    scale.falling.positive = offset(detail::kFallingPositive);
    // Rows of U are summed for their products with P and with N.
    if (has_rows(tops, detail::kFallingPositive)) scale.rising.unlabelled = offset(detail::kRisingUnlabelled);
    if (has_rows(tops, detail::kRisingNegative)) scale.falling.unlabelled = offset(detail::kFallingUnlabelled);
    return scale;
  }

  static LossMeans weights_in(const TreeLossSums& sums, double scale) {
    const auto weight = [&](int group) { return whole_sum(sums, kWeightSlots + group) / scale; };
    LossMeans means;
    means.weight = {weight(0), weight(1), weight(2)};
    return means;
  }

  LossMeans means_of(const TreeLossTops& tops, const TreeLossSums& sums) const {
    const LossScale scale = scale_of(tops);
    LossMeans means = weights_in(sums, scale.weight);
    const double p = means.weight.positive;
    const double u = means.weight.unlabelled;
    const std::array<double, kLossSlots> weights =
        formula_->is_exponential() ? std::array{u, u, means.weight.negative, p} : std::array{p, u, p, 1.0};
    for (int slot = 0; slot < kLossSlots; ++slot) {
      const double sum = whole_sum(sums, slot);
      const auto k = static_cast<std::size_t>(slot);
      means.mean[k] = formula_->is_exponential() ? tops.values[k] + std::log(sum) - std::log(weights[k])
                                                 : sum / scale.loss / weights[k];
    }
    return means;
  }

  TreeLossRows rows_;
  std::unique_ptr<LossFormula> formula_;
  const detail::LossKernels& kernels_;
  const detail::LossPasses& passes_;
  AlignedBuffer<double> log_weight_;
  TreeLossSums weights_of_all_;  // the weights of the groups where all rows take part, at scale_of_all_
  double most_weight_ = 1;
  double scale_of_all_ = 1;
};

struct NamedFormula {
  const char* name;
  bool takes_negatives;
  std::unique_ptr<LossFormula> (*make)(const TreeLossOptions&);
};

constexpr NamedFormula kFormulas[] = {
    {"pnu_auc", true, [](const TreeLossOptions& options) { return detail::make_pnu_auc_formula(options.gamma); }},
    {"logistic", false, [](const TreeLossOptions&) { return detail::make_logistic_formula(); }},
    {"upu", false, [](const TreeLossOptions& options) { return detail::make_upu_formula(options.prior); }}};

}  // namespace

void TreeLossTops::extend(const TreeLossTops& other) {
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::max(values[k], other.values[k]);
}

void TreeLossSums::add(const TreeLossSums& other) {
  for (std::size_t k = 0; k < values.size(); ++k) values[k] += other.values[k];
}

std::vector<std::string> tree_loss_names() {
  std::vector<std::string> names;
  for (const NamedFormula& formula : kFormulas) names.emplace_back(formula.name);
  return names;
}

std::unique_ptr<TreeLoss> make_tree_loss(const TreeLossRows& rows, const TreeLossOptions& options, Team& team) {
  for (const NamedFormula& formula : kFormulas) {
    if (options.loss != formula.name) continue;
    return std::make_unique<RowLoss>(rows, formula.make(options), formula.takes_negatives, team);
  }
  throw std::invalid_argument("there is no loss '" + options.loss + "'");
}

}  // namespace fastpu
