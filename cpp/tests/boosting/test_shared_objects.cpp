// Objects of the core that several threads use at once, each with a team of its own, as Python threads without a
// global lock do: under the thread sanitizer this shows that reading one changes nothing in it.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "boosting_data.hpp"
#include "check.hpp"
#include "fastpu/boosting/stump_boost.hpp"
#include "fastpu/boosting/tree_loss.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "svm_data.hpp"

namespace {

using fastpu::at;
using fastpu::index_t;
using fastpu::Team;

constexpr int kThreads = 8;
constexpr int kCalls = 5;

// Whether every call in every thread returns the bits of a call that is alone.
void check_at_once(const std::function<std::vector<double>(int n_threads)>& call) {
  const std::vector<double> expected = call(1);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < kCalls; ++i) CHECK(same_bits(call(1 + (k + i) % 3), expected));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

CASE("one loss, its rows used by eight threads") {
  const BoostingData data = boosting_data(3000, 1, 5);
  const fastpu::TreeLossRows rows{data.y.data(), data.weight.data(), data.n};
  std::vector<double> scores(at(data.n));
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = std::sin(static_cast<double>(i));
  for (const char* name : {"pnu_auc", "logistic"}) {
    std::vector<std::int8_t> labels = data.y;
    if (std::string(name) != "pnu_auc") {
      for (std::int8_t& label : labels) label = label == 1 ? std::int8_t{1} : std::int8_t{0};
    }
    Team team(2);
    fastpu::TreeLossRows of_loss = rows;
    of_loss.labels = labels.data();
    const auto loss = fastpu::make_tree_loss(of_loss, {name, 0.5, 0.3}, team);
    check_at_once([&](int n_threads) {
      Team own(n_threads);
      std::vector<double> derivatives(2 * at(data.n));
      loss->derive_alone({.scores = scores.data()}, derivatives.data(), derivatives.data() + data.n, own);
      return derivatives;
    });
  }
}

CASE("one set of binned features that eight threads fit to") {
  const BoostingData data = boosting_data(2000, 6, 6);
  Team team(2);
  const fastpu::BinnedFeatures features = fastpu::bin_features(data.dense(), {.max_bins = 32}, team);
  check_at_once([&](int n_threads) {
    Team own(n_threads);
    fastpu::BoostTrainingSet set;
    set.features = &features;
    set.labels = data.y.data();
    fastpu::StumpBoostOptions options;
    options.n_rounds = 5;
    return fastpu::stump_boost(set, nullptr, options, {}, own).alphas;
  });
}

CASE("one kernel machine that scores in eight threads") {
  const Points<double> support(60, 6, 61);
  const Points<double> x(200, 6, 62);
  const std::vector<index_t> numbers = some_of(support.n, 40);
  std::vector<double> coefs(numbers.size());
  for (std::size_t s = 0; s < coefs.size(); ++s) coefs[s] = std::sin(static_cast<double>(s));
  const double intercept = 0.5;
  const fastpu::KernelModels models{numbers.data(), 40, coefs.data(), &intercept, 1};
  const fastpu::KernelParams params{fastpu::KernelKind::rbf, 0.2, 2, 0.5};
  check_at_once([&](int n_threads) {
    Team own(n_threads);
    std::vector<double> out(at(x.n));
    fastpu::kernel_scores(support.dense(), x.dense(), params, models, own, out.data());
    return out;
  });
}
