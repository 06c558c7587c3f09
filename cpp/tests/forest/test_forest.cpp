// Forests against a slow one, node by node, and what must not change them.
#include "fastpu/forest/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "fastpu/tree/tree_scores.hpp"
#include "forest/slow_forest.hpp"

namespace {

using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::CategorySet;
using fastpu::ForestLoss;
using fastpu::ForestOptions;
using fastpu::ForestResult;
using fastpu::ForestTrainingSet;
using fastpu::Team;
using fastpu::TreeNode;
using fastpu::TreesView;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct ForestData {
  index_t n;
  index_t d;
  std::vector<double> x;
  std::vector<std::int8_t> y;
  std::vector<double> weight;
  std::vector<std::uint8_t> categorical;

  fastpu::DenseView<double> dense() const { return {x.data(), n, d}; }
};

// Feature 1 is rounded, 2 has missing values, 3 infinite ones and zeros, 4 is constant, 5 has categories (some
// missing), 6 is mostly missing, 7 is mostly zero.
ForestData forest_data(index_t n, unsigned seed, bool has_missing = true) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  ForestData data{n, 8, {}, {}, {}, {0, 0, 0, 0, 0, 1, 0, 0}};
  for (index_t i = 0; i < n; ++i) {
    double row[8];
    for (double& value : row) value = normal(random);
    const double truth = row[0] + row[1] * row[2] + 0.5 * normal(random);
    row[1] = std::round(2 * row[1]) / 2;
    row[4] = 3;
    row[5] = std::floor(6 * uniform(random)) + (truth > 0 ? 2 : 0);
    if (uniform(random) < 0.5) row[3] = 0;
    if (uniform(random) < 0.8) row[7] = 0;
    if (has_missing) {
      if (uniform(random) < 0.2) row[2] = kNaN;
      if (uniform(random) < 0.05) row[3] = uniform(random) < 0.5 ? kInf : -kInf;
      if (uniform(random) < 0.1) row[5] = uniform(random) < 0.5 ? kNaN : 300;
      if (uniform(random) < 0.9) row[6] = kNaN;
    }
    data.x.insert(data.x.end(), row, row + 8);
    data.y.push_back(static_cast<std::int8_t>(i == 0 || (i > 1 && truth > 0.5 && uniform(random) < 0.4) ? 1 : 0));
    data.weight.push_back(i < 2 ? 1.0 : std::floor(3 * uniform(random)));
  }
  return data;
}

struct Csr {
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::vector<index_t> row_start{0};
  fastpu::CsrView<double> view;

  explicit Csr(const ForestData& data) {
    for (index_t i = 0; i < data.n; ++i) {
      for (index_t f = 0; f < data.d; ++f) {
        const double value = data.dense().row(i)[f];
        if (value == 0) continue;
        values.push_back(value);
        columns.push_back(static_cast<std::int32_t>(f));
      }
      row_start.push_back(static_cast<index_t>(values.size()));
    }
    view = {values.data(), columns.data(), row_start.data(), data.n, data.d};
  }
  Csr(const Csr&) = delete;
  Csr& operator=(const Csr&) = delete;
};

BinnedFeatures bin(const ForestData& data, index_t max_bins, bool categorical = true) {
  Team team(1);
  BinOptions options;
  options.max_bins = max_bins;
  options.categorical = categorical ? data.categorical.data() : nullptr;
  return bin_features(data.dense(), options, team);
}

ForestTrainingSet training_set(const ForestData& data, const BinnedFeatures& features, bool weighted = false) {
  ForestTrainingSet train;
  train.features = &features;
  train.labels = data.y.data();
  train.sample_weight = weighted ? data.weight.data() : nullptr;
  train.categorical = features.is_sparse() ? nullptr : data.categorical.data();
  return train;
}

ForestResult grow(const ForestTrainingSet& train, const ForestOptions& options, int n_threads = 1,
                  fastpu::Isa isa = fastpu::best_isa()) {
  Team team(n_threads, {}, isa);
  return grow_forest(train, options, {}, team);
}

TreesView view_of(const ForestResult& forest, index_t n_features) {
  TreesView view;
  view.nodes = forest.nodes.data();
  view.n_nodes = static_cast<index_t>(forest.nodes.size());
  view.tree_start = forest.tree_start.data();
  view.n_trees = static_cast<index_t>(forest.tree_start.size()) - 1;
  view.sets = forest.sets.data();
  view.n_sets = static_cast<index_t>(forest.sets.size());
  view.n_features = n_features;
  return view;
}

