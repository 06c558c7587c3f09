#include "tree/newton_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fastpu::detail {

namespace {

constexpr double kTie = 1e-12;                    // gains that agree so far, relative, are ties
constexpr double kLeastGain = 1e-9;               // what rounding could make of a gain of nothing, of the score
constexpr index_t kKeptBytes = index_t{1} << 27;  // of all histograms that are kept for the larger children
constexpr index_t kFeatureBlock = 8;              // of one parallel task

// The categories of a node in the order in which they are cut.
struct Category {
  std::uint32_t code = 0;
  std::uint64_t sum = 0;
  double value = 0;
};

}  // namespace

NewtonGrower::NewtonGrower(const TreeFeatures& features, const double* weights, const NewtonOptions& options, Isa isa,
                           Team& team, int n_workers)
    : features_(features),
      binned_(features.binned()),
      options_(options),
      kernels_(newton_kernels(isa)),
      team_(team),
      n_workers_(n_workers),
      rows_(features, weights, isa, team, n_workers) {
  const index_t bytes = rows_.histogram_size() * static_cast<index_t>(sizeof(std::uint64_t));
  histograms_.resize(at(std::clamp<index_t>(kKeptBytes / bytes, 1, options.max_leaves) + 1));
}

GrownTree NewtonGrower::grow(const NewtonGradients& gradients, const std::vector<std::uint32_t>& features,
                             const std::vector<std::uint32_t>& others, double* scores) {
  tree_ = {};
  nodes_.clear();
  drawn_ = rows_.splittable(features, *gradients.rows, options_.min_leaf_rows);
  free_.clear();
  for (int slot = static_cast<int>(histograms_.size()) - 2; slot >= 0; --slot) free_.push_back(slot);

  Node root;
  root.rows = rows_.start(gradients, drawn_);
  root.sum = rows_.total();
  nodes_.push_back(root);
  tree_.nodes.push_back({0.0, 0, 0, root.rows.n_rows(), 0.0F});
  if (may_be_split(root) && !drawn_.empty()) {
    std::uint64_t* bins = histogram_for(nodes_[0]);
    rows_.set_histogram(root.rows, bins);
    search(nullptr, nullptr, nodes_.data(), bins);
  }

  std::vector<std::uint32_t> heap;
  const auto is_later = [this](std::uint32_t a, std::uint32_t b) {
    const double gain_a = nodes_[a].split.gain;
    const double gain_b = nodes_[b].split.gain;
    return gain_a != gain_b ? gain_a < gain_b : a > b;
  };
  const auto offer = [&](std::uint32_t number) {
    if (!nodes_[number].split.exists) return give_back(nodes_[number]);
    heap.push_back(number);
    std::ranges::push_heap(heap, is_later);
  };
  offer(0);
  for (index_t n_leaves = 1; n_leaves < options_.max_leaves && !heap.empty();) {
    std::ranges::pop_heap(heap, is_later);
    const std::uint32_t number = heap.back();
    heap.pop_back();
    team_.poll();
    split(number);
    ++n_leaves;
    const auto left = static_cast<std::uint32_t>(tree_.nodes[number].left);
    if (n_leaves < options_.max_leaves) search_children(nodes_[number], nodes_[left], nodes_[left + 1]);
    offer(left);
    offer(left + 1);
  }

  tree_.cuts.resize(nodes_.size());
  team_.for_each(static_cast<index_t>(nodes_.size()), n_workers_, [&](index_t k, int) {
    const auto number = static_cast<std::uint32_t>(k);
    if (tree_.nodes[number].is_leaf()) make_leaf(number, scores);
    if (!nodes_[number].split.by_categories) tree_.cuts[number] = nodes_[number].split.cut;
  });
  if (!others.empty()) add_others(others, scores);
  order_by_breadth(tree_);
  return std::move(tree_);
}

bool NewtonGrower::may_be_split(const Node& node) const {
  return node.depth != options_.max_depth && node.rows.n_rows() >= 2 && options_.max_leaves > 1;
}

// ---- Splitting ----

