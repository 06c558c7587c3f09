#include "svm/margin_task.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/to_text.hpp"
#include "svm/window.hpp"

namespace fastpu::detail {

namespace {

[[noreturn]] void refuse(const char* name, index_t row, const std::string& value, const std::string& wanted) {
  throw std::invalid_argument(std::string(name) + " of row " + std::to_string(row) + " must be " + wanted + ", got " +
                              value);
}

}  // namespace

MarginTask::MarginTask(const MarginProblem& problem, index_t n, double size) {
  index_t n_costs = 0;
  for (index_t i = 0; i < n; ++i) {
    if (problem.labels[i] != 1 && problem.labels[i] != -1) {
      refuse("label", i, std::to_string(problem.labels[i]), "1 or -1");
    }
    if (problem.slopes != nullptr && problem.slopes[i] > 1) {
      refuse("slope", i, std::to_string(problem.slopes[i]), "0 or 1");
    }
    const bool is_cost = problem.costs[i] >= 0 && problem.costs[i] <= kMostRowCost;
    if (!is_cost) refuse("cost", i, to_text(problem.costs[i]), "between 0 and " + to_text(kMostRowCost));
    if (problem.costs[i] > 0) ++n_costs;
  }
  if (n_costs == 0) throw std::invalid_argument("some cost must be above 0, got 0 for all rows");
  n_ = n_costs;
  if (n_costs < n) {
    rows_ = reserve_vector<index_t>(n_costs, "rows that have a cost");
    for (index_t i = 0; i < n; ++i) {
      if (problem.costs[i] > 0) rows_.push_back(i);
    }
  }
  cost_ = AlignedBuffer<double>(n_, "costs");
  label_ = AlignedBuffer<double>(n_, "labels");
  side_ = AlignedBuffer<double>(n_, "sides");
  for (index_t i = 0; i < n_; ++i) {
    const index_t from = row(i);
    const bool is_down = problem.slopes != nullptr && problem.slopes[from] != 0;
    cost_[i] = problem.costs[from];
    label_[i] = problem.labels[from];
    side_[i] = is_down ? -label_[i] : label_[i];
    (side_[i] > 0 ? cost_pos_ : cost_neg_) += cost_[i];
    if (is_down) constant_ += cost_[i];
  }
  // |w| is at most this; neither its square nor its products with scores and costs may overflow.
  const double most = (cost_pos_ + cost_neg_) * std::sqrt(static_cast<double>(n) * size);
  if (!(most <= 1e140)) {
    throw std::invalid_argument("costs must be smaller: their sum is " + to_text(cost_pos_ + cost_neg_) +
                                ", which is more than can be computed with for rows of this size; scale X");
  }
}

void score_rows(RowPass& pass, const double* w, double* scores) {
  pass.run(w, 0, nullptr, [&](const RowBlock& block) { std::copy_n(block.products, block.n, scores + block.first); });
}

void sum_rows(RowPass& pass, const double* v, double* sum) {
  double* const sums[] = {sum};
  pass.run(nullptr, 1, sums, [&](const RowBlock& block) { std::copy_n(v + block.first, block.n, block.weights[0]); });
}

InterceptInterval best_intercepts(const MarginTask& task, const double* scores) {
  auto points = make_vector<Breakpoint>(task.n(), "margins");
  for (index_t i = 0; i < task.n(); ++i) points[at(i)] = {task.label()[i] - scores[i], task.cost()[i]};
  return best_intercepts(points, task.cost_of_side(1));
}

void make_feasible(const MarginTask& task, double* v) {
  const index_t n = task.n();
  const double* side = task.side();
  const double* cost = task.cost();
  const auto room_of = [&](index_t i) { return std::min(side[i] * v[i], cost[i] - side[i] * v[i]); };
  double pos = 0;
  double neg = 0;
  double room = 0;
  for (index_t i = 0; i < n; ++i) {
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): the analyzer does not know that a task keeps its size
    v[i] = side[i] * std::clamp(side[i] * v[i], 0.0, cost[i]);
    (side[i] > 0 ? pos : neg) += side[i] * v[i];
    room += room_of(i);
  }
  double sum = pos - neg;
  if (room > 2 * std::abs(sum)) {
    for (index_t i = 0; i < n; ++i) v[i] -= sum * (room_of(i) / room);
  } else {
    const double factor = std::max(pos, neg) > 0 ? std::min(pos, neg) / std::max(pos, neg) : 1.0;
    const double larger_side = pos > neg ? 1 : -1;
    for (index_t i = 0; i < n; ++i) v[i] *= side[i] == larger_side ? factor : 1.0;
  }
  // What rounding leaves of the sum goes to the row that has the most room.
  for (int round = 0; round < 4; ++round) {
    sum = 0;
    index_t best = -1;
    double most_room = 0;
    for (index_t i = 0; i < n; ++i) {
      sum += v[i];
      if (room_of(i) <= most_room) continue;
      most_room = room_of(i);
      best = i;
    }
    if (sum == 0 || best < 0) return;
    v[best] -= std::clamp(sum, -most_room, most_room);
  }
}

