#include "boosting/local_boosted_rows.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "boosting/common_divisor.hpp"
#include "fastpu/common/random.hpp"
#include "fastpu/tree/tree_scores.hpp"

namespace fastpu {

namespace detail {

namespace {

constexpr std::uint32_t kForeign = 0xffffffffU;  // stands for a row of another shard

}  // namespace

LocalBoostedRows::LocalBoostedRows(const BoostedTreesTrainingSet& train, const TreeLossOptions& loss,
                                   const TreesView& init, const ShardPlace* place, Team& team, int n_workers)
    : train_(train),
      place_(place),
      team_(team),
      features_(*train.features, train.categorical),
      loss_(make_tree_loss({train.labels, train.sample_weight, train.features->n_rows}, loss, team)),
      rows_(features_, train.sample_weight, team, n_workers),
      scores_(make_vector<double>(train.features->n_rows, "the scores of rows")) {
  if (train.features->n_rows > kMostNewtonRows) {
    throw std::invalid_argument("X must have at most " + std::to_string(kMostNewtonRows) + " rows" +
                                (place == nullptr ? "" : " on one worker") + ", got " +
                                std::to_string(train.features->n_rows));
  }
  if (init.n_trees > 0) tree_scores(init, *train.features, scores_.data(), team);
  for (index_t i = 0; i < train.features->n_rows; ++i) {
    if (train.sample_weight != nullptr && !(train.sample_weight[i] > 0)) continue;
    all_.push_back(static_cast<std::uint32_t>(i));
    if (train.labels[i] == 0) unlabelled_.push_back(all_.back());
  }
}

BoostedRowCounts LocalBoostedRows::counts() {
  BoostedRowCounts counts;
  counts.n_rows = static_cast<index_t>(all_.size());
  counts.n_unlabelled = static_cast<index_t>(unlabelled_.size());
  if (train_.sample_weight == nullptr) {
    counts.weight = static_cast<double>(counts.n_rows);
    counts.unit = 1.0;
    return counts;
  }
  bool are_too_many = false;  // repetitions of rows of a common weight: then no smaller divisor is of use
  for (const std::uint32_t row : all_) {
    counts.weight += train_.sample_weight[row];
    if (!are_too_many) counts.unit = common_divisor(train_.sample_weight[row], counts.unit);
    are_too_many = counts.weight > (static_cast<double>(kMostNewtonRows) + 0.5) * counts.unit;
  }
  return counts;
}

// ---- Rows that are drawn ----

void LocalBoostedRows::prepare_draws() {
  std::vector<std::uint32_t> numbers(place_ == nullptr ? unlabelled_.size() : at(place_->n_unlabelled));
  std::iota(numbers.begin(), numbers.end(), 0U);
  row_of_number_.assign(numbers.size(), kForeign);
  for (std::size_t k = 0; k < unlabelled_.size(); ++k) {
    row_of_number_[place_ == nullptr ? k : place_->numbers[k]] = unlabelled_[k];
  }
  numbers_ = std::make_unique<DrawnGroup>(std::move(numbers), nullptr);
  takes_part_ = make_vector<std::uint8_t>(train_.features->n_rows, "the rows of a tree");
  for (const std::uint32_t row : all_) takes_part_[row] = train_.labels[row] == 0 ? 0 : 1;
}

void LocalBoostedRows::draw(std::uint64_t seed, index_t n) {
  if (numbers_ == nullptr) prepare_draws();
  for (const std::uint32_t row : unlabelled_) takes_part_[row] = 0;
  drawn_numbers_.clear();
  Random random(seed);
  numbers_->draw(n, false, random, places_, drawn_numbers_);
  for (const std::uint32_t number : drawn_numbers_) {
    if (row_of_number_[number] != kForeign) takes_part_[row_of_number_[number]] = 1;
  }
  drawn_rows_.clear();
  left_out_.clear();
  for (const std::uint32_t row : all_) (takes_part_[row] != 0 ? drawn_rows_ : left_out_).push_back(row);
}

// ---- A tree ----

std::vector<index_t> LocalBoostedRows::count_entries(bool of_drawn, const CountUnit& unit) {
  return rows_.count_entries(rows(of_drawn), unit);
}

TreeRoot LocalBoostedRows::start(const TreeStart& tree, std::uint64_t* histogram) {
  is_of_drawn_ = tree.of_drawn;
  nodes_.assign(1, Node{});
  kept_bytes_ = 0;
  nodes_[0].rows = rows_.start({loss_->derivatives(scores(tree.of_drawn), tree.tops, tree.sums), tree.g_scale,
                                tree.h_scale, tree.halvings, tree.repeated, tree.unit, &rows(tree.of_drawn)},
                               tree.features);
  if (histogram != nullptr) {
    rows_.set_histogram(nodes_[0].rows, histogram);
    if (place_ != nullptr) keep(nodes_[0], histogram);
  }
  return {static_cast<index_t>(nodes_[0].rows.n_rows()), rows_.total()};
}

SplitRows LocalBoostedRows::split(std::uint32_t node, std::uint32_t left, const NodeSplit& split,
                                  std::uint64_t* histogram) {
  SplitRows made;
  made.counts = rows_.count_sides(nodes_[node].rows, split);
  const index_t enough = rows_.unit().enough;
  if (place_ == nullptr && (made.counts.left < enough || made.counts.right < enough)) return made;
  nodes_.resize(std::max<std::size_t>(nodes_.size(), left + 2));
  Node& parent = nodes_[node];
  Node& left_child = nodes_[left];
  Node& right_child = nodes_[left + 1];
  parent.split = split;
  parent.left = left;
  std::tie(left_child.rows, right_child.rows) = rows_.partition(parent.rows, split);
  left_child.parent = right_child.parent = node;
  made.n_left = left_child.rows.n_rows();
  made.n_right = right_child.rows.n_rows();
  if (place_ != nullptr) {
    if (node != 0) release(nodes_[parent.parent]);  // its children cannot be split anew any more
    if (histogram != nullptr) set_left_histogram(parent, left_child, right_child, histogram);
  } else if (histogram != nullptr) {
    made.is_left = made.n_left <= made.n_right;
    rows_.set_histogram((made.is_left ? left_child : right_child).rows, histogram);
  }
  return made;
}

// ---- The histograms that a shard keeps ----

void LocalBoostedRows::keep(Node& node, const std::uint64_t* histogram) {
  const auto size = at(rows_.histogram_size());
  release(node);
  if (kept_bytes_ + size * sizeof(std::uint64_t) > at(kKeptHistogramBytes)) return;
  node.histogram.assign(histogram, histogram + size);
  kept_bytes_ += size * sizeof(std::uint64_t);
}

void LocalBoostedRows::release(Node& node) {
  kept_bytes_ -= node.histogram.size() * sizeof(std::uint64_t);
  Histogram().swap(node.histogram);
}

// Adds up the rows of the smaller child alone, and subtracts if the histogram asked for is that of the larger one.
void LocalBoostedRows::set_left_histogram(Node& parent, Node& left, Node& right, std::uint64_t* histogram) {
  if (parent.histogram.empty()) {
    rows_.set_histogram(left.rows, histogram);
    keep(left, histogram);
    return release(right);
  }
  const bool is_left_smaller = left.rows.n_rows() <= right.rows.n_rows();
  Histogram other(parent.histogram.size());
  std::uint64_t* smaller = is_left_smaller ? histogram : other.data();
  std::uint64_t* larger = is_left_smaller ? other.data() : histogram;
  rows_.set_histogram((is_left_smaller ? left : right).rows, smaller);
  for (std::size_t b = 0; b < other.size(); ++b) larger[b] = parent.histogram[b] - smaller[b];
  keep(left, histogram);
  keep(right, other.data());
}

// ---- Leaves ----

void LocalBoostedRows::set_leaves(const std::vector<std::uint32_t>& leaves) {
  std::vector<NewtonRange> ranges;
  ranges.reserve(leaves.size());
  for (const std::uint32_t leaf : leaves) ranges.push_back(nodes_[leaf].rows);
  rows_.set_leaves(std::move(ranges));
}

std::vector<LeafSums> LocalBoostedRows::leaf_sums(const std::vector<std::uint32_t>& leaves) {
  set_leaves(leaves);
  return rows_.leaf_sums();
}

void LocalBoostedRows::add(const std::vector<std::uint32_t>& leaves, const std::vector<double>& values) {
  rows_.add(values, scores_.data());
  if (!is_of_drawn_ || left_out_.empty()) return;
  // The rows that were left out go down the tree, whose nodes are not those of splits that were asked for in vain.
  std::vector<char> is_leaf(nodes_.size(), 0);
  for (const std::uint32_t leaf : leaves) is_leaf[leaf] = 1;
  std::vector<char> is_of_tree(nodes_.size(), 0);
  is_of_tree[0] = 1;
  nodes_[0].rows = NewtonRows::root_of(left_out_);
  for (std::size_t number = 0; number < nodes_.size(); ++number) {  // children come after their parents
    if (is_of_tree[number] == 0 || is_leaf[number] != 0) continue;
    const Node& node = nodes_[number];
    std::tie(nodes_[node.left].rows, nodes_[node.left + 1].rows) = rows_.partition(node.rows, node.split);
    is_of_tree[node.left] = is_of_tree[node.left + 1] = 1;
  }
  set_leaves(leaves);
  rows_.add(values, scores_.data());
}

}  // namespace detail

std::unique_ptr<BoostedRows> make_boosted_rows(const BoostedTreesTrainingSet& train, const TreeLossOptions& loss,
                                               const TreesView& init, const ShardPlace* place, Team& team,
                                               int n_workers) {
  return std::make_unique<detail::LocalBoostedRows>(train, loss, init, place, team, n_workers);
}

}  // namespace fastpu
