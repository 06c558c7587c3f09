#include "tree/code_kernels.hpp"

#include <bit>
#include <cstddef>
#include <type_traits>

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

// kCodes neighbouring codes of a row, in one or several vectors.
template <class Code, int kCodes>
struct Chunk {
  static constexpr int kWidth = kCodes < kLanes<Code> ? kCodes : kLanes<Code>;
  static constexpr int kVectors = kCodes / kWidth;
  using V = Vec<Code, kWidth>;
};

template <class Code, int kCodes>
void find_ranges_of_chunk(const Code* codes, index_t stride, const std::uint32_t* rows, index_t n, const Code* shift,
                          Code* low, Code* high) {
  using C = Chunk<Code, kCodes>;
  using V = typename C::V;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  V lo[C::kVectors];
  V hi[C::kVectors];
  V less[C::kVectors];
  FASTPU_UNROLL
  for (int v = 0; v < C::kVectors; ++v) {
    lo[v] = splat<V>(static_cast<Code>(~Code(0)));
    hi[v] = splat<V>(Code(0));
    less[v] = load<V>(shift + v * C::kWidth);
  }
  FASTPU_UNROLL_BY_4
  for (index_t i = 0; i < n; ++i) {
    const Code* row = codes + static_cast<index_t>(rows[i]) * stride;
    FASTPU_UNROLL
    for (int v = 0; v < C::kVectors; ++v) {
      const V code = load<V>(row + v * C::kWidth);
      lo[v] = less_of(lo[v], code - less[v]);
      hi[v] = more_of(hi[v], code);
    }
  }
  FASTPU_UNROLL
  for (int v = 0; v < C::kVectors; ++v) {
    store(low + v * C::kWidth, lo[v]);
    store(high + v * C::kWidth, hi[v]);
  }
}

template <class Code, int kCodes>
void count_chunk(const Code* codes, index_t stride, const std::uint32_t* rows, index_t n, const Code* cut,
                 std::uint32_t* counts) {
  using C = Chunk<Code, kCodes>;
  using V = typename C::V;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  constexpr index_t kMost = sizeof(Code) == 1 ? 255 : 65535;  // a lane can count so many rows
  const V zero = splat<V>(Code(0));
  const V one = splat<V>(Code(1));
  V most[C::kVectors];
  FASTPU_UNROLL
  for (int v = 0; v < C::kVectors; ++v) most[v] = load<V>(cut + v * C::kWidth);
  for (int c = 0; c < kCodes; ++c) counts[c] = 0;
  for (index_t first = 0; first < n; first += kMost) {
    const index_t end = n < first + kMost ? n : first + kMost;
    V count[C::kVectors];
    FASTPU_UNROLL
    for (int v = 0; v < C::kVectors; ++v) count[v] = zero;
    FASTPU_UNROLL_BY_4
    for (index_t i = first; i < end; ++i) {
      const Code* row = codes + static_cast<index_t>(rows[i]) * stride;
      FASTPU_UNROLL
      for (int v = 0; v < C::kVectors; ++v) {
        count[v] = count[v] + where_less(most[v], load<V>(row + v * C::kWidth), zero, one);
      }
    }
    Code lanes[static_cast<std::size_t>(kCodes)];
    FASTPU_UNROLL
    for (int v = 0; v < C::kVectors; ++v) store(lanes + v * C::kWidth, count[v]);
    for (int c = 0; c < kCodes; ++c) counts[c] += lanes[c];
  }
}

// Calls body(first code, number of codes as a constant, stride) for every chunk of a row. The stride of short rows is a
// constant too.
template <class Code, class Body>
void for_chunks(index_t stride, Body&& body) {
  constexpr int kLine = 64 / static_cast<int>(sizeof(Code));
  const auto whole = [&](auto size) { body(0, size, size()); };
  if (stride == kLine / 8) return whole(std::integral_constant<int, kLine / 8>{});
  if (stride == kLine / 4) return whole(std::integral_constant<int, kLine / 4>{});
  if (stride == kLine / 2) return whole(std::integral_constant<int, kLine / 2>{});
  if (stride == kLine) return whole(std::integral_constant<int, kLine>{});
  for (index_t first = 0; first < stride; first += kLine) body(first, std::integral_constant<int, kLine>{}, stride);
}

template <class Code>
void find_ranges(const CodeTable<Code>& table, const std::uint32_t* rows, index_t n, const Code* shift, Code* low,
                 Code* high) {
  for_chunks<Code>(table.stride, [&](index_t f, auto size, index_t stride) {
    find_ranges_of_chunk<Code, size()>(table.codes + f, stride, rows, n, shift + f, low + f, high + f);
  });
}

template <class Code>
void count_at_most(const CodeTable<Code>& table, const std::uint32_t* rows, index_t n, const Code* cut,
                   std::uint32_t* counts) {
  for_chunks<Code>(table.stride, [&](index_t f, auto size, index_t stride) {
    count_chunk<Code, size()>(table.codes + f, stride, rows, n, cut + f, counts + f);
  });
}