namespace {

// The losses sum c_i (lack of row i)_+, and P - D without the term of w: a sum of one term >= 0 for each row, so that
// nothing cancels.
struct Losses {
  double loss = 0;
  double slack = 0;
  double rounding = 0;   // the largest lack among rows that are at their margin but for rounding
  double violation = 0;  // the largest of the optimality conditions, by a pair of rows
};

// Measures the losses of scores `multiple` times f.
Losses measure(const MarginTask& task, const double* v, const double* f, double multiple) {
  constexpr double kRoundingOfScores = 1e-10;
  Losses losses;
  Window window;
  for (index_t i = 0; i < task.n(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): the analyzer does not know that a task keeps its size
    const double lack = task.lack(i, multiple * f[i]);
    const double inside = task.side()[i] * v[i];
    const bool is_positive = task.side()[i] > 0;
    const bool is_below_cost = inside < task.cost()[i];
    const bool is_above_zero = inside > 0;
    window.see(-task.side()[i] * lack, is_positive ? is_below_cost : is_above_zero,
               is_positive ? is_above_zero : is_below_cost);
    if (lack > 0) {
      losses.loss += task.cost()[i] * lack;
      losses.slack += (task.cost()[i] - inside) * lack;
      if (lack < kRoundingOfScores) losses.rounding = std::max(losses.rounding, lack);
    } else {
      losses.slack -= inside * lack;
    }
  }
  losses.violation = window.violation();
  return losses;
}

// Completes the certificate of its w; dual_w is sum v_i x_i, or null if that equals w.
void complete(RowPass& pass, const MarginTask& task, const double* v, double* dual_w, Certificate& certificate) {
  const index_t n = task.n();
  const index_t p = pass.n_features();
  certificate.w[p] = 0;
  certificate.f = AlignedBuffer<double>(n, "scores");
  double* const sums[] = {dual_w};
  pass.run(certificate.w.data(), dual_w == nullptr ? 0 : 1, sums, [&](const RowBlock& block) {
    std::copy_n(block.products, block.n, certificate.f.data() + block.first);
    if (dual_w != nullptr) std::copy_n(v + block.first, block.n, block.weights[0]);
  });

  const InterceptInterval best = best_intercepts(task, certificate.f.data());
  certificate.w[p] = best.middle;
  certificate.intercept_low = best.low;
  certificate.intercept_high = best.high;

  double squared_norm = 0;
  double along = 0;  // w'(w - dual_w)
  double squared_difference = 0;
  for (index_t f = 0; f < p; ++f) {
    const double difference = dual_w == nullptr ? 0.0 : certificate.w[f] - dual_w[f];
    squared_norm += certificate.w[f] * certificate.w[f];
    along += certificate.w[f] * difference;
    squared_difference += difference * difference;
  }
  for (index_t i = 0; i < n; ++i) certificate.f[i] += best.middle;
  Losses losses = measure(task, v, certificate.f.data(), 1);
  certificate.objective = 0.5 * squared_norm + losses.loss + task.constant();
  certificate.gap = 0.5 * squared_difference + losses.slack;
  certificate.violation = losses.violation;
  // The gap assumes that w is the sum of v_i x_i. If entries differ so much in size that rounding changes the sum,
  // the gap certifies nothing. The worst such cases show in an objective far above that of w = 0, which the optimum
  // never exceeds.
  double at_zero = task.constant();
  for (index_t i = 0; i < n; ++i) at_zero += task.cost()[i] * std::max(0.0, task.lack(i, 0));
  if (!(certificate.objective <= 2 * at_zero))
    certificate.gap = std::max(certificate.gap, certificate.objective - at_zero);
  if (losses.rounding == 0 || certificate.gap <= 1e-14 * certificate.objective) return;
  // Rows may be short of their margin by rounding alone, which adds up where costs are large. Scaling w up slightly
  // makes up for it.
  const double more = losses.rounding;
  losses = measure(task, v, certificate.f.data(), 1 + more);
  const double gap = 0.5 * squared_difference + more * (along + 0.5 * more * squared_norm) + losses.slack;
  if (!(gap < certificate.gap)) return;
  certificate.gap = gap;
  certificate.violation = losses.violation;
  certificate.objective = 0.5 * (1 + more) * (1 + more) * squared_norm + losses.loss + task.constant();
  for (index_t f = 0; f <= p; ++f) certificate.w[f] *= 1 + more;
  for (index_t i = 0; i < n; ++i) certificate.f[i] *= 1 + more;
  certificate.intercept_low *= 1 + more;
  certificate.intercept_high *= 1 + more;
}

}  // namespace

Certificate certify(RowPass& pass, const MarginTask& task, const double* v) {
  Certificate certificate;
  certificate.w = AlignedBuffer<double>(pass.width(), "coefficients");
  sum_rows(pass, v, certificate.w.data());
  complete(pass, task, v, nullptr, certificate);
  return certificate;
}

Certificate certify(RowPass& pass, const MarginTask& task, const double* v, const double* w) {
  Certificate certificate;
  certificate.w = AlignedBuffer<double>(pass.width(), "coefficients");
  std::copy_n(w, pass.width(), certificate.w.data());
  AlignedBuffer<double> dual_w(pass.width(), "coefficients");
  complete(pass, task, v, dual_w.data(), certificate);
  return certificate;
}

}  // namespace fastpu::detail
