// The kernels of histograms: what they say, on every instruction-set level.
#include "tree/newton_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "fastpu/data/code_width.hpp"

namespace {

using fastpu::index_t;
using fastpu::Isa;
using fastpu::detail::NewtonKernels;
using fastpu::detail::NewtonNode;

std::vector<Isa> levels() {
  std::vector<Isa> all;
  for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) all.push_back(static_cast<Isa>(level));
  return all;
}

std::vector<std::uint64_t> random_words(index_t n, std::mt19937_64& random) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(n));
  for (auto& word : words) {
    const auto g = static_cast<std::int64_t>(random() % 2001) - 1000;
    word = (static_cast<std::uint64_t>(g) << 32U) + random() % 500;
  }
  return words;
}

// Rows of more than one tile, listed with gaps; all features, and some of them.
template <class Code>
void adds_the_words_of_rows(const NewtonKernels& kernels, index_t n_features, index_t step, index_t bins) {
  constexpr index_t kRows = 1700;
  std::mt19937_64 random(static_cast<std::uint64_t>(n_features));
  std::vector<Code> codes(static_cast<std::size_t>(kRows * n_features));
  for (auto& code : codes) code = static_cast<Code>(random() % static_cast<std::uint64_t>(bins));
  const auto words = random_words(kRows, random);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < kRows; i += 1 + static_cast<std::uint32_t>(random() % 2)) rows.push_back(i);
  std::vector<std::uint32_t> features;
  std::vector<index_t> first_bin;
  for (index_t f = 0; f < n_features; f += step) {
    features.push_back(static_cast<std::uint32_t>(f));
    first_bin.push_back(f * bins);
  }
  std::vector<std::uint64_t> found(static_cast<std::size_t>(n_features * bins));
  std::vector<std::uint64_t> expected = found;
  kernels.add_rows<Code>()({codes.data(), n_features}, rows.data(), static_cast<index_t>(rows.size()), words.data(),
                           {features.data(), first_bin.data(), static_cast<index_t>(features.size())}, found.data());
  for (const std::uint32_t row : rows) {
    for (std::size_t k = 0; k < features.size(); ++k) {
      const Code code = codes[row * static_cast<std::size_t>(n_features) + features[k]];
      expected[static_cast<std::size_t>(first_bin[k]) + code] += words[row];
    }
  }
  CHECK(found == expected);
}

void finds_the_best_score(const NewtonKernels& kernels, index_t n, double min_hessian) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  const auto words = random_words(n + 1, random);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) sum += word;
  const NewtonNode node{fastpu::detail::g_of(sum) * 0.5, fastpu::detail::h_of(sum) * 0.25, 0.5, 0.25, 1.0, min_hessian};
  double expected = -fastpu::kInfinity;
  std::uint64_t left = 0;
  for (index_t k = 0; k < n; ++k) {
    left += words[static_cast<std::size_t>(k)];
    expected = std::max(expected, node.score(left));
  }
  CHECK(kernels.best_score(words.data(), n, node) == expected);
}

// Of sums as large as they may be, too.
void bounds_the_best_score(const NewtonKernels& kernels, index_t n, double min_hessian, double lam) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{2'147'483} / static_cast<std::uint64_t>(n + 1)}) {
    auto words = random_words(n + 1, random);
    for (auto& word : words) word *= size;
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum += word;
    const NewtonNode node{
        fastpu::detail::g_of(sum) * 0.5, fastpu::detail::h_of(sum) * 0.25, 0.5, 0.25, lam, min_hessian};
    CHECK(node.has_bounds());
    const double best = kernels.best_score(words.data(), n, node);
    const double bound = kernels.score_bound(words.data(), n, node);
    CHECK(bound >= best);
    CHECK(bound <= best * (1 + fastpu::detail::kBoundShare));
  }
}

void subtracts(const NewtonKernels& kernels, index_t n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  auto bins = random_words(n + 1, random);
  const auto less = random_words(n + 1, random);
  auto expected = bins;
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) expected[k] -= less[k];
  kernels.subtract(bins.data(), less.data(), n);
  CHECK(bins == expected);
}

