// Sequential minimal optimisation of any boxes, in one or two groups: with kernel rows, without, and in chains, where
// one problem starts from the solution of another.
#include <algorithm>
#include <numeric>

#include "fastpu/svm/smo.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::KernelParams;
using fastpu::SmoOptions;
using fastpu::SmoProblem;
using fastpu::SmoResult;
using fastpu::SmoStart;
using fastpu::Team;

struct Box {
  std::vector<index_t> rows;
  std::vector<double> linear;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> start;
  std::vector<std::uint8_t> groups;
  double room = 0;

  Box(Input& input, index_t n_points) {
    const index_t n = input.between(1, n_points);
    rows.resize(at(n_points));
    std::iota(rows.begin(), rows.end(), index_t{0});
    for (index_t i = n_points - 1; i > 0; --i) std::swap(rows[at(i)], rows[at(input.below(i + 1))]);
    rows.resize(at(n));
    const bool has_groups = input.flag();
    for (index_t i = 0; i < n; ++i) {
      linear.push_back(bounded(input));
      lower.push_back(bounded(input));
      const double width = input.rarely(8) ? 0 : std::fabs(bounded(input));
      upper.push_back(lower.back() + width);
      start.push_back(std::clamp(lower.back() + input.share() * width, lower.back(), upper.back()));
      if (has_groups) groups.push_back(static_cast<std::uint8_t>(input.below(2)));
      room += width;
    }
  }
  SmoProblem view() const {
    return {rows.data(),  static_cast<index_t>(rows.size()),       linear.data(), lower.data(),
            upper.data(), groups.empty() ? nullptr : groups.data()};
  }

 private:
  static double bounded(Input& input) {
    const double value = input.real();
    return std::isfinite(value) ? std::clamp(value, -1e30, 1e30) : 0;
  }
};

double objective(const Box& box, const SmoResult& result, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += 0.5 * b[i] * (result.gradient[i] + box.linear[i]);
  return sum;
}

void check_result(const Box& box, const SmoOptions& options, const SmoResult& result, const std::vector<double>& b) {
  double sums[2] = {};
  double sizes[2] = {};
  for (std::size_t i = 0; i < b.size(); ++i) {
    FUZZ_CHECK(b[i] >= box.lower[i] && b[i] <= box.upper[i]);
    const int group = box.groups.empty() ? 0 : box.groups[i];
    sums[group] += b[i] - box.start[i];
    sizes[group] += std::fabs(b[i]) + std::fabs(box.start[i]);
  }
  for (int g = 0; g < 2; ++g) FUZZ_CHECK(std::fabs(sums[g]) <= 1e-9 * sizes[g]);
  FUZZ_CHECK(result.gradient.size() == b.size() && !std::isnan(result.violation));
  if (result.status == fastpu::SmoStatus::tol) FUZZ_CHECK(result.violation <= options.tol);
  FUZZ_CHECK(result.n_steps <= options.max_steps);
}

// What one of the solvers makes of a box.
struct Attempt {
  std::vector<double> b;
  SmoResult result;
  bool is_made = false;

  explicit Attempt(const Box& box) : b(box.start) {}
  template <class Solve>
  void run(Solve&& solve) {
    is_made = accepted([&] { result = solve(b.data()); });
  }
  bool is_optimal() const { return is_made && result.status == fastpu::SmoStatus::tol; }
};

// Moves pieces of the box from some variables to others of their group.
std::vector<double> feasible_end(Input& input, const Box& box) {
  std::vector<double> end = box.start;
  const auto n = static_cast<index_t>(end.size());
  for (index_t k = input.below(6); k > 0; --k) {
    const std::size_t i = at(input.below(n));
    const std::size_t j = at(input.below(n));
    if (i == j || (!box.groups.empty() && box.groups[i] != box.groups[j])) continue;
    const double piece = input.share() * std::min(box.upper[i] - end[i], end[j] - box.lower[j]);
    end[i] = std::min(end[i] + piece, box.upper[i]);
    end[j] = std::max(end[j] - piece, box.lower[j]);
  }
  return end;
}

// The problem, and then others with wider or narrower boxes around its solution.
template <class T>
SmoResult run_chain(Input& input, const fastpu::Kernel<T>& kernel, SmoOptions options, Team& team, Box box, double* b) {
  fastpu::KernelCache<T> cache(kernel, input.one_of<index_t, 3>({0, 2000, 1 << 20}));
  const auto n = static_cast<index_t>(box.rows.size());
  options.keeps_rows = input.flag();
  const SmoResult first = smo(cache, box.view(), options, {}, team, b);
  SmoResult last = first;
  box.start.assign(b, b + n);
  for (index_t k = input.below(4); k > 0; --k) {
    std::vector<double> product(last.gradient);
    for (std::size_t i = 0; i < product.size(); ++i) {
      product[i] -= box.linear[i];
      box.lower[i] = box.start[i] - 2 * input.share() * (box.start[i] - box.lower[i]);
      box.upper[i] = box.start[i] + 2 * input.share() * (box.upper[i] - box.start[i]);
    }
    const std::vector<double> end = feasible_end(input, box);
    const SmoStart start{product.data(), end.data(), last.moved};
    SmoProblem problem = box.view();
    problem.start = &start;
    std::vector<double> solution = box.start;
    last = smo(cache, problem, options, {}, team, solution.data());
    check_result(box, options, last, solution);
    box.start = solution;
  }
  return first;
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(1);
  const Matrix<T> x(input, n, input.between(0, 4));
  const Box box(input, n);
  const int n_threads = input.n_threads();
  SmoOptions options;
  options.tol = input.one_of<double, 3>({1e-3, 1e-7, 0.25});
  options.max_steps = input.one_of<index_t, 3>({0, 30, 300});
  options.working_set = input.rarely(4) ? input.between(2, 9) : 0;
  Team team(n_threads, {}, input.isa());
  Attempt by_rows(box);
  Attempt by_features(box);
  Attempt in_chain(box);
  const bool is_rbf = input.rarely(4);
  const KernelParams params{is_rbf ? fastpu::KernelKind::rbf : fastpu::KernelKind::linear, 1.0, 3, 0.0};
  const auto kernel = make_kernel(x.dense_view(), params, team);
  by_rows.run([&](double* b) {
    fastpu::KernelCache<T> cache(*kernel, input.one_of<index_t, 3>({0, 2000, 1 << 20}));
    return smo(cache, box.view(), options, {}, team, b);
  });
  if (!is_rbf)
    by_features.run([&](double* b) {
      return input.flag() ? smo_linear(x.dense_view(), box.view(), options, {}, team, b)
                          : smo_linear(x.csr_view(), box.view(), options, {}, team, b);
    });
  in_chain.run([&](double* b) { return run_chain(input, *kernel, options, team, box, b); });
  for (const Attempt* attempt : {&by_rows, &by_features, &in_chain}) {
    if (attempt->is_made) check_result(box, options, attempt->result, attempt->b);
  }
  const double rounding = (std::is_same_v<T, float> ? 1e-3 : 1e-8) * (1 + box.room) * (1 + box.room);
  for (const Attempt* other : {&by_features, &in_chain}) {
    if (!input.is_plain() || !by_rows.is_optimal() || !other->is_optimal()) continue;
    const double difference = objective(box, by_rows.result, by_rows.b) - objective(box, other->result, other->b);
    FUZZ_CHECK(std::fabs(difference) <= options.tol * box.room + rounding);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.tame(Range::finite);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
