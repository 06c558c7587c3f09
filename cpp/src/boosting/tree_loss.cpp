#include "fastpu/boosting/tree_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boosting/tree_loss_kernels.hpp"
#include "boosting/tree_losses.hpp"
#include "common/to_text.hpp"
#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu {

namespace {

using detail::kLossRows;
using detail::kMostSize;
using detail::kTopWeight;
using detail::kWeightSlots;
using detail::LossFormula;
using detail::LossMeans;
using detail::LossRows;
using detail::LossScale;
using detail::LossSlopes;
using detail::scale_below;
using detail::whole_sum;

class RowLoss final : public TreeLoss {
 public:
  // `number` is that of the loss in the list of tree_losses.hpp.
  RowLoss(const TreeLossRows& rows, std::unique_ptr<LossFormula> formula, const TreeLossInfo& info, std::size_t number,
          Team& team)
      : rows_(rows),
        formula_(std::move(formula)),
        info_(info),
        kernels_(detail::loss_kernels(team.isa())),
        passes_(kernels_.of[number]) {
    if (info.needs_log_weights && rows.sample_weight != nullptr) {
      log_weight_ = AlignedBuffer<double>(rows.n_rows, "the logarithms of weights");
    }
    team.for_blocks(rows_.n_rows, kLossRows, team.n_threads(), [&](index_t first, index_t end, int /*worker*/) {
      for (index_t i = first; i < end; ++i) check_row(i, info.takes_negatives);
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
    for (const double top : all.values) check_size(top);
    return all;
  }

  TreeLossSums sums(const TreeLossScores& scores, const TreeLossTops& tops, Team& team) const override {
    return sums_at(scores, formula_->scale(tops), nullptr, team);
  }

  double objective(const TreeLossTops& tops, const TreeLossSums& sums) const override {
    return formula_->objective(means_of(tops, sums));
  }

  TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& sums) const override {
    return formula_->bounds(tops, sums, means_of(tops, sums));
  }

  void derive(const TreeLossScores& scores, const TreeLossTops& tops, const TreeLossSums& sums, double* g, double* h,
              Team& team) const override {
    const LossScale scale = formula_->scale(tops);
    derive_by(scores, scale, formula_->slopes(scale, means_of(tops, sums)), nullptr, g, h, team);
  }

  Derivatives derivatives(const TreeLossScores& scores, const TreeLossTops& tops,
                          const TreeLossSums& sums) const override {
    const LossScale scale = formula_->scale(tops);
    const LossSlopes slopes = formula_->slopes(scale, means_of(tops, sums));
    return [=, this](index_t first, index_t n, double* g, double* h) {
      derive_rows(scores, first, n, scale, slopes, nullptr, g, h);
    };
  }

  void derive_alone(const TreeLossScores& scores, double* g, double* h, Team& team) const override {
    if (info_.is_by_row) {
      check_size(most_weight_);
      const LossMeans weights = weights_in(group_weights_of(scores, scale_of_all_, team), scale_of_all_);
      return derive_by(scores, {}, formula_->slopes({}, weights), nullptr, g, h, team);
    }
    // An exponential loss keeps its summands in h, and computes the derivatives from these.
    const TreeLossTops of_all = tops(scores, team);
    const LossScale scale = formula_->scale(of_all);
    double* const kept = detail::is_one_way(scale) ? h : nullptr;
    const LossMeans means = means_of(of_all, sums_at(scores, scale, kept, team));
    derive_by(scores, scale, formula_->slopes(scale, means), kept, g, h, team);
  }

 private:
  TreeLossSums sums_at(const TreeLossScores& scores, const LossScale& scale, double* kept, Team& team) const {
    TreeLossSums all = group_weights_of(scores, scale.weight, team);
    all.add(sum_blocks(team, [&](index_t block, std::int64_t* of_block) {
      double* const to = kept == nullptr ? nullptr : kept + block * kLossRows;
      passes_.sums(rows_of(scores, block), scale, to, of_block);
    }));
    return all;
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

  static void check_size(double top) {
    if (top < kMostSize) return;
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

  // The weights of the groups, of which the loss needs some.
  LossMeans weights_in(const TreeLossSums& sums, double scale) const {
    const auto weight = [&](int group) { return whole_sum(sums, kWeightSlots + group) / scale; };
    LossMeans means;
    means.weight = {weight(0), weight(1), weight(2)};
    formula_->check_groups(means.weight);
    return means;
  }

  LossMeans means_of(const TreeLossTops& tops, const TreeLossSums& sums) const {
    LossMeans means = weights_in(sums, formula_->scale(tops).weight);
    formula_->read_means(tops, sums, means);
    return means;
  }

  TreeLossRows rows_;
  std::unique_ptr<LossFormula> formula_;
  TreeLossInfo info_;
  const detail::LossKernels& kernels_;
  const detail::LossPasses& passes_;
  AlignedBuffer<double> log_weight_;
  TreeLossSums weights_of_all_;  // the weights of the groups where all rows take part, at scale_of_all_
  double most_weight_ = 1;
  double scale_of_all_ = 1;
};

// ---- The list of losses ----

struct ListedLoss {
  TreeLossInfo info;
  std::unique_ptr<LossFormula> (*make)(const TreeLossOptions&);
};

template <class... Losses>
std::array<ListedLoss, sizeof...(Losses)> listed(detail::LossList<Losses...> /*losses*/) {
  return {ListedLoss{Losses::kInfo, [](const TreeLossOptions& options) -> std::unique_ptr<LossFormula> {
                       return std::make_unique<Losses>(options);
                     }}...};
}

}  // namespace

std::vector<TreeLossInfo> tree_losses() {
  std::vector<TreeLossInfo> infos;
  for (const ListedLoss& loss : listed(detail::TreeLosses())) infos.push_back(loss.info);
  return infos;
}

TreeLossInfo tree_loss_info(const std::string& name) {
  for (const TreeLossInfo& info : tree_losses()) {
    if (name == info.name) return info;
  }
  throw std::invalid_argument("there is no loss '" + name + "'");
}

std::unique_ptr<TreeLoss> make_tree_loss(const TreeLossRows& rows, const TreeLossOptions& options, Team& team) {
  const auto losses = listed(detail::TreeLosses());
  for (std::size_t k = 0; k < losses.size(); ++k) {
    if (options.loss != losses[k].info.name) continue;
    return std::make_unique<RowLoss>(rows, losses[k].make(options), losses[k].info, k, team);
  }
  throw std::invalid_argument("there is no loss '" + options.loss + "'");
}

}  // namespace fastpu
