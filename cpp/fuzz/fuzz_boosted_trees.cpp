// Boosted trees on whatever features: what their nodes say, their leaves and splits by slow sums, and the same bits for
// threads, levels and rounds that are added later.
#include "fastpu/boosting/boosted_trees.hpp"

#include <algorithm>
#include <ranges>

#include "fastpu/tree/tree_scores.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::BoostedTreesOptions;
using fastpu::BoostedTreesResult;
using fastpu::BoostedTreesTrainingSet;
using fastpu::BoostEvalSet;
using fastpu::Team;
using fastpu::TreeNode;
using fastpu::TreesView;

BoostedTreesOptions options_of(Input& input) {
  BoostedTreesOptions options;
  options.loss = input.one_of(fastpu::tree_losses()).name;
  options.gamma = input.wrong(input.share());
  options.prior = input.wrong(input.flag() ? 0.5 : input.share());
  options.n_rounds = input.rarely(64) ? 0 : input.between(1, 4);
  options.learning_rate = input.wrong(input.one_of<double, 4>({0.1, 1, 1e-3, 1e3}));
  options.max_leaves = input.rarely(64) ? 1 : input.between(2, 9);
  options.max_depth = input.rarely(4) ? input.between(0, 3) : -1;
  options.min_leaf_rows = input.wrong(input.one_of<double, 4>({1, 2, 0.5, 5}));
  options.min_leaf_hessian = input.wrong(input.one_of<double, 4>({0, 1e-3, 1, 1e-200}));
  options.lam = input.wrong(input.one_of<double, 5>({1, 0, 1e-12, 1e3, 1e100}));
  options.subsample_unl = input.rarely(4) ? input.share() : 1;
  options.max_features = input.rarely(4) ? input.between(1, 3) : 0;
  options.n_bags = input.rarely(4) ? input.between(1, 3) : 0;
  options.bag_unl.resize(at(input.below(3)));
  for (index_t& draws : options.bag_unl) draws = input.below(4);
  options.replace_unl = input.flag();
  options.early_stopping_rounds = input.rarely(8) ? input.between(1, 2) : 0;
  options.seed = input.byte();
  return options;
}

TreesView view_of(const BoostedTreesResult& result, index_t n_features) {
  return {result.nodes.data(),
          static_cast<index_t>(result.nodes.size()),
          result.tree_start.data(),
          static_cast<index_t>(result.tree_start.size()) - 1,
          result.sets.data(),
          static_cast<index_t>(result.sets.size()),
          n_features};
}

bool same_results(const BoostedTreesResult& a, const BoostedTreesResult& b) {
  const auto same_nodes = [](const TreeNode& x, const TreeNode& y) {
    return x.threshold == y.threshold && x.split == y.split && x.left == y.left && x.cover == y.cover &&
           x.gain == y.gain;
  };
  const auto same_sets = [](const fastpu::CategorySet& x, const fastpu::CategorySet& y) { return x.words == y.words; };
  return std::ranges::equal(a.nodes, b.nodes, same_nodes) && a.tree_start == b.tree_start &&
         std::ranges::equal(a.sets, b.sets, same_sets) && same_bits(a.tree_risk, b.tree_risk) &&
         same_bits(a.risk, b.risk) && same_bits(a.eval_auc, b.eval_auc) && same_bits(a.oob_sum, b.oob_sum) &&
         a.oob_count == b.oob_count && a.status == b.status && a.best_round == b.best_round;
}

// The nodes of a tree: their numbers, and how many rows reach each of them.
void check_tree(const TreeNode* nodes, index_t n_nodes, const BoostedTreesOptions& options) {
  FUZZ_CHECK(n_nodes % 2 == 1 && n_nodes <= 2 * options.max_leaves - 1);
  std::vector<index_t> depth(at(n_nodes));
  for (index_t k = 0; k < n_nodes; ++k) {
    const TreeNode& node = nodes[k];
    FUZZ_CHECK(options.max_depth < 0 || depth[at(k)] <= options.max_depth);
    if (node.is_leaf()) {
      FUZZ_CHECK(std::isfinite(node.threshold) && node.gain == 0);
      continue;
    }
    FUZZ_CHECK(node.left > k && node.left + 1 < n_nodes && node.gain >= 0);
    FUZZ_CHECK(nodes[node.left].cover + nodes[node.left + 1].cover == node.cover);
    depth[at(node.left)] = depth[at(node.left) + 1] = depth[at(k)] + 1;
  }
}

struct Problem {
  BoostedTreesTrainingSet train;
  std::vector<std::int8_t> labels;
  std::vector<double> weights;

  index_t n_rows() const { return train.features->n_rows; }
  double weight(index_t i) const { return weights.empty() ? 1.0 : weights[at(i)]; }
};

// What the rows of a group weigh, and the sums of their derivatives.
struct Side {
  double weight = 0;
  double g = 0;
  double h = 0;

  void add(double w, double row_g, double row_h) { weight += w, g += row_g, h += row_h; }
  double score(double lam) const { return h + lam > 0 ? g * g / (h + lam) : 0.0; }
};

