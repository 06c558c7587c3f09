#include "tree/newton_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

// The rows of a node as a tree has them: more than 32 bits hold are as many as these hold.
std::uint32_t stored_count(index_t n_rows) {
  return static_cast<std::uint32_t>(std::min<index_t>(n_rows, std::numeric_limits<std::uint32_t>::max()));
}

NodeSplit plain(const NewtonSplit& split) {
  return {split.feature, split.cut, split.by_categories, split.missing_right, split.left_codes};
}

}  // namespace

NewtonGrower::NewtonGrower(const TreeFeatures& features, NodeRows& rows, const NewtonOptions& options, Isa isa,
                           Team& team, int n_workers)
    : features_(features),
      binned_(features.binned()),
      places_(binned_),
      options_(options),
      kernels_(newton_kernels(isa)),
      team_(team),
      n_workers_(n_workers),
      rows_(rows) {
  const index_t bytes = places_.size() * static_cast<index_t>(sizeof(std::uint64_t));
  histograms_.resize(at(std::clamp<index_t>(kKeptBytes / bytes, 1, options.max_leaves) + 1));
}

GrownTree NewtonGrower::grow(const std::vector<std::uint32_t>& features, const NewtonUnits& units,
                             const std::function<TreeRoot(std::uint64_t*)>& begin) {
  tree_ = {};
  nodes_.assign(1, Node{});
  n_given_ = 1;
  drawn_ = features;
  units_ = units;
  free_.clear();
  for (int slot = static_cast<int>(histograms_.size()) - 2; slot >= 0; --slot) free_.push_back(slot);

  const bool searches = options_.max_depth != 0 && options_.max_leaves > 1 && !drawn_.empty();
  std::uint64_t* bins = searches ? histogram_for(nodes_[0]) : nullptr;
  const TreeRoot root = begin(bins);
  nodes_[0].n_rows = root.n_rows;
  nodes_[0].sum = root.sum;
  tree_.nodes.push_back({0.0, 0, 0, stored_count(root.n_rows), 0.0F});
  if (searches) search(nullptr, nullptr, nodes_.data(), bins);

  std::vector<std::uint32_t> heap;
  const auto by_gain = [this](std::uint32_t a, std::uint32_t b) { return is_later(a, b); };
  const auto offer = [&](std::uint32_t number) {
    if (!nodes_[number].split.exists) return give_back(nodes_[number]);
    heap.push_back(number);
    std::ranges::push_heap(heap, by_gain);
  };
  offer(0);
  for (index_t n_leaves = 1; n_leaves < options_.max_leaves && !heap.empty();) {
    std::ranges::pop_heap(heap, by_gain);
    const std::uint32_t number = heap.back();
    heap.pop_back();
    team_.poll();
    if (rows_.most_rows_ahead() >= 0) ask_ahead(number, heap, options_.max_leaves - n_leaves);
    if (!split(number, n_leaves + 1 == options_.max_leaves)) {
      is_counted_ = true;
      search_alone(nodes_[number]);
      is_counted_ = false;
      offer(number);
      continue;
    }
    ++n_leaves;
    const auto left = static_cast<std::uint32_t>(tree_.nodes[number].left);
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

bool NewtonGrower::is_later(std::uint32_t a, std::uint32_t b) const {
  const double gain_a = nodes_[a].split.gain;
  const double gain_b = nodes_[b].split.gain;
  return gain_a != gain_b ? gain_a < gain_b : a > b;
}

// ---- Splitting ----

SplitOrder NewtonGrower::order_of(Node& node, bool is_last) {
  if (node.children == 0) {
    node.children = n_given_;
    n_given_ += 2;
  }
  const bool searches = !is_last && node.depth + 1 != options_.max_depth;
  return {node.number, node.children, plain(node.split), searches && node.histogram >= 0};
}

// Asks for the next split, unless that is done; along with it for others that come soon if the children of none of them
// gain more, and with the last one for what its leaves need. Trees are uneven: of more than a third of the splits that
// are left, most would be asked for in vain.
void NewtonGrower::ask_ahead(std::uint32_t next, std::vector<std::uint32_t> others, index_t n_splits) {
  const bool is_last = n_splits == 1;
  const bool is_asked = nodes_[next].children != 0;
  if (is_asked && !is_last) return;
  std::vector<SplitOrder> orders;
  if (!is_asked) orders.push_back(order_of(nodes_[next], is_last));
  const index_t n_others = std::min({n_splits / 3, std::ssize(others), std::ssize(histograms_)});
  std::ranges::partial_sort(others, others.begin() + n_others,
                            [this](std::uint32_t a, std::uint32_t b) { return is_later(b, a); });
  for (index_t k = 0; k < n_others; ++k) {
    Node& node = nodes_[others[at(k)]];
    if (node.children == 0 && node.n_rows <= rows_.most_rows_ahead()) orders.push_back(order_of(node, false));
  }
  std::vector<std::uint32_t> leaves;
  if (is_last) {
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
      if (tree_.nodes[number].is_leaf() && number != next) leaves.push_back(nodes_[number].number);
    }
    leaves.insert(leaves.end(), {nodes_[next].children, nodes_[next].children + 1});
    std::ranges::sort(leaves);
  }
  rows_.ask_ahead(orders, leaves);
}

bool NewtonGrower::split(std::uint32_t number, bool is_last) {
  const Node parent = nodes_[number];
  const NewtonSplit& split = parent.split;
  const auto left = static_cast<std::uint32_t>(nodes_.size());
  const bool searches = !is_last && parent.depth + 1 != options_.max_depth;
  const SplitOrder order = order_of(nodes_[number], is_last);
  const bool subtracts = order.wants_histogram;
  Node known;  // the child whose histogram is written
  std::uint64_t* bins = subtracts ? histogram_for(known) : nullptr;
  const SplitRows made = rows_.split(order.node, order.left, order.split, bins);
  if (!has_enough(made.counts)) {
    nodes_[number].children = 0;
    give_back(known);
    return false;
  }

  TreeNode& stored = tree_.nodes[number];
  stored.split = 4 * split.feature + (split.by_categories ? 2U : 0U) + (split.missing_right ? 1U : 0U);
  stored.gain = static_cast<float>(std::min<double>(split.gain, std::numeric_limits<float>::max()));
  stored.left = static_cast<std::int32_t>(left);
  if (split.by_categories) {
    stored.threshold = static_cast<double>(tree_.sets.size());
    tree_.sets.push_back(split.left_codes);
  } else {
    stored.threshold = binned_.cuts->of(split.feature)[split.cut];
  }
  tree_.depth = std::max(tree_.depth, parent.depth + 1);
  for (const bool is_left : {true, false}) {
    Node child;
    child.number = is_left ? order.left : order.left + 1;
    child.n_rows = is_left ? made.n_left : made.n_right;
    child.sum = is_left ? split.left : parent.sum - split.left;
    child.depth = parent.depth + 1;
    if (subtracts) child.histogram = is_left == made.is_left ? known.histogram : parent.histogram;
    nodes_.push_back(child);
    tree_.nodes.push_back({0.0, 0, 0, stored_count(child.n_rows), 0.0F});
  }
  if (subtracts) {
    nodes_[number].histogram = -1;
    Node& other = nodes_[made.is_left ? left + 1 : left];
    search(&nodes_[made.is_left ? left : left + 1], bins, &other,
           histograms_[static_cast<std::size_t>(parent.histogram)].data());
    return true;
  }
  give_back(nodes_[number]);
  for (const std::uint32_t child : {left, left + 1}) {
    if (searches && may_be_split(nodes_[child])) search_alone(nodes_[child]);
  }
  return true;
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
    histograms_[slot] = AlignedBuffer<std::uint64_t>(places_.size(), "the histogram of a node");
    if (binned_.is_sparse()) std::fill_n(histograms_[slot].data(), places_.size(), std::uint64_t{0});
  }
  return histograms_[slot].data();
}