bool same_node(const TreeNode& a, const TreeNode& b) {
  return a.threshold == b.threshold && a.split == b.split && a.left == b.left && a.cover == b.cover && a.gain == b.gain;
}

bool same_forest(const ForestResult& a, const ForestResult& b) {
  bool same = a.nodes.size() == b.nodes.size() && a.tree_start == b.tree_start && a.oob_sum == b.oob_sum &&
              a.oob_count == b.oob_count && a.sets.size() == b.sets.size();
  for (std::size_t i = 0; same && i < a.nodes.size(); ++i) same = same_node(a.nodes[i], b.nodes[i]);
  for (std::size_t i = 0; same && i < a.sets.size(); ++i) same = a.sets[i].words == b.sets[i].words;
  return same;
}

// Codes of every feature, whatever the form.
std::vector<std::vector<std::uint32_t>> codes_of(const BinnedFeatures& b) {
  std::vector<std::vector<std::uint32_t>> codes(at(b.n_features), std::vector<std::uint32_t>(at(b.n_rows)));
  for (index_t f = 0; f < b.n_features; ++f) {
    if (b.is_sparse()) {
      std::ranges::fill(codes[at(f)], b.zero_code[at(f)]);
      for (index_t p = b.column_start[at(f)]; p < b.column_start[at(f + 1)]; ++p) {
        codes[at(f)][b.column_rows[at(p)]] = b.column_codes[at(p)];
      }
      continue;
    }
    for (index_t i = 0; i < b.n_rows; ++i) {
      const index_t place = f * b.column_stride + i;
      codes[at(f)][at(i)] = b.width == fastpu::CodeWidth::one_byte
                                ? b.by_column[place]
                                : reinterpret_cast<const std::uint16_t*>(b.by_column.data())[place];
    }
  }
  return codes;
}

void check_node(const TreeNode& node, const std::vector<SlowNode>& tree, std::size_t k, double value,
                const BinnedFeatures& features, const ForestResult& forest) {
  const SlowNode& slow = tree[k];
  CHECK(node.cover == static_cast<std::uint32_t>(slow.p + slow.u));
  CHECK(node.is_leaf() != slow.is_split);
  if (!slow.is_split) {
    CHECK(node.threshold == value);
    CHECK(node.gain == 0 && node.split == 0);
    return;
  }
  CHECK(node.left == static_cast<std::int32_t>(slow.left));
  CHECK(node.feature() == slow.feature);
  CHECK(node.by_categories() == slow.by_categories);
  const auto n_rows = [&](std::size_t child) { return tree[child].p + tree[child].u; };
  const bool larger_right = n_rows(slow.left + 1) > n_rows(slow.left);
  const bool is_known = slow.by_categories || features.cuts->has_missing(slow.feature);
  CHECK(node.missing_right() == (is_known ? slow.missing_right : larger_right));
  CHECK(node.gain == static_cast<float>(std::max(slow.gain, 0.0)));
  if (!slow.by_categories) {
    CHECK(node.threshold == features.cuts->of(slow.feature)[slow.cut]);
    return;
  }
  const CategorySet& set = forest.sets[static_cast<std::size_t>(node.threshold)];
  for (std::uint32_t v = 0; v < 256; ++v) {
    const bool left = std::ranges::find(slow.left_codes, v + 1) != slow.left_codes.end();
    const bool right = std::ranges::find(slow.right_codes, v + 1) != slow.right_codes.end();
    CHECK(set.has(v) == (left || (!right && !(v == 255 ? slow.missing_right : larger_right))));
  }
}

void check_against_slow(const ForestTrainingSet& train, const ForestOptions& options) {
  const BinnedFeatures& features = *train.features;
  const ForestResult forest = grow(train, options, 2);
  REQUIRE(static_cast<index_t>(forest.tree_start.size()) == options.n_trees + 1);
  check_trees(view_of(forest, features.n_features));
  const auto codes = codes_of(features);
  std::vector<std::int32_t> out(at(features.n_rows));
  for (index_t t = 0; t < options.n_trees; ++t) {
    const SlowTree slow(train, options, codes, options.first_tree + t);
    const std::vector<SlowNode> nodes = slow.nodes();
    const index_t first = forest.tree_start[at(t)];
    REQUIRE(forest.tree_start[at(t + 1)] - first == static_cast<index_t>(nodes.size()));
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      check_node(forest.nodes[at(first) + k], nodes, k, slow.value(nodes[k]), features, forest);
    }
    for (index_t i = 0; i < features.n_rows; ++i) {
      out[at(i)] += std::ranges::find(slow.bag(), i) == slow.bag().end() ? 1 : 0;
    }
  }
  CHECK(out == forest.oob_count);
}

