// Scores: sums over kernel values, against slow sums.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "svm_data.hpp"

namespace {

using fastpu::index_t;
using fastpu::Isa;
using fastpu::KernelKind;
using fastpu::KernelModels;
using fastpu::KernelParams;
using fastpu::Team;

// The scores, summed slowly.
template <class T>
std::vector<long double> slow_scores(const KernelParams& params, const Points<T>& support, const KernelModels& models,
                                     const Points<T>& x, const std::vector<index_t>& rows) {
  std::vector<long double> out;
  for (const index_t i : rows) {
    for (index_t m = 0; m < models.n_models; ++m) {
      long double sum = models.intercepts[m];
      for (index_t s = 0; s < models.n_support; ++s) {
        sum += static_cast<long double>(models.coefs[s * models.n_models + m]) *
               exact_kernel(params, support.row(models.support[s]), x.row(i), x.d);
      }
      out.push_back(sum);
    }
  }
  return out;
}

template <class T>
void check_scores(index_t n_support, index_t n_x, index_t n_models) {
  const Points<T> support(std::max<index_t>(n_support, 1), 6, 61);
  const Points<T> x(n_x, 6, 62);
  std::vector<index_t> numbers = some_of(support.n, n_support);
  std::vector<double> coefs(at(n_support * n_models));
  for (std::size_t s = 0; s < coefs.size(); ++s) coefs[s] = std::sin(static_cast<double>(s));
  std::vector<double> intercepts(at(n_models));
  for (std::size_t m = 0; m < intercepts.size(); ++m) intercepts[m] = 0.5 - static_cast<double>(m);
  const KernelModels models{numbers.data(), n_support, coefs.data(), intercepts.data(), n_models};
  const double tolerance =
      static_cast<double>(std::numeric_limits<T>::epsilon()) * 100 * static_cast<double>(n_support + 1);
  for (const KernelKind kind : {KernelKind::linear, KernelKind::poly, KernelKind::rbf, KernelKind::sigmoid}) {
    const KernelParams params{kind, 0.2, 2, 0.5};
    for (const bool is_sparse : {false, true}) {
      const auto scores = [&](Team& team) {
        std::vector<double> out(at(n_x * n_models), -12345.0);
        if (is_sparse) {
          kernel_scores(support.sparse(), x.sparse(), params, models, team, out.data());
        } else {
          kernel_scores(support.dense(), x.dense(), params, models, team, out.data());
        }
        return out;
      };
      Team plain(1, {}, Isa::baseline);
      const std::vector<double> expected = scores(plain);
      const std::vector<long double> slow = slow_scores(params, support, models, x, all_rows(n_x));
      for (std::size_t i = 0; i < slow.size(); ++i)
        CHECK(check::close(expected[i], static_cast<double>(slow[i]), tolerance));
      for (const Isa isa : all_levels()) {
        Team one(1, {}, isa);
        CHECK(same_bits(scores(one), expected));
      }
      for (const int n_threads : {2, 3, 7}) {
        Team team(n_threads);
        CHECK(same_bits(scores(team), expected));
      }
    }
  }
}

}  // namespace

CASE("scores are sums over the support, with the same bits for every level and number of threads") {
  check_scores<double>(0, 10, 1);
  check_scores<double>(1, 1, 1);
  check_scores<float>(17, 300, 3);
  check_scores<double>(40, 257, 2);
  check_scores<float>(33, 700, 1);
}

CASE("the kernel matrix of two sets of rows has the value of every pair") {
  for (const index_t n : {1, 31, 70}) {
    const Points<double> x(n, 5, 81);
    const Points<double> y(67, 5, 82);
    for (const KernelKind kind : {KernelKind::linear, KernelKind::poly, KernelKind::rbf, KernelKind::sigmoid}) {
      const KernelParams params{kind, 0.2, 2, 0.5};
      for (const int n_threads : {1, 3}) {
        Team team(n_threads);
        std::vector<double> dense(at(n * y.n));
        std::vector<double> sparse(at(n * y.n));
        kernel_matrix(x.dense(), y.dense(), params, team, dense.data());
        kernel_matrix(x.sparse(), y.sparse(), params, team, sparse.data());
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < y.n; ++j) {
            const auto exact = static_cast<double>(exact_kernel(params, x.row(i), y.row(j), x.d));
            CHECK(check::close(dense[at(i * y.n + j)], exact, 1e-13));
            CHECK(check::close(sparse[at(i * y.n + j)], exact, 1e-12));
          }
        }
      }
    }
  }
}