void NewtonGrower::give_back(Node& node) {
  if (node.histogram >= 0) free_.push_back(node.histogram);
  node.histogram = -1;
}

// ---- The search ----

// Searches a node whose histogram is kept, or else added up now.
void NewtonGrower::search_alone(Node& node) {
  node.split = {};
  std::uint64_t* bins = nullptr;
  if (node.histogram >= 0) {
    bins = histograms_[static_cast<std::size_t>(node.histogram)].data();
  } else {
    bins = histogram_for(node);
    rows_.set_histogram(node.number, bins);
  }
  search(nullptr, nullptr, &node, bins);
}

// Finds the best splits of two children, one of which has its histogram and the other one that of their parent, or of
// one node.
void NewtonGrower::search(Node* known, std::uint64_t* known_bins, Node* other, std::uint64_t* other_bins) {
  const auto set = [&](Search& s, Node* node, std::uint64_t* bins) {
    s.node = node != nullptr && may_be_split(*node) ? node : nullptr;
    if (s.node == nullptr) return;
    s.bins = bins;
    s.sums = {g_of(node->sum) / units_.g_scale,
              h_of(node->sum) / units_.h_scale,
              1.0 / units_.g_scale,
              1.0 / units_.h_scale,
              options_.l2,
              options_.min_leaf_hessian};
    s.best.resize(drawn_.size());
    s.known.resize(drawn_.size());
  };
  set(searches_[0], known, known_bins);
  set(searches_[1], other, other_bins);

  constexpr index_t kBinsPerWorker = 16384;
  const index_t work = 2 * places_.size();
  const int workers = static_cast<int>(std::min<index_t>(n_workers_, 1 + work / kBinsPerWorker));
  const auto n_features = static_cast<index_t>(drawn_.size());
  team_.for_each(count_blocks(n_features, kFeatureBlock), workers, [&](index_t block, int) {
    const index_t end = std::min(n_features, (block + 1) * kFeatureBlock);
    for (index_t k = block * kFeatureBlock; k < end; ++k) {
      const std::uint32_t f = drawn_[at(k)];
      if (known_bins != nullptr) {
        const index_t first = places_.first_bin(f);
        kernels_.subtract(other_bins + first, known_bins + first, binned_.n_bins(f));
      }
      for (Search& s : searches_) {
        if (s.node != nullptr) bound_gain(s, at(k));
      }
    }
  });
  for (Search& s : searches_) {
    if (s.node != nullptr) choose(s);
  }
}

