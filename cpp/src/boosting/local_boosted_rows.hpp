// The rows of boosted trees that this machine holds: all of them, or a shard.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fastpu/boosting/boosted_rows.hpp"
#include "tree/draw_bag.hpp"
#include "tree/newton_rows.hpp"

namespace fastpu::detail {

class LocalBoostedRows final : public BoostedRows {
 public:
  // As make_boosted_rows; at most n_workers are at work at once.
  LocalBoostedRows(const BoostedTreesTrainingSet& train, const TreeLossOptions& loss, const TreesView& init,
                   const ShardPlace* place, Team& team, int n_workers);

  const TreeFeatures& features() const { return features_; }
  // The scores of all rows so far. A fit that stopped goes on from them in another object of the same rows.
  std::vector<double> take_scores() { return std::move(scores_); }
  void go_on_from(std::vector<double> scores) { scores_ = std::move(scores); }
  BoostedRowCounts counts() override;
  void draw(std::uint64_t seed, index_t n) override;
  std::vector<index_t> count_entries(bool of_drawn, const CountUnit& unit) override;
  TreeLossTops tops(bool of_drawn) override { return loss_->tops(scores(of_drawn), team_); }
  TreeLossSums sums(bool of_drawn, const TreeLossTops& tops) override {
    return loss_->sums(scores(of_drawn), tops, team_);
  }
  TreeRoot start(const TreeStart& tree, std::uint64_t* histogram) override;

  SplitRows split(std::uint32_t node, std::uint32_t left, const NodeSplit& split, std::uint64_t* histogram) override;
  void set_histogram(std::uint32_t node, std::uint64_t* histogram) override {
    rows_.set_histogram(nodes_[node].rows, histogram);
  }
  SideCounts count_sides(std::uint32_t node, const NodeSplit& split) override {
    return rows_.count_sides(nodes_[node].rows, split);
  }
  void count_codes(std::uint32_t node, std::uint32_t feature, std::vector<index_t>& counts) override {
    rows_.count_codes(nodes_[node].rows, feature, counts);
  }
  std::vector<LeafSums> leaf_sums(const std::vector<std::uint32_t>& leaves) override;
  void add(const std::vector<std::uint32_t>& leaves, const std::vector<double>& values) override;

 private:
  using Histogram = std::vector<std::uint64_t>;
  struct Node {
    NewtonRange rows;
    NodeSplit split;
    std::uint32_t left = 0;  // number of the left child, if the node is split
    std::uint32_t parent = 0;
    Histogram histogram;  // of a shard: that of its own rows, if it is kept
  };

  TreeLossScores scores(bool of_drawn) const { return {scores_.data(), of_drawn ? takes_part_.data() : nullptr}; }
  const std::vector<std::uint32_t>& rows(bool of_drawn) const { return of_drawn ? drawn_rows_ : all_; }
  void prepare_draws();
  void keep(Node& node, const std::uint64_t* histogram);
  void release(Node& node);
  void set_leaves(const std::vector<std::uint32_t>& leaves);
  void set_left_histogram(Node& parent, Node& left, Node& right, std::uint64_t* histogram);

  const BoostedTreesTrainingSet& train_;
  const ShardPlace* place_;
  Team& team_;
  TreeFeatures features_;
  std::unique_ptr<TreeLoss> loss_;
  NewtonRows rows_;
  std::vector<double> scores_;
  std::vector<std::uint32_t> all_;         // the rows of positive weight
  std::vector<std::uint32_t> unlabelled_;  // those of them in U
  std::vector<Node> nodes_;
  std::size_t kept_bytes_ = 0;  // of the histograms of nodes

  // For trees that are grown on drawn rows.
  bool is_of_drawn_ = false;                  // whether the current tree is
  std::unique_ptr<DrawnGroup> numbers_;       // the numbers of the rows of U, of all shards
  std::vector<std::uint32_t> row_of_number_;  // the own row with each number, or kForeign
  std::vector<std::uint8_t> takes_part_;
  std::vector<std::uint32_t> places_;  // scratch of DrawnGroup
  std::vector<std::uint32_t> drawn_numbers_;
  std::vector<std::uint32_t> drawn_rows_;  // the own rows that take part, and those that do not
  std::vector<std::uint32_t> left_out_;
};

}  // namespace fastpu::detail
