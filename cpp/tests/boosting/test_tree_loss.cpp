// Losses for trees: derivatives against differences of the objective, the same bits for threads, levels and shards,
// weights as repeated rows, scores far apart, and what is refused.
#include "fastpu/boosting/tree_loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using fastpu::at;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::Team;
using fastpu::TreeLoss;
using fastpu::TreeLossInfo;
using fastpu::TreeLossOptions;
using fastpu::TreeLossRows;
using fastpu::TreeLossScores;
using fastpu::TreeLossSums;
using fastpu::TreeLossTops;

struct Data {
  std::vector<std::int8_t> labels;
  std::vector<double> weights;
  std::vector<double> scores;
  std::vector<std::uint8_t> takes_part;

  TreeLossRows rows(bool weighted = true) const {
    return {labels.data(), weighted ? weights.data() : nullptr, static_cast<index_t>(labels.size())};
  }
  TreeLossScores drawn() const { return {scores.data(), takes_part.data()}; }
};

Data make_data(std::size_t n, bool with_negatives, double spread, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    data.labels.push_back(static_cast<std::int8_t>(i % 3 == 0 ? 1 : with_negatives && i % 3 == 1 ? -1 : 0));
    data.weights.push_back(static_cast<double>(random() % 4));
    data.scores.push_back(spread * normal(random));
    data.takes_part.push_back(data.labels.back() == 1 || random() % 3 != 0 ? 1 : 0);
  }
  return data;
}

TreeLossOptions options_of(const std::string& name) { return {name, 0.7, 0.3}; }

struct Derived {
  double objective = 0;
  std::vector<double> g;
  std::vector<double> h;

  bool operator==(const Derived&) const = default;
};

Derived derive(const TreeLossRows& rows, const TreeLossScores& scores, const TreeLossOptions& options,
               int n_threads = 1, Isa isa = fastpu::best_isa()) {
  Team team(n_threads, {}, isa);
  Derived found{0, std::vector<double>(at(rows.n_rows)), std::vector<double>(at(rows.n_rows))};
  const std::unique_ptr<TreeLoss> loss = make_tree_loss(rows, options, team);
  const TreeLossTops tops = loss->tops(scores, team);
  const TreeLossSums sums = loss->sums(scores, tops, team);
  loss->derive(scores, tops, sums, found.g.data(), found.h.data(), team);
  found.objective = loss->objective(tops, sums);
  return found;
}

double objective_at(const Data& data, const std::vector<double>& scores, const TreeLossOptions& options) {
  return derive(data.rows(), {scores.data(), data.takes_part.data()}, options).objective;
}

double weight_that_takes_part(const Data& data) {
  double n = 0;
  for (std::size_t i = 0; i < data.labels.size(); ++i) n += data.takes_part[i] * data.weights[i];
  return n;
}

}  // namespace

CASE("g and h are the differences of the objective") {
  for (const TreeLossInfo& info : fastpu::tree_losses()) {
    const std::string name = info.name;
    for (const bool with_negatives : {false, true}) {
      if (with_negatives && !info.takes_negatives) continue;
      const Data data = make_data(61, with_negatives, 1, 1);
      const TreeLossOptions options = options_of(name);
      const Derived found = derive(data.rows(), data.drawn(), options);
      const double n = weight_that_takes_part(data);
      constexpr double kStep = 1e-4;
      for (std::size_t i = 0; i < data.scores.size(); ++i) {
        std::vector<double> moved = data.scores;
        moved[i] += kStep;
        const double above = objective_at(data, moved, options);
        moved[i] -= 2 * kStep;
        const double below = objective_at(data, moved, options);
        CHECK(std::abs(found.g[i] - n * (above - below) / (2 * kStep)) < 1e-5);
        if (!info.is_by_row) continue;  // then h leaves out how the means move with the score
        const double middle = found.objective;
        CHECK(std::abs(found.h[i] - n * (above + below - 2 * middle) / (kStep * kStep)) < 1e-4);
      }
    }
  }
}