// Returns a word whose bit i says whether codes[i] - shift <= most, for 64 codes.
#if defined(__AVX512BW__)
constexpr index_t kRowsPerListed = 16;
inline std::uint64_t word_at_most(const std::uint8_t* codes, std::uint8_t shift, std::uint8_t most) {
  const __m512i code = _mm512_sub_epi8(_mm512_loadu_si512(codes), _mm512_set1_epi8(static_cast<char>(shift)));
  return _mm512_cmple_epu8_mask(code, _mm512_set1_epi8(static_cast<char>(most)));
}
#elif defined(__AVX2__)
constexpr index_t kRowsPerListed = 12;
inline std::uint64_t word_at_most(const std::uint8_t* codes, std::uint8_t shift, std::uint8_t most) {
  const __m256i limit = _mm256_set1_epi8(static_cast<char>(most));
  const auto half = [&](const std::uint8_t* from) -> std::uint64_t {
    const __m256i read = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i code = _mm256_sub_epi8(read, _mm256_set1_epi8(static_cast<char>(shift)));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(code, limit), code)));
  };
  return half(codes) | half(codes + 32) << 32U;
}
#else
constexpr index_t kRowsPerListed = 4;
inline std::uint64_t word_at_most(const std::uint8_t* codes, std::uint8_t shift, std::uint8_t most) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 64; ++i) {
    word |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(codes[i] - shift) <= most) << i;
  }
  return word;
}
#endif
inline std::uint64_t word_at_most(const std::uint16_t* codes, std::uint16_t shift, std::uint16_t most) {
  std::uint8_t are_above[64];
  for (int i = 0; i < 64; ++i) are_above[i] = static_cast<std::uint16_t>(codes[i] - shift) > most ? 1 : 0;
  return word_at_most(are_above, 0, 0);
}

template <class Code>
index_t split_bits(const Code* column, Code shift, Code most, index_t n_words, const std::uint64_t* rows,
                   std::uint64_t* left, std::uint64_t* right) {
  index_t n_left = 0;
  for (index_t w = 0; w < n_words; ++w) {
    const std::uint64_t set = rows[w];
    const std::uint64_t at_most = word_at_most(column + 64 * w, shift, most);
    left[w] = set & at_most;
    right[w] = set & ~at_most;
    n_left += std::popcount(set & at_most);
  }
  return n_left;
}

template <class Code>
void above(const Code* codes, Code cut, index_t n_words, std::uint64_t* words) {
  for (index_t w = 0; w < n_words; ++w) words[w] = ~word_at_most(codes + 64 * w, Code{0}, cut);
}

// The number of members of a word cannot be predicted: eight are written at a time, even where there are fewer.
std::uint32_t list_bits(const std::uint64_t* words, index_t n_words, std::uint16_t* list) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 63U;  // so that no word has to be tested for 0
  std::uint32_t n = 0;
  for (index_t w = 0; w < n_words; ++w) {
    std::uint64_t word = words[w];
    std::uint16_t* to = list + n;
    n += static_cast<std::uint32_t>(std::popcount(word));
    do {
      FASTPU_UNROLL
      for (int k = 0; k < kPastList; ++k) {
        to[k] = static_cast<std::uint16_t>(64 * w + std::countr_zero(word | kLast));
        word &= word - 1;
      }
      to += kPastList;
    } while (word != 0);
  }
  return n;
}

// Writes the numbers of the leaves that some rows reach, a row in each lane. Goes through all nodes, parents first:
// at_node[k] is all ones in the lanes whose rows reach node k, and 0 in the others, so that its minimum with a leaf's
// number is that number or 0.
template <class Code>
void find_leaves(const WalkedNode* tree, index_t n_nodes, const Code* columns, index_t stride, Code* leaves) {
  using V = Vec<Code>;
  const V ones = splat<V>(static_cast<Code>(~Code{0}));
  const V none = splat<V>(Code{0});
  V at_node[kSmallTree + 1];
  at_node[0] = ones;
  V leaf = none;
  Code number = 0;
  for (index_t k = 0; k < n_nodes; ++k) {
    const WalkedNode& node = tree[k];
    if (node.left == 0) {
      leaf = more_of(leaf, less_of(at_node[k], splat<V>(number++)));
      continue;
    }
    const V code =
        load<V>(columns + static_cast<index_t>(node.column) * stride) - splat<V>(static_cast<Code>(node.cut.shift));
    const V most = splat<V>(static_cast<Code>(node.cut.most));
    at_node[node.left] = less_of(at_node[k], where_less(most, code, none, ones));
    at_node[node.left + 1] = less_of(at_node[k], where_less(most, code, ones, none));
  }
  store(leaves, leaf);
}