// Bounds the gains of a feature, whatever the number of rows on each side.
void NewtonGrower::bound_gain(Search& search, std::size_t k) const {
  if (features_.is_categorical(drawn_[k]) || !search.sums.has_bounds()) return find_gain(search, k);
  search.best[k] = best_cut(search, drawn_[k], kernels_.score_bound) - search.sums.score();
  search.known[k] = Known::bound;
}

// Finds the largest of them.
void NewtonGrower::find_gain(Search& search, std::size_t k) const {
  search.known[k] = Known::gain;
  if (!features_.is_categorical(drawn_[k])) {
    search.best[k] = best_cut(search, drawn_[k], kernels_.best_score) - search.sums.score();
    return;
  }
  search.best[k] = -kInfinity;
  for_sets(search, drawn_[k], {}, [&](const NewtonSplit& split) {
    search.best[k] = std::max(search.best[k], split.gain);
    return false;
  });
}

template <class Score>
double NewtonGrower::best_cut(const Search& search, std::uint32_t feature, Score&& score) const {
  const std::uint64_t* bins = search.bins + places_.first_bin(feature);
  const index_t n = binned_.n_bins(feature);
  const double best = score(bins, n - 1, search.sums);
  if (!features_.can_be_missing(feature) || bins[0] == 0) return best;
  return std::max(best, score(bins + 1, n - 2, search.sums));
}