CASE("h of pnu_auc is the second derivative of R, over R") {
  const Data data = make_data(61, true, 1, 2);
  const TreeLossOptions options = options_of("pnu_auc");
  const Derived found = derive(data.rows(), data.drawn(), options);
  const double n = weight_that_takes_part(data);
  constexpr double kStep = 1e-4;
  const double middle = std::exp(found.objective);
  for (std::size_t i = 0; i < data.scores.size(); ++i) {
    std::vector<double> moved = data.scores;
    moved[i] += kStep;
    const double above = std::exp(objective_at(data, moved, options));
    moved[i] -= 2 * kStep;
    const double below = std::exp(objective_at(data, moved, options));
    CHECK(std::abs(found.h[i] - n * (above + below - 2 * middle) / (kStep * kStep) / middle) < 1e-4);
  }
}

CASE("the bits are the same for all levels, threads and shards") {
  for (const TreeLossInfo& info : fastpu::tree_losses()) {
    const std::string name = info.name;
    const Data data = make_data(100'003, info.takes_negatives, 5, 4);
    const Derived expected = derive(data.rows(), data.drawn(), options_of(name), 1, Isa::baseline);
    for (const Isa isa : {Isa::avx2, Isa::avx512}) {
      if (isa > fastpu::best_isa()) continue;
      for (const int n_threads : {1, 2, 7}) {
        CHECK(derive(data.rows(), data.drawn(), options_of(name), n_threads, isa) == expected);
      }
    }
    // Three holders of rows, one of them without any.
    Team team(1);
    const index_t starts[] = {0, 777, 777, 100'003};
    std::vector<std::unique_ptr<TreeLoss>> losses;
    std::vector<TreeLossScores> scores;
    TreeLossTops tops;
    for (int k = 0; k < 3; ++k) {
      const TreeLossRows rows{data.labels.data() + starts[k], data.weights.data() + starts[k],
                              starts[k + 1] - starts[k]};
      losses.push_back(make_tree_loss(rows, options_of(name), team));
      scores.push_back({data.scores.data() + starts[k], data.takes_part.data() + starts[k]});
      tops.extend(losses.back()->tops(scores.back(), team));
    }
    TreeLossSums sums;
    for (std::size_t k = 3; k-- > 0;) sums.add(losses[k]->sums(scores[k], tops, team));
    Derived found = expected;
    std::ranges::fill(found.g, 0);
    for (std::size_t k = 0; k < 3; ++k) {
      losses[k]->derive(scores[k], tops, sums, found.g.data() + starts[k], found.h.data() + starts[k], team);
      CHECK(losses[k]->objective(tops, sums) == expected.objective);
    }
    CHECK(found == expected);
  }
}

CASE("a weight counts as so many rows, and a row that does not take part as none") {
  for (const TreeLossInfo& info : fastpu::tree_losses()) {
    const std::string name = info.name;
    const Data data = make_data(500, info.takes_negatives, 2, 5);
    Data repeated;
    std::vector<std::size_t> original;
    for (std::size_t i = 0; i < 500; ++i) {
      for (int k = 0; k < static_cast<int>(data.weights[i]) * data.takes_part[i]; ++k) {
        repeated.labels.push_back(data.labels[i]);
        repeated.scores.push_back(data.scores[i]);
        original.push_back(i);
      }
    }
    const Derived found = derive(data.rows(), data.drawn(), options_of(name));
    const Derived expected = derive(repeated.rows(false), {repeated.scores.data(), nullptr}, options_of(name));
    CHECK(check::close(found.objective, expected.objective, 1e-14));
    for (std::size_t k = 0; k < original.size(); ++k) {
      const std::size_t i = original[k];
      CHECK(check::close(found.g[i], data.weights[i] * expected.g[k], 1e-13));
      CHECK(check::close(found.h[i], data.weights[i] * expected.h[k], 1e-13));
    }
    for (std::size_t i = 0; i < 500; ++i) {
      if (data.weights[i] * data.takes_part[i] == 0) CHECK(found.g[i] == 0 && found.h[i] == 0);
    }
  }
}

CASE("scores that e^F could not hold give finite numbers") {
  for (const TreeLossInfo& info : fastpu::tree_losses()) {
    const std::string name = info.name;
    for (const double spread : {1e3, 1e9, 1e100}) {
      const Data data = make_data(400, info.takes_negatives, spread, 6);
      const Derived found = derive(data.rows(), data.drawn(), options_of(name));
      CHECK(std::isfinite(found.objective));
      for (std::size_t i = 0; i < 400; ++i) {
        CHECK(std::isfinite(found.g[i]) && std::isfinite(found.h[i]) && found.h[i] >= 0);
      }
    }
  }
  // A common shift changes nothing in the AUC.
  Data data = make_data(400, true, 1, 7);
  const Derived found = derive(data.rows(), data.drawn(), options_of("pnu_auc"));
  for (double& score : data.scores) score += 4096;
  const Derived shifted = derive(data.rows(), data.drawn(), options_of("pnu_auc"));
  for (std::size_t i = 0; i < 400; ++i) CHECK(check::close(found.g[i], shifted.g[i], 1e-10));
}

CASE("sums of |g| and h keep within their bounds, which need no rows") {
  Team team(2);
  for (const TreeLossInfo& info : fastpu::tree_losses()) {
    const std::string name = info.name;
    const std::unique_ptr<TreeLoss> elsewhere = make_tree_loss({}, options_of(name), team);
    for (const double spread : {0.0, 1.0, 40.0, 1e4, 1e9}) {
      const Data data = make_data(3000, info.takes_negatives, spread, 8);
      const std::unique_ptr<TreeLoss> loss = make_tree_loss(data.rows(), options_of(name), team);
      const TreeLossTops tops = loss->tops(data.drawn(), team);
      const TreeLossSums sums = loss->sums(data.drawn(), tops, team);
      const fastpu::TreeLossBounds bounds = elsewhere->bounds(tops, sums);
      const Derived found = derive(data.rows(), data.drawn(), options_of(name));
      double g = 0;
      double h = 0;
      for (std::size_t i = 0; i < data.labels.size(); ++i) {
        g += std::abs(found.g[i]);
        h += found.h[i];
      }
      CHECK(elsewhere->objective(tops, sums) == found.objective);
      CHECK(g <= bounds.g * (1 + 1e-12) && h <= bounds.h * (1 + 1e-12));
      if (spread == 0) CHECK(bounds.g <= 2 * g && bounds.h <= h * (1 + 1e-12));
    }
  }
}

CASE("what is wrong is refused") {
  Data data = make_data(40'000, true, 1, 8);
  const auto derived = [&](const std::string& name) { return derive(data.rows(), data.drawn(), options_of(name)); };
  CHECK_THROWS(std::invalid_argument, derived("hinge"), "there is no loss 'hinge'");
  CHECK_THROWS(std::invalid_argument, derived("upu"), "labels must be 1 or 0, got -1 in row 1");
  for (const double gamma : {-0.1, 1.1, std::nan("")}) {
    const TreeLossOptions options{"pnu_auc", gamma, 0.5};
    CHECK_THROWS(std::invalid_argument, derive(data.rows(), data.drawn(), options), "gamma must be in [0, 1]");
  }
  for (const double prior : {0.0, 1.0, std::nan("")}) {
    const TreeLossOptions options{"upu", 0.5, prior};
    CHECK_THROWS(std::invalid_argument, derive(data.rows(), data.drawn(), options), "prior must be in (0, 1)");
  }
  data.scores[30'000] = -fastpu::kInfinity;
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"),
               "scores must be finite and below 2^900, got -inf in row 30000");
  data.scores[30'000] = std::nan("");
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"), "in row 30000");
  data.scores[30'000] = 0;
  data.weights[3] = -1;
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"), "sample_weight must be finite and at least 0, got -1");
  data.weights[3] = 1e300;
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"), "below 2^900");
  data.weights[3] = 1;
  data.scores[39'999] = -1e300;
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"), "scores must be finite and below 2^900");
  data.scores[39'999] = 0;
  data.labels[5] = 2;
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"), "labels must be 1, 0 or -1, got 2 in row 5");
  std::ranges::fill(data.labels, std::int8_t{1});
  CHECK_THROWS(std::invalid_argument, derived("pnu_auc"), "at least two of positive");
  CHECK_THROWS(std::invalid_argument, derived("logistic"), "rows of the label 0");
}
