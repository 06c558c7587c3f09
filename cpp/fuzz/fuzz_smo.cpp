// Sequential minimal optimisation of any boxes, in one or two groups, with kernel rows and without.
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

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(1);
  const Matrix<T> x(input, n, input.between(0, 4));
  const Box box(input, n);
  const int n_threads = input.n_threads();
  Team team(n_threads);
  SmoOptions options;
  options.tol = input.one_of<double, 3>({1e-3, 1e-7, 0.25});
  options.max_steps = input.one_of<index_t, 3>({0, 30, 300});
  options.working_set = input.rarely(4) ? input.between(2, 9) : 0;
  options.isa = input.isa();
  std::vector<double> by_rows = box.start;
  std::vector<double> by_features = box.start;
  SmoResult rows_result;
  SmoResult features_result;
  const KernelParams linear{fastpu::KernelKind::linear, 1.0, 3, 0.0};
  const bool has_rows = accepted([&] {
    const auto kernel = make_kernel(x.dense_view(), linear, options.isa, n_threads);
    fastpu::KernelCache<T> cache(*kernel, input.one_of<index_t, 3>({0, 2000, 1 << 20}));
    rows_result = smo(cache, box.view(), options, {}, team, by_rows.data());
  });
  const bool has_features = accepted([&] {
    features_result = input.flag() ? smo_linear(x.dense_view(), box.view(), options, {}, team, by_features.data())
                                   : smo_linear(x.csr_view(), box.view(), options, {}, team, by_features.data());
  });
  if (has_rows) check_result(box, options, rows_result, by_rows);
  if (has_features) check_result(box, options, features_result, by_features);
  if (has_rows && has_features && input.is_plain() && rows_result.status == fastpu::SmoStatus::tol &&
      features_result.status == fastpu::SmoStatus::tol) {
    const double a = objective(box, rows_result, by_rows);
    const double b = objective(box, features_result, by_features);
    const double rounding = std::is_same_v<T, float> ? 1e-3 : 1e-8;
    FUZZ_CHECK(std::fabs(a - b) <= options.tol * box.room + rounding * (1 + box.room) * (1 + box.room));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.tame(Range::finite);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