void makes_words(const NewtonKernels& kernels) {
  const std::vector<double> g{1.25, -3.0, 0.0, -0.126, 4.0};
  const std::vector<double> h{0.5, 0.0, 0.3, 0.25, 2.0};
  const std::vector<double> weights{1, 1, 0, 1, 2};
  std::vector<std::uint64_t> words(5);
  kernels.make_words(g.data(), h.data(), nullptr, 0.0, 5, 4.0, 8.0, words.data());
  const std::vector<std::int32_t> whole_g{5, -12, 0, -1, 16};
  const std::vector<std::int32_t> whole_h{4, 0, 2, 2, 16};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(fastpu::detail::g_of(words[i]) == whole_g[i]);
    CHECK(fastpu::detail::h_of(words[i]) == whole_h[i]);
  }
  std::vector<std::uint64_t> weighted(5);
  kernels.make_words(g.data(), h.data(), weights.data(), 1.0, 5, 4.0, 8.0, weighted.data());
  CHECK(weighted == words);
  const std::vector<double> sevenths{0.7, 0.7, 0, 0.7, 1.4};  // whole multiples of 0.7 but for rounding
  kernels.make_words(g.data(), h.data(), sevenths.data(), 0.7, 5, 4.0, 8.0, weighted.data());
  CHECK(weighted == words);
}

template <class Body>
void on_every_level(Body&& body) {
  for (const Isa isa : levels()) body(fastpu::detail::newton_kernels(isa));
}

}  // namespace

CASE("histograms have the sums of words") {
  on_every_level([](const NewtonKernels& kernels) {
    for (const index_t n_features : {1, 7, 8, 21}) {
      for (const index_t step : {1, 2}) {
        adds_the_words_of_rows<std::uint8_t>(kernels, n_features, step, fastpu::kByteBins);
        adds_the_words_of_rows<std::uint16_t>(kernels, n_features, step, 700);
      }
    }
  });
}

CASE("the best score is that of one of the cuts") {
  on_every_level([](const NewtonKernels& kernels) {
    for (const index_t n : {0, 1, 5, 255, 256, 257, 1000}) {
      finds_the_best_score(kernels, n, 0.0);
      finds_the_best_score(kernels, n, 300.0);
    }
  });
}

CASE("a bound of the best score is hardly above it") {
  on_every_level([](const NewtonKernels& kernels) {
    for (const index_t n : {1, 3, 5, 16, 33, 255, 256, 257, 1000}) {
      for (const double lam : {0.0, 1.0, 1e-9, 1e6}) {
        bounds_the_best_score(kernels, n, 0.0, lam);
        bounds_the_best_score(kernels, n, 300.0, lam);
      }
    }
  });
}

CASE("where no cut is allowed there is no bound either") {
  const std::vector<std::uint64_t> words{1, 2, 3, 4};
  on_every_level([&](const NewtonKernels& kernels) {
    const auto bound = [&](double min_hessian, double lam) {
      return kernels.score_bound(words.data(), 3, {0.0, 2.5, 0.5, 0.25, lam, min_hessian});
    };
    CHECK(bound(5.0, 1.0) == -fastpu::kInfinity);
    CHECK(bound(1e300, 1.0) == -fastpu::kInfinity);
    CHECK(kernels.score_bound(words.data(), 0, {0.0, 2.5, 0.5, 0.25, 1.0, 0.0}) == -fastpu::kInfinity);
  });
}

CASE("there are no bounds of what floats cannot hold") {
  CHECK(!(NewtonNode{1.0, 1.0, 0.5, 0.5, 1e30, 0.0}).has_bounds());
  CHECK(!(NewtonNode{1.0, 1.0, 0.5, 0.5, 1e-30, 0.0}).has_bounds());
  CHECK(!(NewtonNode{0x1p-600, 1.0, 0x1p-600, 0.5, 0.0, 0.0}).has_bounds());
}

CASE("histograms are subtracted bin by bin") {
  on_every_level([](const NewtonKernels& kernels) {
    for (const index_t n : {0, 1, 7, 8, 255}) subtracts(kernels, n);
  });
}

CASE("words are rounded, and repeated by whole weights") { on_every_level(makes_words); }
