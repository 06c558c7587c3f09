// A forest grown slowly and obviously, to be compared node by node: every node looks at all rows of the bag, every
// candidate is counted anew. Only the random numbers are drawn by the same functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "fastpu/common/random.hpp"
#include "fastpu/forest/forest.hpp"

using fastpu::at;
using fastpu::index_t;

struct SlowNode {
  double p = 0;
  double u = 0;
  index_t depth = 0;
  bool is_split = false;
  index_t feature = -1;
  bool by_categories = false;
  bool missing_right = false;
  std::uint32_t cut = 0;
  std::vector<std::uint32_t> left_codes;  // of a split by categories, those that the node met
  std::vector<std::uint32_t> right_codes;
  double gain = 0;
  double excess = 0;  // how many times the gain of a cut by chance is taken off
  std::size_t left = 0;
  std::uint64_t key = 0;
  std::vector<index_t> rows;
};

class SlowTree {
 public:
  // codes[f][row]
  SlowTree(const fastpu::ForestTrainingSet& train, const fastpu::ForestOptions& options,
           const std::vector<std::vector<std::uint32_t>>& codes, index_t number)
      : train_(train), options_(options), codes_(codes) {
    const std::uint64_t seed = fastpu::Random::derived(options.seed, static_cast<std::uint64_t>(number));
    const std::vector<index_t>& sizes = options.bag_unl;
    draw_bag(fastpu::Random(fastpu::Random::derived(seed, 0)), at(sizes[at(number) % sizes.size()]));
    grow(fastpu::Random::derived(seed, 1));
  }

  const std::vector<index_t>& bag() const { return bag_; }