// The first tree, grown on all rows at scores of 0, by sums over its rows. Numbers are plain, so that rounding is
// small.
template <class T>
void check_first_tree(const Matrix<T>& x, const Problem& problem, const BoostedTreesOptions& options,
                      const BoostedTreesResult& result, Team& team) {
  const index_t n = problem.n_rows();
  const std::vector<double> scores(at(n));
  std::vector<double> g(at(n));
  std::vector<double> h(at(n));
  const fastpu::TreeLossRows rows{problem.labels.data(), problem.train.sample_weight, n};
  make_tree_loss(rows, options, team)->derive_alone({scores.data(), nullptr}, g.data(), h.data(), team);
  std::vector<Side> sides(at(result.tree_start[1]));
  double size_g = 0;
  double size_h = 0;
  const auto leaf_of = [&](index_t i, auto&& visit) {
    index_t k = 0;
    while (true) {
      const TreeNode& node = result.nodes[at(k)];
      visit(k);
      if (node.is_leaf()) return;
      const T value = x.dense[at(i * x.d + node.feature())];
      k = node.left + (static_cast<double>(value) <= node.threshold ? 0 : 1);
    }
  };
  for (index_t i = 0; i < n; ++i) {
    size_g += std::fabs(g[at(i)]);
    size_h += h[at(i)];
    leaf_of(i, [&](index_t k) { sides[at(k)].add(problem.weight(i), g[at(i)], h[at(i)]); });
  }
  // A row whose weight is k times the unit of the weights is rounded k times: up to 2^17 units of 2^-31 in all.
  const bool are_whole = std::ranges::all_of(problem.weights, [](double w) { return w == std::floor(w); });
  const double share = are_whole ? 1e-7 : 1e-4;
  const double error_g = share * size_g;
  const double error_h = share * size_h;
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const TreeNode& node = result.nodes[k];
    if (k > 0) FUZZ_CHECK(sides[k].weight >= options.min_leaf_rows);
    if (k > 0) FUZZ_CHECK(sides[k].h >= options.min_leaf_hessian - error_h);
    const double curvature = sides[k].h + options.lam;
    if (!node.is_leaf() || curvature < 1e-3) continue;
    const double value = -options.learning_rate * sides[k].g / curvature;
    FUZZ_CHECK(std::fabs(node.threshold - value) <= options.learning_rate * error_g / curvature);
  }
  // No cut of the root gains more.
  const TreeNode& root = result.nodes[0];
  const double curvature = std::max(options.min_leaf_hessian, options.lam);
  if (curvature < 1e-3 || options.lam > 1e6) return;  // gains are kept as floats
  const double error = 8 * (size_g * error_g + size_g * size_g * error_h / curvature) / curvature;
  for (index_t f = 0; f < x.d && options.max_depth != 0 && options.max_features == 0; ++f) {
    const double* cuts = problem.train.features->cuts->of(f);
    for (index_t c = 0; c < problem.train.features->cuts->count(f); ++c) {
      Side left;
      Side right;
      for (index_t i = 0; i < n; ++i) {
        const bool goes_left = static_cast<double>(x.dense[at(i * x.d + f)]) <= cuts[c];
        (goes_left ? left : right).add(problem.weight(i), g[at(i)], h[at(i)]);
      }
      if (std::min(left.weight, right.weight) < options.min_leaf_rows) continue;
      if (std::min(left.h, right.h) < options.min_leaf_hessian + error_h) continue;
      const double gain = left.score(options.lam) + right.score(options.lam) - sides[0].score(options.lam);
      FUZZ_CHECK(gain <= static_cast<double>(root.gain) * (1 + 1e-6) + error + 1e-8 * sides[0].score(options.lam));
    }
  }
}

template <class T>
void check_result(const Matrix<T>& x, const Problem& problem, const BoostedTreesOptions& options,
                  const BoostedTreesResult& result, Team& team) {
  const TreesView trees = view_of(result, x.d);
  check_trees(trees);
  const index_t n_bags = std::max<index_t>(options.n_bags, 1);
  FUZZ_CHECK(result.best_round <= options.n_rounds && trees.n_trees == n_bags * result.best_round);
  FUZZ_CHECK(all_finite(result.risk) && all_finite(result.tree_risk));
  FUZZ_CHECK(static_cast<index_t>(result.tree_risk.size()) == trees.n_trees);
  for (index_t t = 0; t < trees.n_trees; ++t) {
    check_tree(trees.nodes + trees.tree_start[t], trees.tree_start[t + 1] - trees.tree_start[t], options);
  }
  // The same scores from every form of the rows.
  std::vector<double> scores(at(x.n));
  std::vector<double> same(at(x.n));
  tree_scores(trees, x.dense_view(), scores.data(), team);
  FUZZ_CHECK(all_finite(scores));
  tree_scores(trees, x.csr_view(), same.data(), team);
  FUZZ_CHECK(same_bits(scores, same));
  tree_scores(trees, *problem.train.features, same.data(), team);
  FUZZ_CHECK(same_bits(scores, same));
  if (options.n_bags > 0) {
    FUZZ_CHECK(all_finite(result.oob_sum));
    for (const std::int32_t count : result.oob_count) FUZZ_CHECK(count >= 0 && count <= n_bags);
    return;
  }
  // The risk of these scores.
  if (trees.n_trees == 0) return;
  const fastpu::TreeLossRows rows{problem.labels.data(), problem.train.sample_weight, x.n};
  const auto loss = make_tree_loss(rows, options, team);
  const auto tops = loss->tops({scores.data(), nullptr}, team);
  const double risk = loss->objective(tops, loss->sums({scores.data(), nullptr}, tops, team));
  FUZZ_CHECK(std::fabs(risk - result.tree_risk.back()) <= 1e-9 * (1 + std::fabs(risk)));
}