ForestOptions small_forest() {
  ForestOptions options;
  options.n_trees = 4;
  options.seed = 7;
  options.bag_unl = {90, 40, 150};
  options.max_features = 3;
  options.min_leaf_rows = 2;
  options.prior = 0.3;
  return options;
}

}  // namespace

CASE("every criterion and kind of cut, with weights and without") {
  const ForestData data = forest_data(400, 1);
  const BinnedFeatures features = bin(data, 255);
  for (const auto criterion : {ForestLoss::gini, ForestLoss::nnpu, ForestLoss::upu}) {
    for (const bool random_cuts : {true, false}) {
      for (const bool weighted : {false, true}) {
        for (const bool replace : {false, true}) {
          ForestOptions options = small_forest();
          options.loss = criterion;
          options.random_cuts = random_cuts;
          options.replace_unl = replace;
          options.repeats_pos = replace ? 3 : 1;
          check_against_slow(training_set(data, features, weighted), options);
        }
      }
    }
  }
}

CASE("limits of depth and leaves, all features, single rows") {
  const ForestData data = forest_data(300, 2);
  const BinnedFeatures features = bin(data, 20);
  for (const bool random_cuts : {true, false}) {
    ForestOptions options = small_forest();
    options.random_cuts = random_cuts;
    options.max_depth = 3;
    check_against_slow(training_set(data, features), options);
    options.max_depth = 0;
    check_against_slow(training_set(data, features), options);
    options = small_forest();
    options.random_cuts = random_cuts;
    for (const index_t leaves : {1, 2, 7, 1000}) {
      options.max_leaves = leaves;
      check_against_slow(training_set(data, features), options);
    }
    options = small_forest();
    options.random_cuts = random_cuts;
    options.max_features = 100;
    options.min_leaf_rows = 1;
    check_against_slow(training_set(data, features), options);
  }
}

CASE("every form of the codes") {
  const ForestData data = forest_data(900, 3);
  const Csr csr(data);
  Team team(1);
  BinOptions sparse_bins;
  const BinnedFeatures sparse = bin_features(csr.view, sparse_bins, team);
  const BinnedFeatures dense = bin(data, 255, false);
  const BinnedFeatures pairs = bin(data, 700);
  for (const bool random_cuts : {true, false}) {
    ForestOptions options = small_forest();
    options.bag_unl = {400};
    options.random_cuts = random_cuts;
    check_against_slow(training_set(data, pairs), options);
    check_against_slow(training_set(data, sparse), options);
    ForestTrainingSet plain = training_set(data, dense);
    plain.categorical = nullptr;
    CHECK(same_forest(grow(plain, options), grow(training_set(data, sparse), options)));
  }
  const ForestData whole = forest_data(500, 4, false);
  const BinnedFeatures of_whole = bin(whole, 255, false);
  ForestTrainingSet train = training_set(whole, of_whole);
  train.categorical = nullptr;
  check_against_slow(train, small_forest());
}

CASE("the same for any number of threads, at any level, in parts") {
  const ForestData data = forest_data(9000, 5);
  const BinnedFeatures features = bin(data, 255);
  const ForestTrainingSet train = training_set(data, features);
  for (const index_t max_leaves : {0, 20}) {
    ForestOptions options = small_forest();
    options.n_trees = 37;
    options.bag_unl = {1500, 300, 40};
    options.max_leaves = max_leaves;
    const ForestResult one = grow(train, options);
    CHECK(same_forest(one, grow(train, options, 2)));
    CHECK(same_forest(one, grow(train, options, 7)));
    for (int isa = 1; isa <= static_cast<int>(fastpu::best_isa()); ++isa) {
      CHECK(same_forest(one, grow(train, options, 1, static_cast<fastpu::Isa>(isa))));
    }
    options.n_trees = 20;
    const ForestResult first = grow(train, options);
    options.first_tree = 20;
    options.n_trees = 17;
    options.first_set = static_cast<index_t>(first.sets.size());
    const ForestResult rest = grow(train, options);
    REQUIRE(first.nodes.size() + rest.nodes.size() == one.nodes.size());
    bool same = true;
    for (std::size_t k = 0; k < one.nodes.size(); ++k) {
      const std::size_t n = first.nodes.size();
      same = same && same_node(one.nodes[k], k < n ? first.nodes[k] : rest.nodes[k - n]);
    }
    CHECK(same);
    for (index_t i = 0; i < data.n; ++i) {
      CHECK(first.oob_count[at(i)] + rest.oob_count[at(i)] == one.oob_count[at(i)]);
      CHECK(check::close(first.oob_sum[at(i)] + rest.oob_sum[at(i)], one.oob_sum[at(i)], 1e-14));
    }
  }
}