#if defined(__AVX512BW__)
// The same with a bit for each row in at_node[k].
void find_leaves(const WalkedNode* tree, index_t n_nodes, const std::uint8_t* columns, index_t stride,
                 std::uint8_t* leaves) {
  std::uint64_t at_node[kSmallTree + 1];
  at_node[0] = ~std::uint64_t{0};
  __m512i leaf = _mm512_setzero_si512();
  __m512i number = _mm512_setzero_si512();
  for (index_t k = 0; k < n_nodes; ++k) {
    const WalkedNode& node = tree[k];
    // The parent, which came before, wrote these bits.
    const std::uint64_t rows = at_node[k];  // NOLINT(clang-analyzer-core.uninitialized.Assign)
    if (node.left == 0) {
      leaf = _mm512_mask_mov_epi8(leaf, rows, number);
      number = _mm512_add_epi8(number, _mm512_set1_epi8(1));
      continue;
    }
    const std::uint64_t at_most =
        word_at_most(columns + static_cast<index_t>(node.column) * stride, static_cast<std::uint8_t>(node.cut.shift),
                     static_cast<std::uint8_t>(node.cut.most));
    at_node[node.left] = rows & at_most;
    at_node[node.left + 1] = rows & ~at_most;
  }
  _mm512_storeu_si512(leaves, leaf);
}
#endif

#if defined(__AVX512F__)
// The masked form with all lanes in the mask, as gcc 12 warns of the plain one.
inline __m512i places_of(const std::uint8_t* leaves) {
  return _mm512_maskz_cvtepu8_epi64(0xff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(leaves)));
}
inline __m512i places_of(const std::uint16_t* leaves) {
  return _mm512_maskz_cvtepu16_epi64(0xff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(leaves)));
}
template <class Code, class ValuesAt>
void add_eight_by_eight(const Code* leaves, double* sums, ValuesAt&& values_at) {
  FASTPU_UNROLL
  for (index_t r = 0; r < 64; r += 8) {
    _mm512_storeu_pd(sums + r, _mm512_add_pd(_mm512_loadu_pd(sums + r), values_at(places_of(leaves + r))));
  }
}
// Adds to 64 sums the values of the leaves with these numbers.
template <class Code>
void add_values(const double* values, index_t n_leaves, const Code* leaves, double* sums) {
  if (n_leaves <= 8) {
    const __m512d all = _mm512_loadu_pd(values);
    return add_eight_by_eight(leaves, sums, [&](__m512i at) { return _mm512_maskz_permutexvar_pd(0xff, at, all); });
  }
  if (n_leaves <= 32) {
    const __m512d first = _mm512_loadu_pd(values);
    const __m512d second = _mm512_loadu_pd(values + 8);
    const __m512d third = _mm512_loadu_pd(values + 16);
    const __m512d fourth = _mm512_loadu_pd(values + 24);
    return add_eight_by_eight(leaves, sums, [&](__m512i at) {
      const __mmask8 is_high = _mm512_test_epi64_mask(at, _mm512_set1_epi64(16));
      return _mm512_mask_blend_pd(is_high, _mm512_permutex2var_pd(first, at, second),
                                  _mm512_permutex2var_pd(third, at, fourth));
    });
  }
  for (index_t r = 0; r < 64; ++r) sums[r] += values[leaves[r]];
}
#else
template <class Code>
void add_values(const double* values, index_t /*n_leaves*/, const Code* leaves, double* sums) {
  for (index_t r = 0; r < 64; ++r) sums[r] += values[leaves[r]];
}
#endif

// kTogether rows go down all trees before the next ones do, so that their codes stay in the first level of cache.
template <class Code>
void add_small_trees(const SmallTree* trees, index_t n_trees, const Code* columns, index_t stride, index_t n,
                     const std::uint64_t* rows, double* scores) {
  constexpr index_t kTogether = 512;
  double sums[static_cast<std::size_t>(kTogether)];
  Code leaves[64];
  for (index_t first = 0; first < n; first += kTogether) {
    double* to = scores + first;
    const index_t size = n - first < kTogether ? n - first : kTogether;
    for (index_t r = 0; r < size; ++r) sums[r] = to[r];
    for (index_t r = size; r % 64 != 0; ++r) sums[r] = 0.0;
    for (index_t t = 0; t < n_trees; ++t) {
      const SmallTree& tree = trees[t];
      for (index_t start = 0; start < size; start += 64) {
        const Code* codes = columns + first + start;
        for (index_t r = 0; r < 64; r += kLanes<Code>) {
          find_leaves(tree.nodes, tree.n_nodes, codes + r, stride, leaves + r);
        }
        add_values(tree.values, (tree.n_nodes + 1) / 2, leaves, sums + start);
      }
    }
    for (index_t r = 0; r < size; ++r) {
      const std::uint64_t set = rows[(first + r) / 64];
      to[r] = (set >> static_cast<unsigned>(r % 64) & 1U) != 0 ? sums[r] : to[r];
    }
  }
}

}  // namespace

const CodeKernels kCodeKernels = {
    {find_ranges<std::uint8_t>, count_at_most<std::uint8_t>, split_bits<std::uint8_t>, above<std::uint8_t>,
     add_small_trees<std::uint8_t>},
    {find_ranges<std::uint16_t>, count_at_most<std::uint16_t>, split_bits<std::uint16_t>, above<std::uint16_t>,
     add_small_trees<std::uint16_t>},
    list_bits,
    kRowsPerListed,
};

}  // namespace fastpu::detail::FASTPU_LEVEL