  // Breadth-first.
  std::vector<SlowNode> nodes() const {
    std::vector<SlowNode> ordered{nodes_[0]};
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      if (!ordered[i].is_split) continue;
      const std::size_t left = ordered[i].left;
      ordered[i].left = ordered.size();
      ordered.push_back(nodes_[left]);
      ordered.push_back(nodes_[left + 1]);
    }
    return ordered;
  }

  double value(const SlowNode& node) const {
    const double p = node.p * (1.0 / all_p_);
    const double u = node.u * (1.0 / all_u_);
    if (options_.loss == fastpu::ForestLoss::gini) return p / (p + u);
    const double w_p = options_.prior * p;
    const double w_n = u - w_p;
    return w_n >= 0 && u > 0 ? (w_p - w_n) / u : 1.0;
  }

 private:
  void draw_bag(fastpu::Random random, std::size_t n_unl) {
    std::vector<index_t> group[2];
    for (index_t i = 0; i < train_.features->n_rows; ++i) {
      if (train_.sample_weight == nullptr || train_.sample_weight[i] > 0) group[train_.labels[i]].push_back(i);
    }
    const auto weights = [&](const std::vector<index_t>& rows) {
      std::vector<double> w;
      w.reserve(rows.size());
      for (const index_t row : rows) w.push_back(train_.sample_weight == nullptr ? 1.0 : train_.sample_weight[row]);
      return w;
    };
    const auto are_equal = [](const std::vector<double>& w) {
      return std::ranges::all_of(w, [&](double x) { return x == w[0]; });
    };
    const auto independent = [&](const std::vector<index_t>& rows, std::size_t n) {
      const std::vector<double> w = weights(rows);
      for (std::size_t k = 0; k < n; ++k) {
        if (are_equal(w)) {
          bag_.push_back(rows[random.scaled(static_cast<std::uint32_t>(rows.size()))]);
          continue;
        }
        const double left = random.unit() * std::accumulate(w.begin(), w.end(), 0.0);
        std::size_t i = 0;
        double sum = w[0];
        while (!(sum > left)) sum += w[++i];
        bag_.push_back(rows[i]);
      }
    };
    independent(group[1], group[1].size());
    const std::vector<index_t> drawn = bag_;
    for (index_t k = 1; k < options_.repeats_pos; ++k) bag_.insert(bag_.end(), drawn.begin(), drawn.end());
    all_p_ = static_cast<double>(bag_.size());
    if (options_.replace_unl) {
      independent(group[0], n_unl);
    } else if (const std::vector<double> w = weights(group[0]); are_equal(w)) {
      for (std::size_t i = 0; i < n_unl; ++i) {
        std::swap(group[0][i], group[0][i + random.scaled(static_cast<std::uint32_t>(group[0].size() - i))]);
        bag_.push_back(group[0][i]);
      }
    } else {
      std::vector<std::pair<double, index_t>> keys;
      for (std::size_t i = 0; i < w.size(); ++i) {
        const double e = -std::log(1.0 - random.unit());
        keys.emplace_back(e / w[i], group[0][i]);
      }
      std::ranges::sort(keys);
      for (std::size_t i = 0; i < std::min(keys.size(), n_unl); ++i) bag_.push_back(keys[i].second);
    }
    all_u_ = static_cast<double>(bag_.size()) - all_p_;
  }

  SlowNode make_node(const std::vector<index_t>& rows, std::uint64_t key, index_t depth) const {
    SlowNode node;
    node.rows = rows;
    node.key = key;
    node.depth = depth;
    for (const index_t row : rows) train_.labels[row] == 1 ? ++node.p : ++node.u;
    return node;
  }

  double loss(double p_rows, double u_rows) const {
    const double p = p_rows * (1.0 / all_p_);
    const double u = u_rows * (1.0 / all_u_);
    if (options_.loss == fastpu::ForestLoss::gini) return p > 0 && u > 0 ? 2.0 * p * u / (p + u) : 0.0;
    const double w_p = options_.prior * p;
    const double w_n = u - w_p;
    if (w_n > 0) return 4.0 * w_p * w_n / u;
    return options_.loss == fastpu::ForestLoss::upu ? 4.0 * w_n : 0.0;
  }

  // The mean gain of a cut that tells nothing, of rows of P drawn with replacement and of U without.
  double chance_gain(const SlowNode& node) const {
    if (node.u == 0) return 0.0;
    const double p = node.p / all_p_;
    const double u = node.u / all_u_;
    const double variance = p * u * (2.0 * u / all_p_ + p / all_u_);
    if (options_.loss == fastpu::ForestLoss::gini) return 2.0 * variance / std::pow(p + u, 3);
    return 4.0 * options_.prior * options_.prior * variance / std::pow(u, 3);
  }

  bool is_left(const SlowNode& node, index_t row) const {
    const std::uint32_t code = codes_[at(node.feature)][at(row)];
    if (can_be_missing(node.feature) && code == 0) return !node.missing_right;
    if (!node.by_categories) return code <= node.cut;
    return std::ranges::find(node.left_codes, code) != node.left_codes.end();
  }

  bool can_be_missing(index_t feature) const { return train_.features->cuts->has_missing(feature); }
  bool is_categorical(index_t feature) const {
    return train_.categorical != nullptr && train_.categorical[feature] != 0;
  }

  // Takes the candidate into `node` if it is better than what is there.
  void consider(SlowNode& node, const SlowNode& candidate) const {
    double p = 0;
    double u = 0;
    for (const index_t row : node.rows) {
      if (is_left(candidate, row)) train_.labels[row] == 1 ? ++p : ++u;
    }
    const double least = static_cast<double>(options_.min_leaf_rows);
    if (p + u < least || node.p + node.u - p - u < least) return;
    const double gain = loss(node.p, node.u) - loss(p, u) - loss(node.p - p, node.u - u) -
                        (candidate.excess > 0 ? candidate.excess * chance_gain(node) : 0.0);
    if (options_.loss != fastpu::ForestLoss::gini) {
      const double w_p = options_.prior * (node.p * (1.0 / all_p_));
      if (!(gain > 1e-12 * (w_p + std::abs(node.u * (1.0 / all_u_) - w_p)))) return;
    }
    if (node.is_split && !(gain > node.gain + 1e-12 * std::abs(node.gain))) return;
    node.is_split = true;
    node.feature = candidate.feature;
    node.by_categories = candidate.by_categories;
    node.missing_right = candidate.missing_right;
    node.cut = candidate.cut;
    node.left_codes = candidate.left_codes;
    node.right_codes = candidate.right_codes;
    node.gain = gain;
  }

  void consider_both_sides(SlowNode& node, SlowNode candidate, bool some_missing) const {
    if (some_missing) {
      consider(node, candidate);
      candidate.missing_right = true;
      return consider(node, candidate);
    }
    double n_left = 0;
    for (const index_t row : node.rows) n_left += is_left(candidate, row) ? 1 : 0;
    candidate.missing_right = can_be_missing(candidate.feature) && node.p + node.u - n_left > n_left;
    consider(node, candidate);
  }

  void search(SlowNode& node, index_t feature, double where) const {
    std::map<std::uint32_t, std::pair<double, double>> counts;
    for (const index_t row : node.rows) {
      auto& [p, u] = counts[codes_[at(feature)][at(row)]];
      train_.labels[row] == 1 ? ++p : ++u;
    }
    const bool some_missing = can_be_missing(feature) && counts.contains(0);
    if (some_missing) counts.erase(0);
    std::vector<std::uint32_t> present;
    present.reserve(counts.size());
    for (const auto& [code, count] : counts) present.push_back(code);
    SlowNode candidate;
    candidate.feature = feature;
    candidate.by_categories = is_categorical(feature);
    if (candidate.by_categories) {
      std::ranges::stable_sort(present, [&](std::uint32_t a, std::uint32_t b) {
        return counts[a].first * counts[b].second < counts[b].first * counts[a].second;
      });
    }
    const std::size_t m = present.size();
    const auto with_left = [&](std::size_t n) {
      candidate.left_codes.assign(present.begin(), present.begin() + static_cast<std::ptrdiff_t>(n));
      candidate.right_codes.assign(present.begin() + static_cast<std::ptrdiff_t>(n), present.end());
      return candidate;
    };
    if (some_missing && (m == 1 || !options_.random_cuts)) consider(node, with_left(0));  // cut 0
    if (m == 1) return;
    if (candidate.by_categories) {
      for (std::size_t k = 0; k < m && m > 2; ++k) {
        SlowNode one = candidate;
        one.left_codes = {present[k]};
        one.right_codes = present;
        one.right_codes.erase(one.right_codes.begin() + static_cast<std::ptrdiff_t>(k));
        one.excess = options_.random_cuts ? std::floor(std::log2(static_cast<double>(m))) : 0.0;
        consider_both_sides(node, one, some_missing);
      }
      const std::size_t only = 1 + static_cast<std::size_t>(where * static_cast<double>(m - 1));
      candidate.excess = static_cast<double>(std::max<std::size_t>(m, 5) - 5);
      if (options_.random_cuts && candidate.excess > 0) {
        double p = 0;
        double u = 0;
        for (std::size_t i = 0; i < only; ++i) {
          p += counts[present[i]].first;
          u += counts[present[i]].second;
        }
        const double gain = loss(node.p, node.u) - loss(p, u) - loss(node.p - p, node.u - u);
        if (!(gain > candidate.excess * chance_gain(node))) {
          fastpu::Random(static_cast<std::uint64_t>(where * 0x1p53)).shuffle(present);
        }
      }
      for (std::size_t n = 1; n < m; ++n) {
        if (!options_.random_cuts || n == only) consider_both_sides(node, with_left(n), some_missing);
      }
      return;
    }
    const double* values = train_.features->cuts->bin_values_of(feature);
    const std::uint32_t low = present.front();
    const std::uint32_t high = present.back();
    const double drawn = (1.0 - where) * values[low] + where * values[high];
    std::uint32_t only = low;
    while (only + 1 < high && values[only + 1] <= drawn) ++only;
    for (std::uint32_t cut = low; cut < high; ++cut) {
      candidate.cut = cut;
      if (options_.random_cuts ? cut == only : counts.contains(cut)) consider_both_sides(node, candidate, some_missing);
    }
  }

  void find_split(SlowNode& node) const {
    if (node.depth == options_.max_depth || node.p + node.u < 2.0 * static_cast<double>(options_.min_leaf_rows)) return;
    const double w_n = node.u * (1.0 / all_u_) - options_.prior * (node.p * (1.0 / all_p_));
    if (node.p == 0 || (options_.loss == fastpu::ForestLoss::gini && node.u == 0) ||
        (options_.loss == fastpu::ForestLoss::nnpu && w_n <= 0)) {
      return;
    }
    std::vector<index_t> varying;
    for (std::size_t f = 0; f < codes_.size(); ++f) {
      const auto differs = [&](index_t row) { return codes_[f][at(row)] != codes_[f][at(node.rows[0])]; };
      if (std::ranges::any_of(node.rows, differs)) varying.push_back(static_cast<index_t>(f));
    }
    fastpu::Random random(fastpu::Random::derived(node.key, 2));
    std::vector<std::pair<index_t, double>> drawn;
    for (std::size_t i = 0; i < std::min(varying.size(), at(options_.max_features)); ++i) {
      std::swap(varying[i], varying[i + random.scaled(static_cast<std::uint32_t>(varying.size() - i))]);
      drawn.emplace_back(varying[i], options_.random_cuts ? random.unit() : 0.0);
    }
    for (const auto& [feature, where] : drawn) search(node, feature, where);
  }

  void grow(std::uint64_t key) {
    nodes_.push_back(make_node(bag_, key, 0));
    find_split(nodes_[0]);
    std::vector<std::size_t> open{0};
    index_t n_leaves = 1;
    while (!open.empty()) {
      auto next = open.begin();
      for (auto it = open.begin(); it != open.end() && options_.max_leaves > 0; ++it) {
        if (nodes_[*it].is_split && (!nodes_[*next].is_split || nodes_[*it].gain > nodes_[*next].gain)) next = it;
      }
      const std::size_t number = *next;
      open.erase(next);
      if (!nodes_[number].is_split) continue;
      if (options_.max_leaves > 0 && n_leaves == options_.max_leaves) {
        nodes_[number].is_split = false;
        continue;
      }
      ++n_leaves;
      std::vector<index_t> side[2];
      for (const index_t row : nodes_[number].rows) side[is_left(nodes_[number], row) ? 0 : 1].push_back(row);
      nodes_[number].left = nodes_.size();
      for (std::size_t k = 0; k < 2; ++k) {
        SlowNode child = make_node(side[k], fastpu::Random::derived(nodes_[number].key, k), nodes_[number].depth + 1);
        find_split(child);
        open.push_back(nodes_.size());
        nodes_.push_back(child);
      }
    }
  }

  const fastpu::ForestTrainingSet& train_;
  const fastpu::ForestOptions& options_;
  const std::vector<std::vector<std::uint32_t>>& codes_;
  std::vector<index_t> bag_;
  double all_p_ = 0;
  double all_u_ = 0;
  std::vector<SlowNode> nodes_;
};