// Rounds in two fits.
void check_continuation(const Problem& problem, const BoostedTreesOptions& options, const BoostedTreesResult& result,
                        Team& team) {
  BoostedTreesOptions part = options;
  part.n_rounds = 1;
  const BoostedTreesResult first = boost_trees(problem.train, nullptr, part, {}, team);
  if (first.status != fastpu::BoostedTreesStatus::n_rounds) return;
  part.n_rounds = options.n_rounds - 1;
  part.init = view_of(first, problem.train.features->n_features);
  const BoostedTreesResult second = boost_trees(problem.train, nullptr, part, {}, team);
  const index_t n_bags = std::max<index_t>(options.n_bags, 1);
  FUZZ_CHECK(second.best_round + 1 == result.best_round &&
             same_bits(first.risk, {result.risk.begin(), result.risk.begin() + 1}));
  FUZZ_CHECK(same_bits(second.risk, {result.risk.begin() + 1, result.risk.end()}));
  FUZZ_CHECK(first.nodes.size() + second.nodes.size() == result.nodes.size());
  FUZZ_CHECK(n_bags > 1 || std::ranges::equal(second.nodes, result.nodes | std::views::drop(first.nodes.size()), {},
                                              &TreeNode::cover, &TreeNode::cover));
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(2);
  const Matrix<T> x(input, n, input.between(1, 4));
  const BoostedTreesOptions options = options_of(input);
  Problem problem;
  problem.labels = fastpu::tree_loss_info(options.loss).takes_negatives ? labels_of(input, n, {1, 0, -1})
                                                                        : labels_of(input, n, {1, 0});
  const bool are_repetitions = input.flag();
  if (input.flag()) {
    for (index_t i = 0; i < n; ++i) {
      problem.weights.push_back(are_repetitions || !input.rarely(4) ? static_cast<double>(input.between(0, 4))
                                                                    : std::fabs(input.real()));
      if (!std::isfinite(problem.weights.back())) problem.weights.back() = 0;
    }
  }
  Team team(input.n_threads(), {}, input.isa());
  BinOptions bins;
  bins.max_bins = input.one_of<index_t, 4>({1, 2, 255, 65535});
  bins.sample_weight = problem.weights.empty() ? nullptr : problem.weights.data();
  const bool is_dense = input.flag();
  std::vector<std::uint8_t> categorical;
  if (is_dense && input.rarely(3)) {
    for (index_t f = 0; f < x.d; ++f) categorical.push_back(input.flag() ? 1 : 0);
    bins.categorical = categorical.data();
  }
  BinnedFeatures binned;
  if (!accepted([&] {
        binned = is_dense ? bin_features(x.dense_view(), bins, team) : bin_features(x.csr_view(), bins, team);
      })) {
    return;
  }
  problem.train = {&binned, problem.labels.data(), bins.sample_weight, bins.categorical};
  BoostEvalSet eval;
  eval.features = x.dense_view();
  if (input.rarely(3)) eval.features = &binned;
  const auto eval_labels = labels_of(input, n, {1, -1, 0});
  eval.labels = eval_labels.data();
  const BoostEvalSet* judge = input.rarely(3) ? &eval : nullptr;
  BoostedTreesResult result;
  if (!accepted([&] { result = boost_trees(problem.train, judge, options, {}, team); })) return;
  check_result(x, problem, options, result, team);
  const bool is_simple = categorical.empty() && options.n_bags == 0 && options.subsample_unl == 1;
  const bool is_light = std::ranges::all_of(problem.weights, [](double weight) { return weight <= 8; });
  if (is_simple && is_light && input.is_plain() && result.best_round > 0) {
    check_first_tree(x, problem, options, result, team);
  }
  if (input.rarely(8)) {
    Team other(2, {}, fastpu::Isa::baseline);
    FUZZ_CHECK(same_results(result, boost_trees(problem.train, judge, options, {}, other)));
  }
  const bool made_all = result.status == fastpu::BoostedTreesStatus::n_rounds && judge == nullptr;
  if (made_all && options.n_rounds > 1 && input.rarely(4)) check_continuation(problem, options, result, team);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