CASE("rows of a cluster are out of the same bags, some of them for every cluster") {
  const ForestData data = forest_data(900, 9);
  const BinnedFeatures features = bin(data, 255);
  std::vector<std::int32_t> clusters(900);
  for (std::size_t i = 0; i < clusters.size(); ++i) clusters[i] = static_cast<std::int32_t>(i % 90);
  for (const bool weighted : {false, true}) {
    ForestTrainingSet train = training_set(data, features, weighted);
    train.clusters = clusters.data();
    ForestOptions options = small_forest();
    options.n_trees = 40;
    const ForestResult forest = grow(train, options);
    CHECK(same_forest(forest, grow(train, options, 3)));
    double n_out = 0;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      CHECK(forest.oob_count[i] == forest.oob_count[i % 90]);
      CHECK(forest.oob_count[i] > 0);
      n_out += forest.oob_count[i];
    }
    // exp(-1) of the clusters are not drawn; bags of few rows miss some others.
    CHECK(n_out / (900 * 40) > 0.33);
    CHECK(n_out / (900 * 40) < 0.5);
  }
}

CASE("bags that are drawn by numbers are those of a fit, by clusters too") {
  const ForestData data = forest_data(700, 9);
  const BinnedFeatures features = bin(data, 255);
  std::vector<std::int32_t> clusters(700);
  // The last clusters are of single rows, some of which have the weight 0.
  for (std::int32_t i = 0; i < 700; ++i) clusters[at(i)] = i < 680 ? i % 90 : i - 590;
  for (const bool weighted : {false, true}) {
    for (const bool clustered : {false, true}) {
      ForestTrainingSet train = training_set(data, features, weighted);
      if (clustered) train.clusters = clusters.data();
      const ForestOptions options = small_forest();
      fastpu::BagGroups groups;
      std::vector<std::uint32_t> rows;
      std::vector<double> weight_of;
      std::vector<std::int32_t> cluster_of;
      for (const int label : {1, 0}) {
        for (std::uint32_t i = 0; i < 700; ++i) {
          if (data.y[i] != label || (weighted && !(data.weight[i] > 0))) continue;
          rows.push_back(i);
          weight_of.push_back(data.weight[i]);
          cluster_of.push_back(clusters[i]);
          ++(label == 1 ? groups.n_pos : groups.n_unl);
        }
      }
      groups.sample_weight = weighted ? weight_of.data() : nullptr;
      groups.clusters = clustered ? cluster_of.data() : nullptr;
      groups.n_clusters = 110;
      Team team(2);
      fastpu::ForestBags bags = draw_bags(groups, options, team);
      for (std::uint32_t& row : bags.rows) row = rows[row];
      const ForestResult found = grow_on_bags(features, data.categorical.data(), bags, options, team);
      CHECK(std::ranges::equal(found.nodes, grow(train, options).nodes, same_node));
    }
  }
}

CASE("scores are the same in every form, and out of bag") {
  const ForestData data = forest_data(2000, 6);
  const BinnedFeatures features = bin(data, 255);
  const BinnedFeatures pairs = bin(data, 1000);
  const Csr csr(data);
  std::vector<float> floats(data.x.begin(), data.x.end());
  std::vector<double> rounded(floats.begin(), floats.end());
  ForestOptions options = small_forest();
  options.bag_unl = {1000};
  options.n_trees = 9;
  Team team(3);
  const auto scores = [&](const ForestResult& forest, const auto& x) {
    std::vector<double> out(at(data.n));
    tree_scores(view_of(forest, data.d), x, out.data(), team);
    return out;
  };
  for (const BinnedFeatures* binned : {&features, &pairs}) {
    const ForestResult forest = grow(training_set(data, *binned), options);
    const std::vector<double> expected = scores(forest, *binned);
    CHECK(scores(forest, data.dense()) == expected);
    CHECK(scores(forest, csr.view) == expected);
    CHECK(scores(forest, fastpu::DenseView<float>{floats.data(), data.n, data.d}) ==
          scores(forest, fastpu::DenseView<double>{rounded.data(), data.n, data.d}));
    for (index_t i = 0; i < 20; ++i) {  // a row at a time, which goes another way
      double one = 0;
      tree_scores(view_of(forest, data.d), fastpu::DenseView<double>{data.dense().row(i), 1, data.d}, &one, team);
      CHECK(one == expected[at(i)]);
      const fastpu::CsrView<double> row{csr.values.data(), csr.columns.data(), csr.row_start.data(), i + 1, data.d};
      std::vector<double> some(at(i + 1));
      tree_scores(view_of(forest, data.d), row, some.data(), team);
      CHECK(some.back() == expected[at(i)]);
    }
    std::vector<double> sums(at(data.n));
    for (index_t t = 0; t < options.n_trees; ++t) {
      ForestOptions single = options;
      single.n_trees = 1;
      single.first_tree = t;
      const ForestResult tree = grow(training_set(data, *binned), single);
      const std::vector<double> value = scores(tree, data.dense());
      for (index_t i = 0; i < data.n; ++i) sums[at(i)] += tree.oob_count[at(i)] != 0 ? value[at(i)] : 0.0;
    }
    CHECK(sums == forest.oob_sum);
  }
  Team one(1);
  BinOptions bins;
  const BinnedFeatures sparse = bin_features(csr.view, bins, one);
  const ForestResult forest = grow(training_set(data, sparse), options);
  const std::vector<double> expected = scores(forest, sparse);
  CHECK(scores(forest, csr.view) == expected);
  CHECK(scores(forest, data.dense()) == expected);
  CHECK_THROWS(std::invalid_argument, scores(forest, bin(data, 3)), "other cuts");
}