void NewtonGrower::split(std::uint32_t number) {
  const Node parent = nodes_[number];
  const NewtonSplit& split = parent.split;
  TreeNode& stored = tree_.nodes[number];
  stored.split = 4 * split.feature + (split.by_categories ? 2U : 0U) + (split.missing_right ? 1U : 0U);
  stored.gain = static_cast<float>(split.gain);
  stored.left = static_cast<std::int32_t>(nodes_.size());
  if (split.by_categories) {
    stored.threshold = static_cast<double>(tree_.sets.size());
    tree_.sets.push_back(split.left_codes);
  } else {
    stored.threshold = binned_.cuts->of(split.feature)[split.cut];
  }
  Node left;
  left.rows = rows_.partition(parent.rows, split);
  left.sum = split.left;
  left.depth = parent.depth + 1;
  Node right;
  right.rows = {left.rows.end, parent.rows.end};
  right.sum = parent.sum - split.left;
  right.depth = parent.depth + 1;
  for (const Node& child : {left, right}) {
    nodes_.push_back(child);
    tree_.nodes.push_back({0.0, 0, 0, child.rows.n_rows(), 0.0F});
  }
  tree_.depth = std::max(tree_.depth, left.depth);
}

// Where the histogram of a node goes: to a place where it is kept, or else to the last one.
std::uint64_t* NewtonGrower::histogram_for(Node& node) {
  std::size_t slot = histograms_.size() - 1;
  if (!free_.empty()) {
    node.histogram = free_.back();
    free_.pop_back();
    slot = static_cast<std::size_t>(node.histogram);
  }
  if (histograms_[slot].empty()) {
    histograms_[slot] = AlignedBuffer<std::uint64_t>(rows_.histogram_size(), "the histogram of a node");
    if (binned_.is_sparse()) std::fill_n(histograms_[slot].data(), rows_.histogram_size(), std::uint64_t{0});
  }
  return histograms_[slot].data();
}

void NewtonGrower::give_back(Node& node) {
  if (node.histogram >= 0) free_.push_back(node.histogram);
  node.histogram = -1;
}

void NewtonGrower::search_children(Node& parent, Node& left, Node& right) {
  Node* smaller = &left;
  Node* larger = &right;
  if (right.rows.n_rows() < left.rows.n_rows()) std::swap(smaller, larger);
  if (!may_be_split(*larger)) return give_back(parent);
  if (parent.histogram >= 0) {
    std::swap(larger->histogram, parent.histogram);
    std::uint64_t* bins = histogram_for(*smaller);
    rows_.set_histogram(smaller->rows, bins);
    return search(smaller, bins, larger, histograms_[static_cast<std::size_t>(larger->histogram)].data());
  }
  for (Node* child : {larger, smaller}) {
    if (!may_be_split(*child)) continue;
    std::uint64_t* bins = histogram_for(*child);
    rows_.set_histogram(child->rows, bins);
    search(nullptr, nullptr, child, bins);
  }
}

// ---- The search ----

// Finds the best splits of two children, the larger of which has the histogram of their parent, or of one node.
void NewtonGrower::search(Node* smaller, std::uint64_t* smaller_bins, Node* larger, std::uint64_t* larger_bins) {
  const auto set = [&](Search& s, Node* node, std::uint64_t* bins) {
    s.node = node != nullptr && may_be_split(*node) ? node : nullptr;
    if (s.node == nullptr) return;
    s.bins = bins;
    s.sums = {
        g_of(node->sum) * rows_.g_unit(), h_of(node->sum) * rows_.h_unit(), rows_.g_unit(), rows_.h_unit(), options_.l2,
        options_.min_leaf_hessian};
    s.best.resize(drawn_.size());
  };
  set(searches_[0], smaller, smaller_bins);
  set(searches_[1], larger, larger_bins);

  constexpr index_t kBinsPerWorker = 16384;
  const index_t work = 2 * rows_.histogram_size();
  const int workers = static_cast<int>(std::min<index_t>(n_workers_, 1 + work / kBinsPerWorker));
  const auto n_features = static_cast<index_t>(drawn_.size());
  team_.for_each(count_blocks(n_features, kFeatureBlock), workers, [&](index_t block, int) {
    const index_t end = std::min(n_features, (block + 1) * kFeatureBlock);
    for (index_t k = block * kFeatureBlock; k < end; ++k) {
      const std::uint32_t f = drawn_[at(k)];
      if (smaller_bins != nullptr) {
        const std::uint64_t* less = smaller_bins + rows_.first_bin(f);
        std::uint64_t* bins = larger_bins + rows_.first_bin(f);
        for (index_t b = 0; b < binned_.n_bins(f); ++b) bins[b] -= less[b];
      }
      for (Search& s : searches_) {
        if (s.node != nullptr) s.best[at(k)] = best_gain(s, f);
      }
    }
  });
  for (Search& s : searches_) {
    if (s.node != nullptr) choose(s);
  }
}

