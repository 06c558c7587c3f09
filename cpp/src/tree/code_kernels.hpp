// Passes over the codes of some rows, all features at once: compiled once per instruction-set level.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

inline constexpr index_t kPastList = 8;

// Rows of codes. The stride is 8, 16, 32 or a multiple of 64 bytes, and every code up to it is there to be read.
template <class Code>
struct CodeTable {
  const Code* codes = nullptr;
  index_t stride = 0;
};

// A node as rows of codes are taken down a tree.
struct WalkedNode {
  static constexpr std::uint32_t kBySet = 2;

  struct Cut {
    std::uint32_t most = 0;   // goes left where code - shift <= most
    std::uint32_t shift = 0;  // 0 or 1; kBySet: goes left where set number `most` has the code
  };
  std::uint32_t left = 0;  // 0: a leaf
  std::uint32_t column = 0;
  union {
    Cut cut{};
    double value;
  };
};
static_assert(sizeof(WalkedNode) == 16);

// Most nodes of a tree for which every row is compared at every node.
inline constexpr index_t kSmallTree = 127;

// Such a tree. None of its splits is by a set of codes.
struct SmallTree {
  const WalkedNode* nodes = nullptr;
  index_t n_nodes = 0;
  const double* values = nullptr;  // of its leaves, in the order of their nodes; there is memory for n_read() of them

  static index_t n_read(index_t n_leaves) { return n_leaves <= 8 ? 8 : n_leaves <= 32 ? 32 : n_leaves; }
};

template <class Code>
struct CodeKernelsOf {
  // Copies the listed rows together.
  void (*copy_rows)(const CodeTable<Code>&, const std::uint32_t* rows, index_t n, Code* to);
  // The codes of feature f in the listed rows lie in low[f] .. high[f]. low counts from shift[f], 0 or 1: with 1 the
  // code 0 comes last.
  void (*find_ranges)(const CodeTable<Code>&, const std::uint32_t* rows, index_t n, const Code* shift, Code* low,
                      Code* high);
  // counts[f] = the number of listed rows whose code of feature f is at most cut[f].
  void (*count_at_most)(const CodeTable<Code>&, const std::uint32_t* rows, index_t n, const Code* cut,
                        std::uint32_t* counts);
  // Splits a set of rows, a bit for each, by their codes in a column: those with code - shift <= most are left. `right`
  // may be `rows`. Returns how many are left. 64 n_words codes are there to be read.
  index_t (*split_bits)(const Code* column, Code shift, Code most, index_t n_words, const std::uint64_t* rows,
                        std::uint64_t* left, std::uint64_t* right);
  // Adds to the scores of a set of rows below n, a bit for each, the values of trees, in their order. Row r of column c
  // has the code columns[c * stride + r]; codes up to a multiple of 64 rows are there to be read.
  void (*add_small_trees)(const SmallTree* trees, index_t n_trees, const Code* columns, index_t stride, index_t n,
                          const std::uint64_t* rows, double* scores);
};

struct CodeKernels {
  CodeKernelsOf<std::uint8_t> bytes;
  CodeKernelsOf<std::uint16_t> pairs;
  // Lists the members of a set, a bit for each, and returns how many they are. kPastList further places of the list are
  // written to.
  std::uint32_t (*list_bits)(const std::uint64_t* words, index_t n_words, std::uint16_t* list);
  // Splitting a set that holds one in so many of its rows takes as long as splitting a list of them.
  index_t rows_per_listed;

  template <class Code>
  const CodeKernelsOf<Code>& of() const {
    if constexpr (sizeof(Code) == 1) {
      return bytes;
    } else {
      return pairs;
    }
  }
};

FASTPU_KERNEL_LEVELS(CodeKernels, kCodeKernels, code_kernels)

}  // namespace fastpu::detail