CASE("callbacks come in order and can stop") {
  const ForestData data = forest_data(300, 7);
  const BinnedFeatures features = bin(data, 255);
  ForestOptions options = small_forest();
  options.n_trees = 40;
  options.first_tree = 5;
  std::vector<index_t> seen;
  Team team(2);
  const ForestResult forest = grow_forest(
      training_set(data, features), options,
      [&](const fastpu::ForestTree& tree) {
        seen.push_back(tree.tree);
        return tree.tree == 12;
      },
      team);
  CHECK((seen == std::vector<index_t>{5, 6, 7, 8, 9, 10, 11, 12}));
  CHECK(forest.status == fastpu::ForestStatus::callback);
  options.n_trees = 8;
  ForestResult whole = grow(training_set(data, features), options);
  CHECK(whole.status == fastpu::ForestStatus::n_trees);
  CHECK(same_forest(forest, whole));
}

CASE("what cannot be grown is refused") {
  const ForestData data = forest_data(300, 8);
  const BinnedFeatures features = bin(data, 255);
  const BinnedFeatures plain = bin(data, 255, false);
  const auto refused = [&](ForestTrainingSet train, const char* message, auto change) {
    ForestOptions options = small_forest();
    change(options, train);
    CHECK_THROWS(std::invalid_argument, grow(train, options), message);
  };
  using Options = ForestOptions;
  using Train = ForestTrainingSet;
  const ForestTrainingSet train = training_set(data, features);
  refused(train, "n_trees", [](Options& o, Train&) { o.n_trees = 0; });
  refused(train, "bag_unl", [](Options& o, Train&) { o.bag_unl = {3, 0}; });
  refused(train, "bag_unl", [](Options& o, Train&) { o.bag_unl.clear(); });
  refused(train, "repeats_pos", [](Options& o, Train&) { o.repeats_pos = 0; });
  refused(train, "max_features", [](Options& o, Train&) { o.max_features = 0; });
  refused(train, "min_leaf_rows", [](Options& o, Train&) { o.min_leaf_rows = 0; });
  refused(train, "max_depth", [](Options& o, Train&) { o.max_depth = -2; });
  refused(train, "max_leaves", [](Options& o, Train&) { o.max_leaves = -1; });
  refused(train, "first_tree", [](Options& o, Train&) { o.first_tree = -1; });
  refused(train, "first_set", [](Options& o, Train&) { o.first_set = -1; });
  refused(train, "prior", [](Options& o, Train&) { o.prior = kNaN; });
  refused(training_set(data, plain), "feature 5", [](Options&, Train&) {});
  const std::vector<std::int8_t> ones(300, 1);
  refused(train, "both labels", [&](Options&, Train& t) { t.labels = ones.data(); });
  const std::vector<std::int8_t> twos(300, 2);
  refused(train, "got 2", [&](Options&, Train& t) { t.labels = twos.data(); });
  const std::vector<double> zeros(300, 0.0);
  refused(train, "sample_weight", [&](Options&, Train& t) { t.sample_weight = zeros.data(); });
  std::vector<std::int32_t> clusters(300, 0);
  for (const std::int32_t number : {-1, 300}) {
    clusters[7] = number;
    refused(train, "for row 7", [&](Options&, Train& t) { t.clusters = clusters.data(); });
  }
}
