#include "fastpu/data/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "data/binned_layout.hpp"
#include "fastpu/common/random.hpp"

namespace fastpu {

namespace {

using Sums = std::array<std::uint64_t, 3>;

// An odd factor for each feature: the hash of a row's codes is their sum times these. A single code that is another one
// always changes it.
std::vector<std::uint64_t> factors_of(index_t n_features) {
  auto factors = make_vector<std::uint64_t>(n_features, "a factor for each feature");
  Random random(0);
  for (std::uint64_t& factor : factors) factor = random.next() | 1U;
  return factors;
}

std::vector<std::uint64_t> hash_sparse_rows(const BinnedFeatures& x, const std::vector<std::uint64_t>& factors,
                                            Team& team) {
  detail::Pacer pacer(team);
  std::uint64_t of_zeros = 0;
  for (index_t e = 0; e < x.n_features; ++e) of_zeros += factors[at(e)] * x.zero_code[at(e)];
  auto hashes = make_vector<std::uint64_t>(x.n_rows, "a hash of each row");
  std::ranges::fill(hashes, of_zeros);
  for (index_t e = 0; e < x.n_features; ++e) {
    const std::uint64_t zero = x.zero_code[at(e)];
    pacer.run(x.column_start[at(e)], x.column_start[at(e) + 1], [&](index_t first, index_t end) {
      for (index_t k = first; k < end; ++k)
        hashes[x.column_rows[at(k)]] += factors[at(e)] * (x.column_codes[at(k)] - zero);
    });
  }
  return hashes;
}

template <class Code>
std::uint64_t hash_row(const Code* codes, const std::vector<std::uint64_t>& factors) {
  std::uint64_t sum = 0;
  for (std::size_t e = 0; e < factors.size(); ++e) sum += factors[e] * codes[e];
  return sum;
}

// `hash_of` returns the hash of a row's codes, in the time of `row_work` units.
template <class HashOf>
Sums sum_rows(index_t n, const std::int8_t* labels, const double* weights, index_t first_row, index_t row_work,
              Team& team, HashOf&& hash_of) {
  const index_t at_once = std::clamp<index_t>(detail::kPollEvery / row_work, 1, detail::kRowBlock);
  std::vector<Sums> sums(at(team.n_threads()));
  team.for_blocks(n, at_once, team.n_threads(), [&](index_t first, index_t end, int worker) {
    Sums own{};
    for (index_t i = first; i < end; ++i) {
      const auto number = static_cast<std::uint64_t>(first_row + i);
      const double weight = (weights == nullptr ? 1.0 : weights[i]) + 0.0;  // not -0
      own[0] += Random::derived(hash_of(i), number);
      own[1] += Random::derived(static_cast<std::uint64_t>(labels[i]), number);
      own[2] += Random::derived(std::bit_cast<std::uint64_t>(weight), number);
    }
    for (std::size_t k = 0; k < own.size(); ++k) sums[at(worker)][k] += own[k];
  });
  for (std::size_t w = 1; w < sums.size(); ++w) {
    for (std::size_t k = 0; k < sums[w].size(); ++k) sums[0][k] += sums[w][k];
  }
  return sums[0];
}

}  // namespace

Sums fingerprint(const BinnedFeatures& features, const std::int8_t* labels, const double* weights, index_t first_row,
                 Team& team) {
  const std::vector<std::uint64_t> factors = factors_of(features.n_features);
  const auto sum = [&](index_t row_work, auto&& hash_of) {
    return sum_rows(features.n_rows, labels, weights, first_row, row_work, team, hash_of);
  };
  if (features.is_sparse()) {
    const std::vector<std::uint64_t> hashes = hash_sparse_rows(features, factors, team);
    return sum(1, [&](index_t i) { return hashes[at(i)]; });
  }
  return with_code_type(features.width, [&]<class Code>(Code) {
    const auto* codes = reinterpret_cast<const Code*>(features.by_row.data());
    return sum(1 + features.n_features,
               [&, codes](index_t i) { return hash_row(codes + i * features.row_stride, factors); });
  });
}

std::vector<std::uint64_t> row_hashes(const BinnedFeatures& features, const index_t* rows, index_t n, Team& team) {
  const std::vector<std::uint64_t> factors = factors_of(features.n_features);
  auto hashes = make_vector<std::uint64_t>(n, "a hash of each row");
  const auto set_all = [&](index_t row_work, auto&& hash_of) {
    const index_t at_once = std::clamp<index_t>(detail::kPollEvery / row_work, 1, detail::kRowBlock);
    team.for_blocks(n, at_once, team.n_threads(), [&](index_t first, index_t end, int) {
      for (index_t k = first; k < end; ++k) hashes[at(k)] = hash_of(rows[k]);
    });
  };
  if (features.is_sparse()) {
    const std::vector<std::uint64_t> of_all = hash_sparse_rows(features, factors, team);
    set_all(1, [&](index_t i) { return of_all[at(i)]; });
    return hashes;
  }
  with_code_type(features.width, [&]<class Code>(Code) {
    const auto* codes = reinterpret_cast<const Code*>(features.by_row.data());
    set_all(1 + features.n_features,
            [&, codes](index_t i) { return hash_row(codes + i * features.row_stride, factors); });
  });
  return hashes;
}

}  // namespace fastpu