CASE("scores of rows of the kernel's own matrix agree with those of another one") {
  const Points<double> points(90, 5, 71);
  const std::vector<index_t> support = {3, 50, 7, 88};
  const std::vector<double> coefs = {1.0, -2.0, 0.5, 3.0};
  const double intercept = 0.25;
  const KernelModels models{support.data(), 4, coefs.data(), &intercept, 1};
  const KernelParams params{KernelKind::poly, 0.2, 3, 1.0};
  Team team(2);
  std::vector<double> of_all(at(points.n));
  kernel_scores(points.dense(), points.dense(), params, models, team, of_all.data());
  const auto kernel = make_kernel(points.dense(), params, team);
  const std::vector<index_t> rows = some_of(points.n, 33);
  std::vector<double> of_some(rows.size());
  kernel_scores(*kernel, models, rows.data(), 33, team, of_some.data());
  for (std::size_t k = 0; k < rows.size(); ++k) CHECK(of_some[k] == of_all[at(rows[k])]);
}

CASE("scores of the support itself are those of the same rows, with the same bits for every number of threads") {
  const Points<double> points(700, 5, 73);
  const KernelParams params{KernelKind::rbf, 0.2, 3, 0.5};
  for (const index_t n : {0, 1, 128, 129, 300, 640}) {
    const std::vector<index_t> support = some_of(points.n, n);
    std::vector<double> coefs(at(n));
    for (std::size_t s = 0; s < coefs.size(); ++s) coefs[s] = std::sin(static_cast<double>(s));
    const double intercept = 0;
    const KernelModels models{support.data(), n, coefs.data(), &intercept, 1};
    for (const bool is_sparse : {false, true}) {
      std::vector<double> expected(at(n));
      std::vector<double> first;
      for (const int n_threads : {1, 2, 5}) {
        Team team(n_threads);
        const auto kernel =
            is_sparse ? make_kernel(points.sparse(), params, team) : make_kernel(points.dense(), params, team);
        kernel_scores(*kernel, models, support.data(), n, team, expected.data());
        std::vector<double> out(at(n), -12345.0);
        kernel_scores_of_support(*kernel, support.data(), coefs.data(), n, team, out.data());
        for (std::size_t i = 0; i < out.size(); ++i) CHECK(check::close(out[i], expected[i], 1e-12));
        if (first.empty()) first = out;
        CHECK(same_bits(out, first));
      }
    }
  }
}

CASE("scores ask a function from one thread, for blocks rather than for single values") {
  int n_calls = 0;
  const auto kernel = pair_kernel(2000, &n_calls);
  const std::vector<index_t> support = some_of(2000, 100);
  const std::vector<double> coefs(100, 1.0);
  const double intercept = -1.0;
  const std::vector<index_t> x = all_rows(2000);
  std::vector<double> out(2000);
  Team team(4);
  kernel_scores(*kernel, KernelModels{support.data(), 100, coefs.data(), &intercept, 1}, x.data(), 2000, team,
                out.data());
  CHECK(n_calls <= 20);
  for (index_t i = 0; i < 2000; i += 111) {
    double sum = intercept;
    for (const index_t s : support) sum += pair_number(s, i);
    CHECK(out[at(i)] == sum);
  }
}

CASE("scores stop when Poll throws, and can be asked again") {
  const Points<double> points(2000, 5, 72);
  const std::vector<index_t> support = all_rows(1000);
  const std::vector<double> coefs(1000, 0.5);
  const double intercept = 0;
  const KernelModels models{support.data(), 1000, coefs.data(), &intercept, 1};
  const KernelParams params{KernelKind::rbf, 0.2, 3, 0};
  bool must_throw = true;
  Team team(2, [&] {
    if (must_throw) throw std::runtime_error("interrupted");
  });
  const auto kernel = make_kernel(points.sparse(), params, team);
  const std::vector<index_t> x = all_rows(points.n);
  std::vector<double> out(at(points.n));
  CHECK_THROWS(std::runtime_error, kernel_scores(*kernel, models, x.data(), points.n, team, out.data()), "interrupted");
  must_throw = false;
  kernel_scores(*kernel, models, x.data(), points.n, team, out.data());
  std::vector<double> expected(at(points.n));
  Team one(1);
  kernel_scores(*kernel, models, x.data(), points.n, one, expected.data());
  CHECK(same_bits(out, expected));
}
