#include "tree/newton_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace fastpu::detail {

namespace {

// The number of rows that a tree keeps of a node: more than 32 bits can hold are cut to as many.
std::uint32_t cover_of(index_t n_rows) {
  return static_cast<std::uint32_t>(std::min<index_t>(n_rows, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

NewtonGrower::NewtonGrower(const TreeFeatures& features, NodeRows& rows, const NewtonOptions& options, Team& team,
                           int n_workers)
    : binned_(features.binned()),
      options_(options),
      team_(team),
      rows_(rows),
      search_(features, rows, options.lam, options.min_leaf_hessian, team, n_workers) {
  const index_t bytes = HistogramLayout(binned_).size() * static_cast<index_t>(sizeof(std::uint64_t));
  histograms_.resize(at(std::clamp<index_t>(kKeptHistogramBytes / bytes, 1, options.max_leaves) + 1));
}

GrownTree NewtonGrower::grow(const std::vector<std::uint32_t>& split_features, const NewtonUnits& units,
                             const std::function<TreeRoot(std::uint64_t*)>& begin) {
  tree_ = {};
  nodes_.assign(1, Node{});
  n_given_ = 1;
  units_ = units;
  search_.start(split_features, units);
  free_slots_.clear();
  for (int slot = static_cast<int>(histograms_.size()) - 2; slot >= 0; --slot) free_slots_.push_back(slot);

  const bool searches = options_.max_depth != 0 && options_.max_leaves > 1 && !split_features.empty();
  std::uint64_t* bins = searches ? histogram_for(nodes_[0]) : nullptr;
  const TreeRoot root = begin(bins);
  nodes_[0].n_rows = root.n_rows;
  nodes_[0].sum = root.sum;
  tree_.add_node(cover_of(root.n_rows));
  if (searches) search_.search(searched(nodes_[0], bins), false);

  std::vector<std::uint32_t> heap;
  const auto by_gain = [this](std::uint32_t a, std::uint32_t b) { return is_later(a, b); };
  const auto offer = [&](std::uint32_t place) {
    if (!nodes_[place].split.exists) return give_back(nodes_[place]);
    heap.push_back(place);
    std::ranges::push_heap(heap, by_gain);
  };
  offer(0);
  for (index_t n_leaves = 1; n_leaves < options_.max_leaves && !heap.empty();) {
    std::ranges::pop_heap(heap, by_gain);
    const std::uint32_t next = heap.back();
    heap.pop_back();
    team_.poll();
    if (!split(next, n_leaves + 1 == options_.max_leaves)) {
      search_alone(nodes_[next], true);
      offer(next);
      continue;
    }
    ++n_leaves;
    const auto left = static_cast<std::uint32_t>(tree_.nodes[next].left);
    offer(left);
    offer(left + 1);
  }
  make_leaves();
  order_by_breadth(tree_);
  return std::move(tree_);
}

bool NewtonGrower::may_be_split(const Node& node) const {
  return node.depth != options_.max_depth && node.n_rows >= 2 && options_.max_leaves > 1;
}

// Of two nodes that may be split, at these places, whether the first one is split after the other.
bool NewtonGrower::is_later(std::uint32_t a, std::uint32_t b) const {
  const double gain_a = nodes_[a].split.gain;
  const double gain_b = nodes_[b].split.gain;
  return gain_a != gain_b ? gain_a < gain_b : a > b;
}

// ---- Splitting ----

// Splits the node at this place and searches its children, unless this is the last split of the tree. Returns false if
// one side has too few rows: then only the numbers of the children are used up.
bool NewtonGrower::split(std::uint32_t place, bool is_last) {
  const Node parent = nodes_[place];
  const bool searches = !is_last && parent.depth + 1 != options_.max_depth;
  const bool subtracts = searches && parent.histogram >= 0;  // the histogram of one child from that of its parent
  Node written;                                              // the child whose histogram is written
  std::uint64_t* bins = subtracts ? histogram_for(written) : nullptr;
  const std::uint32_t left_number = std::exchange(n_given_, n_given_ + 2);
  const SplitRows made = rows_.split(parent.number, left_number, parent.split, bins);
  if (!search_.has_enough(made.counts)) {
    give_back(written);
    return false;
  }

  const auto left = static_cast<std::uint32_t>(nodes_.size());
  tree_.split_leaf(place, parent.split, left, *binned_.cuts);
  tree_.depth = std::max(tree_.depth, parent.depth + 1);
  for (const bool is_left : {true, false}) {
    Node child;
    child.number = is_left ? left_number : left_number + 1;
    child.n_rows = is_left ? made.n_left : made.n_right;
    child.sum = is_left ? parent.split.left : parent.sum - parent.split.left;
    child.depth = parent.depth + 1;
    if (subtracts) child.histogram = is_left == made.is_left ? written.histogram : parent.histogram;
    nodes_.push_back(child);
    tree_.add_node(cover_of(child.n_rows));
  }
  if (subtracts) {
    nodes_[place].histogram = -1;
    Node& other = nodes_[made.is_left ? left + 1 : left];
    std::uint64_t* parent_bins = histograms_[static_cast<std::size_t>(parent.histogram)].data();
    search_.search_children(searched(nodes_[made.is_left ? left : left + 1], bins), searched(other, parent_bins));
    return true;
  }
  give_back(nodes_[place]);
  for (const std::uint32_t child : {left, left + 1}) {
    if (searches && may_be_split(nodes_[child])) search_alone(nodes_[child], false);
  }
  return true;
}

// ---- The search, and the histograms that it needs ----

NewtonSearch::Node NewtonGrower::searched(Node& node, std::uint64_t* bins) const {
  return {node.number, node.sum, bins, may_be_split(node) ? &node.split : nullptr};
}

// Searches a node by itself, by the histogram that is kept of it, or else by one that is added up for it.
void NewtonGrower::search_alone(Node& node, bool with_counts) {
  node.split = {};
  std::uint64_t* bins = nullptr;
  if (node.histogram >= 0) {
    bins = histograms_[static_cast<std::size_t>(node.histogram)].data();
  } else {
    bins = histogram_for(node);
    rows_.set_histogram(node.number, bins);
  }
  search_.search(searched(node, bins), with_counts);
}

// Returns memory for the histogram of a node: a slot of its own where one is free, or else the last slot.
std::uint64_t* NewtonGrower::histogram_for(Node& node) {
  std::size_t slot = histograms_.size() - 1;
  if (!free_slots_.empty()) {
    node.histogram = free_slots_.back();
    free_slots_.pop_back();
    slot = static_cast<std::size_t>(node.histogram);
  }
  if (histograms_[slot].empty()) {
    const index_t size = HistogramLayout(binned_).size();
    histograms_[slot] = AlignedBuffer<std::uint64_t>(size, "the histogram of a node");
    if (binned_.is_sparse()) histograms_[slot].clear();
  }
  return histograms_[slot].data();
}

void NewtonGrower::give_back(Node& node) {
  if (node.histogram >= 0) free_slots_.push_back(node.histogram);
  node.histogram = -1;
}

// ---- Leaves ----

void NewtonGrower::make_leaves() {
  std::vector<std::uint32_t> leaves;  // their places, in the order of their numbers
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) {
    if (tree_.nodes[place].is_leaf()) leaves.push_back(place);
  }
  std::ranges::sort(leaves, {}, [this](std::uint32_t leaf) { return nodes_[leaf].number; });
  std::vector<std::uint32_t> numbers;
  numbers.reserve(leaves.size());
  for (const std::uint32_t leaf : leaves) numbers.push_back(nodes_[leaf].number);
  const std::vector<LeafSums> sums = rows_.leaf_sums(numbers);
  std::vector<double> values;
  values.reserve(leaves.size());
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const double g = static_cast<double>(sums[k].g) / (units_.g_scale * kLeafBits);
    const double h = static_cast<double>(sums[k].h) / (units_.h_scale * kLeafBits) + options_.lam;
    values.push_back(h > 0 ? -options_.learning_rate * g / h : 0.0);
    tree_.nodes[leaves[k]].threshold = values.back();
  }
  rows_.add(numbers, values);
}

}  // namespace fastpu::detail