void NewtonGrower::choose(Search& search) {
  NewtonSplit& chosen = search.node->split;
  const std::uint32_t number = search.node->number;
  const double least = kLeastGain * search.sums.score();
  const auto place_in_best = [&](auto found) { return static_cast<std::size_t>(found - search.best.begin()); };
  while (true) {
    const std::size_t most = place_in_best(std::ranges::max_element(search.best));
    const double best = search.best[most];
    if (!(best > least)) return;
    const double limit = best - kTie * best;
    const std::size_t k = place_in_best(std::ranges::find_if(search.best, [=](double gain) { return gain >= limit; }));
    if (search.known[most] == Known::bound || search.known[k] == Known::bound) {
      find_gain(search, search.known[most] == Known::bound ? most : k);
      continue;
    }
    const bool is_counted = search.known[k] == Known::counted;
    counts_.clear();
    if (is_counted) rows_.count_codes(number, drawn_[k], counts_);
    for_splits(search, drawn_[k], counts_, [&](const NewtonSplit& split) {
      if (split.gain >= limit) chosen = split;
      return chosen.exists;
    });
    if (!is_counted_ || is_counted || has_enough(rows_.count_sides(number, plain(chosen)))) return;
    chosen = {};
    search.known[k] = Known::counted;
    rows_.count_codes(number, drawn_[k], counts_);
    search.best[k] = -kInfinity;
    for_splits(search, drawn_[k], counts_, [&](const NewtonSplit& split) {
      search.best[k] = std::max(search.best[k], split.gain);
      return false;
    });
  }
}

template <class Visit>
void NewtonGrower::for_splits(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts,
                              Visit&& visit) const {
  if (features_.is_categorical(feature)) return for_sets(search, feature, counts, visit);
  for_cuts(search, feature, counts, visit);
}

template <class Visit>
void NewtonGrower::for_cuts(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts,
                            Visit&& visit) const {
  const std::uint64_t* bins = search.bins + places_.first_bin(feature);
  const index_t n = binned_.n_bins(feature);
  const bool can_be_missing = features_.can_be_missing(feature);
  const std::uint64_t missing = can_be_missing ? bins[0] : 0;
  const index_t enough = units_.count.enough;
  const index_t all_rows = std::accumulate(counts.begin(), counts.end(), index_t{0});
  const index_t missing_rows = can_be_missing && !counts.empty() ? counts[0] : 0;
  index_t rows = 0;
  const double score = search.sums.score();
  NewtonSplit split;
  split.exists = true;
  split.feature = feature;
  const auto offer = [&](index_t cut, std::uint64_t left, index_t left_rows, bool missing_right) {
    if (!counts.empty() && (left_rows < enough || all_rows - left_rows < enough)) return false;
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
void NewtonGrower::for_sets(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts,
                            Visit&& visit) const {
  const std::uint64_t* bins = search.bins + places_.first_bin(feature);
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
  const double by_chance = excess_categories(categories.size()) * units_.chance_gain;
  NewtonSplit split;
  split.exists = true;
  split.by_categories = true;
  split.feature = feature;
  const auto offer = [&](std::size_t n_left, std::uint64_t left, bool missing_right) {
    split.gain = search.sums.score(left) - score - (n_left > 0 ? by_chance : 0.0);
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
    index_t rows[2] = {};
    for (std::size_t code = 0; code < counts.size(); ++code) {
      rows[split.left_codes.has(static_cast<std::uint32_t>(code)) ? 0 : 1] += counts[code];
    }
    if (!counts.empty() && std::min(rows[0], rows[1]) < units_.count.enough) return false;
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

void NewtonGrower::make_leaves() {
  tree_.cuts.resize(nodes_.size());
  std::vector<std::uint32_t> leaves;  // of the tree
  for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
    if (tree_.nodes[number].is_leaf()) leaves.push_back(number);
    if (!tree_.nodes[number].is_leaf() && !nodes_[number].split.by_categories) {
      tree_.cuts[number] = nodes_[number].split.cut;
    }
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
    const double h = static_cast<double>(sums[k].h) / (units_.h_scale * kLeafBits) + options_.l2;
    values.push_back(h > 0 ? -options_.rate * g / h : 0.0);
    tree_.nodes[leaves[k]].threshold = values.back();
  }
  rows_.add(numbers, values);
}

}  // namespace fastpu::detail