// The largest gain of a feature, whatever the number of rows on each side.
double NewtonGrower::best_gain(const Search& search, std::uint32_t feature) const {
  if (features_.is_categorical(feature)) {
    double best = -kInfinity;
    for_sets(search, feature, {}, [&](const NewtonSplit& split) {
      best = std::max(best, split.gain);
      return false;
    });
    return best;
  }
  const std::uint64_t* bins = search.bins + rows_.first_bin(feature);
  const index_t n = binned_.n_bins(feature);
  double score = kernels_.best_score(bins, n - 1, search.sums);
  if (features_.can_be_missing(feature) && bins[0] != 0) {
    score = std::max(score, kernels_.best_score(bins + 1, n - 2, search.sums));
  }
  return score - search.sums.score();
}

void NewtonGrower::choose(Search& search) {
  NewtonSplit& chosen = search.node->split;
  const double least = kLeastGain * search.sums.score();
  std::vector<char> is_counted(drawn_.size());
  while (true) {
    const double best = *std::ranges::max_element(search.best);
    if (!(best > least)) return;
    const double limit = best - kTie * best;
    const auto first = std::ranges::find_if(search.best, [=](double gain) { return gain >= limit; });
    const auto k = static_cast<std::size_t>(first - search.best.begin());
    counts_.clear();
    if (is_counted[k] != 0) rows_.count_codes(search.node->rows, drawn_[k], counts_);
    for_splits(search, drawn_[k], counts_, [&](const NewtonSplit& split) {
      if (split.gain >= limit) chosen = split;
      return chosen.exists;
    });
    if (is_counted[k] != 0 || rows_.has_rows_on_both_sides(search.node->rows, chosen, options_.min_leaf_rows)) return;
    chosen = {};
    is_counted[k] = 1;
    rows_.count_codes(search.node->rows, drawn_[k], counts_);
    search.best[k] = -kInfinity;
    for_splits(search, drawn_[k], counts_, [&](const NewtonSplit& split) {
      search.best[k] = std::max(search.best[k], split.gain);
      return false;
    });
  }
}

template <class Visit>
void NewtonGrower::for_splits(const Search& search, std::uint32_t feature, const std::vector<double>& counts,
                              Visit&& visit) const {
  if (features_.is_categorical(feature)) return for_sets(search, feature, counts, visit);
  for_cuts(search, feature, counts, visit);
}

template <class Visit>
void NewtonGrower::for_cuts(const Search& search, std::uint32_t feature, const std::vector<double>& counts,
                            Visit&& visit) const {
  const std::uint64_t* bins = search.bins + rows_.first_bin(feature);
  const index_t n = binned_.n_bins(feature);
  const bool can_be_missing = features_.can_be_missing(feature);
  const std::uint64_t missing = can_be_missing ? bins[0] : 0;
  double all_rows = 0;
  for (const double count : counts) all_rows += count;
  const double missing_rows = can_be_missing && !counts.empty() ? counts[0] : 0;
  double rows = 0;
  const double score = search.sums.score();
  NewtonSplit split;
  split.exists = true;
  split.feature = feature;
  const auto offer = [&](index_t cut, std::uint64_t left, double left_rows, bool missing_right) {
    if (!counts.empty() && (left_rows < options_.min_leaf_rows || all_rows - left_rows < options_.min_leaf_rows)) {
      return false;
    }
    split.gain = search.sums.score(left) - score;
    split.cut = static_cast<std::uint32_t>(cut);
    split.missing_right = missing_right;
    split.left = left;
    return split.gain > -kInfinity && visit(split);
  };
  if (missing != 0 && offer(0, missing, missing_rows, false)) return;
  std::uint64_t present = 0;
  for (index_t k = can_be_missing ? 1 : 0; k + 1 < n; ++k) {
    present += bins[k];
    if (!counts.empty()) rows += counts[at(k)];
    if (missing != 0) {
      if (offer(k, present + missing, rows + missing_rows, false) || offer(k, present, rows, true)) return;
    } else {
      const bool right = can_be_missing && h_of(search.node->sum) - h_of(present) > h_of(present);
      if (offer(k, present, right ? rows : rows + missing_rows, right)) return;
    }
  }
}

