// One booster of trees: rows, their scores, and round after round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "fastpu/boosting/tree_inputs.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/random.hpp"
#include "fastpu/tree/tree_scores.hpp"
#include "tree/draw_bag.hpp"
#include "tree/newton_tree.hpp"

namespace fastpu::detail {

inline index_t share_of(double share, index_t n) {
  return std::clamp<index_t>(std::llround(share * static_cast<double>(n)), 1, n);
}

struct MadeRound {
  GrownTree tree;
  double risk = 0;  // after it
};

// Some of the trees of a view, as a view of their own.
class SomeTrees {
 public:
  SomeTrees(const TreesView& all, index_t first, index_t n, index_t n_features) {
    for (index_t t = first; t <= first + n; ++t) start_.push_back(all.tree_start[t] - all.tree_start[first]);
    view_ = {all.nodes + all.tree_start[first], start_.back(), start_.data(), n, all.sets, all.n_sets, n_features};
  }
  const TreesView& view() const { return view_; }

 private:
  std::vector<index_t> start_;
  TreesView view_;
};

// Boosts one set of rows, round after round.
class Booster {
 public:
  // `first_round` trees, init.n_trees in all, came before. The rows of the training set are used, not copied.
  Booster(const BoostedTreesTrainingSet& train, const BoostedTreesOptions& options, const TreesView* init,
          std::uint64_t seed, Team& team, int n_workers)
      : train_(train),
        options_(options),
        seed_(seed),
        team_(team),
        features_(*train.features, train.categorical),
        loss_(make_tree_loss({train.labels, train.sample_weight, train.features->n_rows}, options.loss, team)),
        grower_(features_, train.sample_weight, newton_options(options, train.features->n_rows), options.loss.isa, team,
                n_workers),
        scores_(make_vector<double>(train.features->n_rows, "the scores of rows")),
        g_(make_vector<double>(train.features->n_rows, "the gradients of rows")),
        h_(make_vector<double>(train.features->n_rows, "the gradients of rows")),
        drawn_unl_({}, nullptr) {
    if (init != nullptr) tree_scores(*init, *train.features, scores_.data(), team);
    std::vector<std::uint32_t> unlabelled;
    for (index_t i = 0; i < train.features->n_rows; ++i) {
      if (train.sample_weight != nullptr && !(train.sample_weight[i] > 0)) continue;
      const auto row = static_cast<std::uint32_t>(i);
      rows_.push_back(row);
      if (train.labels[i] == 0) unlabelled.push_back(row);
    }
    drawn_features_.resize(at(train.features->n_features));
    std::iota(drawn_features_.begin(), drawn_features_.end(), 0U);
    all_features_ = drawn_features_;
    if (options.subsample_unl < 1 && !unlabelled.empty()) {
      drawn_unl_ = DrawnGroup(std::move(unlabelled), nullptr);
      takes_part_ = make_vector<std::uint8_t>(train.features->n_rows, "the rows of a tree");
      for (const std::uint32_t row : rows_) takes_part_[row] = train.labels[row] == 0 ? 0 : 1;
    } else {
      risk_ = loss_->derive({scores_.data(), nullptr}, g_.data(), h_.data(), team_);
    }
  }

  // The risk before the first round.
  double risk() const { return risk_; }
  // Whether a further round may find a split where this one found none.
  bool draws() const { return !takes_part_.empty() || options_.colsample < 1; }

  MadeRound make_round(index_t round, bool is_last) {
    const std::uint64_t seed = Random::derived(seed_, static_cast<std::uint64_t>(round));
    if (options_.colsample < 1) draw_features(Random::derived(seed, 0));
    if (!takes_part_.empty()) {
      draw_rows(Random::derived(seed, 1));
      loss_->derive({scores_.data(), takes_part_.data()}, g_.data(), h_.data(), team_);
    }
    MadeRound made;
    made.tree = grower_.grow({g_.data(), h_.data(), takes_part_.empty() ? &rows_ : &taken_}, drawn_features_, left_out_,
                             scores_.data());
    if (is_last || !takes_part_.empty()) {
      const TreeLossScores all{scores_.data(), nullptr};
      const TreeLossTops tops = loss_->tops(all, team_);
      made.risk = loss_->objective(tops, loss_->sums(all, tops, team_));
    } else {
      made.risk = loss_->derive({scores_.data(), nullptr}, g_.data(), h_.data(), team_);
    }
    return made;
  }

 private:
  static NewtonOptions newton_options(const BoostedTreesOptions& options, index_t n_rows) {
    return {std::clamp<index_t>(n_rows, 2, options.max_leaves),
            options.max_depth,
            options.min_leaf_rows,
            options.min_leaf_hessian,
            options.l2,
            options.learning_rate};
  }

  void draw_features(std::uint64_t seed) {
    Random random(seed);
    std::vector<std::uint32_t> features = all_features_;
    const index_t n = share_of(options_.colsample, static_cast<index_t>(features.size()));
    for (std::size_t i = 0; i < at(n); ++i) {
      std::swap(features[i], features[i + random.scaled(static_cast<std::uint32_t>(features.size() - i))]);
    }
    drawn_features_.assign(features.begin(), features.begin() + n);
    std::ranges::sort(drawn_features_);
  }

  void draw_rows(std::uint64_t seed) {
    for (const std::uint32_t row : drawn_) takes_part_[row] = 0;
    drawn_.clear();
    Random random(seed);
    drawn_unl_.draw_without_replacement(share_of(options_.subsample_unl, drawn_unl_.size()), random, places_, drawn_);
    for (const std::uint32_t row : drawn_) takes_part_[row] = 1;
    taken_.clear();
    left_out_.clear();
    for (const std::uint32_t row : rows_) (takes_part_[row] != 0 ? taken_ : left_out_).push_back(row);
  }

  const BoostedTreesTrainingSet& train_;
  const BoostedTreesOptions& options_;
  std::uint64_t seed_;
  Team& team_;
  TreeFeatures features_;
  std::unique_ptr<TreeLoss> loss_;
  NewtonGrower grower_;
  std::vector<double> scores_;
  std::vector<double> g_;
  std::vector<double> h_;
  double risk_ = 0;
  std::vector<std::uint32_t> rows_;  // of positive weight
  std::vector<std::uint32_t> all_features_;
  std::vector<std::uint32_t> drawn_features_;
  DrawnGroup drawn_unl_;
  std::vector<std::uint8_t> takes_part_;  // empty: all rows
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> drawn_;
  std::vector<std::uint32_t> taken_;
  std::vector<std::uint32_t> left_out_;
};

}  // namespace fastpu::detail
