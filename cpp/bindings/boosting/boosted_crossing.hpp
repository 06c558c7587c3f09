// What the driver and the workers of boosted trees send each other, as NumPy arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "common/arguments.hpp"
#include "fastpu/boosting/boosted_rows.hpp"

namespace fastpu {

inline index_t histogram_size(const BinnedFeatures& features) { return HistogramLayout(features).size(); }

template <class T>
std::vector<T> vector_from(const py::handle& array, const char* name, index_t n = -1) {
  const T* data = view_1d<T>(array, name, n);
  return {data, data + py::len(array)};
}

// Sums of words are sent as they are. Where all holders together have more rows than a word can sum, the sums of g and
// of h are sent apart, one after the other.
inline py::array crossing(const py::array_t<std::uint64_t>& words, int halvings) {
  if (halvings == 0) return words;
  py::array_t<std::uint64_t> apart(2 * words.size());
  std::uint64_t* to = apart.mutable_data();
  for (const std::uint64_t word : std::span(words.data(), static_cast<std::size_t>(words.size()))) {
    *to++ = static_cast<std::uint64_t>(index_t{static_cast<std::int32_t>(word >> 32U)});
    *to++ = word & 0xffffffffU;
  }
  return apart;
}

// Writes n words from what was received: their sums of g and h halved so many times.
inline void copy_words(const std::uint64_t* received, index_t n, int halvings, std::uint64_t* words) {
  if (halvings == 0) {
    std::copy_n(received, n, words);
    return;
  }
  for (index_t i = 0; i < n; ++i) {
    const index_t g = static_cast<index_t>(received[2 * i]) >> halvings;
    const index_t h = static_cast<index_t>(received[2 * i + 1]) >> halvings;
    words[i] = (static_cast<std::uint64_t>(g) << 32U) | static_cast<std::uint64_t>(h);
  }
}

inline std::vector<LeafSums> unpack_leaf_sums(const py::handle& array, std::size_t n) {
  const auto* values = view_1d<std::int64_t>(array, "sums", 2 * static_cast<index_t>(n));
  std::vector<LeafSums> sums(n);
  for (LeafSums& sum : sums) {
    sum.g = *values++;
    sum.h = *values++;
  }
  return sums;
}

inline void append(const std::vector<LeafSums>& sums, std::vector<std::int64_t>& values) {
  for (const LeafSums& sum : sums) values.insert(values.end(), {sum.g, sum.h});
}

// How many numbers stand for the scores of a leaf. Of several holders the largest of each counts.
inline constexpr index_t kScoresOfLeaf = 6;

inline void append(const std::vector<LeafScores>& leaves, std::vector<double>& values) {
  for (const LeafScores& leaf : leaves) {
    for (const double score : leaf.least) values.push_back(-score);
    values.insert(values.end(), leaf.greatest.begin(), leaf.greatest.end());
  }
}

inline py::tuple pack(const NodeSplit& split) {
  return py::make_tuple(split.feature, split.cut, split.by_categories, split.missing_right,
                        to_array(split.left_codes.words));
}

inline NodeSplit unpack_split(const py::tuple& packed) {
  if (packed.size() != 5) throw py::value_error("split must have 5 parts");
  NodeSplit split;
  split.feature = packed[0].cast<std::uint32_t>();
  split.cut = packed[1].cast<std::uint32_t>();
  split.by_categories = packed[2].cast<bool>();
  split.missing_right = packed[3].cast<bool>();
  std::copy_n(view_1d<std::uint64_t>(packed[4], "codes", 4), 4, split.left_codes.words.begin());
  return split;
}

inline TreeLossTops unpack_tops(const py::handle& array) {
  TreeLossTops tops;
  std::copy_n(view_1d<double>(array, "tops", std::ssize(tops.values)), tops.values.size(), tops.values.begin());
  return tops;
}

inline TreeLossSums unpack_sums(const py::handle& array) {
  TreeLossSums sums;
  std::copy_n(view_1d<std::int64_t>(array, "sums", std::ssize(sums.values)), sums.values.size(), sums.values.begin());
  return sums;
}

}  // namespace fastpu