template <class Visit>
void NewtonGrower::for_sets(const Search& search, std::uint32_t feature, const std::vector<double>& counts,
                            Visit&& visit) const {
  const std::uint64_t* bins = search.bins + rows_.first_bin(feature);
  const std::uint64_t missing = bins[0];
  std::vector<Category> categories;
  for (index_t code = 1; code < binned_.n_bins(feature); ++code) {
    if (bins[code] == 0) continue;
    const double g = g_of(bins[code]) * search.sums.g_unit;
    const double h = h_of(bins[code]) * search.sums.h_unit + options_.l2;
    categories.push_back({static_cast<std::uint32_t>(code), bins[code], h > 0 ? g / h : std::copysign(kInfinity, g)});
  }
  std::ranges::stable_sort(categories, {}, &Category::value);
  const double score = search.sums.score();
  NewtonSplit split;
  split.exists = true;
  split.by_categories = true;
  split.feature = feature;
  const auto offer = [&](std::size_t n_left, std::uint64_t left, bool missing_right) {
    split.gain = search.sums.score(left) - score;
    if (split.gain == -kInfinity) return false;
    split.missing_right = missing_right;
    split.left = left;
    split.left_codes = {};
    if (!missing_right) split.left_codes.words.fill(~std::uint64_t{0});
    for (std::size_t i = 0; i < categories.size(); ++i) {
      if (i < n_left) {
        split.left_codes.add(categories[i].code);
      } else {
        split.left_codes.remove(categories[i].code);
      }
    }
    double rows[2] = {};
    for (std::size_t code = 0; code < counts.size(); ++code) {
      rows[split.left_codes.has(static_cast<std::uint32_t>(code)) ? 0 : 1] += counts[code];
    }
    if (!counts.empty() && std::min(rows[0], rows[1]) < options_.min_leaf_rows) return false;
    return visit(split);
  };
  if (missing != 0 && offer(0, missing, false)) return;
  std::uint64_t present = 0;
  for (std::size_t i = 0; i + 1 < categories.size(); ++i) {
    present += categories[i].sum;
    if (missing != 0) {
      if (offer(i + 1, present + missing, false) || offer(i + 1, present, true)) return;
    } else if (offer(i + 1, present, h_of(search.node->sum) - h_of(present) > h_of(present))) {
      return;
    }
  }
}

// ---- Leaves ----

void NewtonGrower::make_leaf(std::uint32_t number, double* scores) {
  const NewtonRange& rows = nodes_[number].rows;
  const LeafSums sums = rows_.leaf_sums(rows);
  const double h = sums.h + options_.l2;
  const double value = h > 0 ? -options_.rate * sums.g / h : 0.0;
  tree_.nodes[number].threshold = value;
  rows_.add(rows, value, scores);
}

// Takes further rows down the tree.
void NewtonGrower::add_others(const std::vector<std::uint32_t>& others, double* scores) {
  nodes_[0].rows = rows_.take(others);
  for (std::size_t number = 0; number < nodes_.size(); ++number) {  // children come after their parents
    const TreeNode& node = tree_.nodes[number];
    const NewtonRange& rows = nodes_[number].rows;
    if (node.is_leaf()) {
      rows_.add(rows, node.threshold, scores);
      continue;
    }
    const NewtonRange left = rows_.partition(rows, nodes_[number].split);
    nodes_[at(node.left)].rows = left;
    nodes_[at(node.left) + 1].rows = {left.end, rows.end};
  }
}

}  // namespace fastpu::detail
