// Loops over the codes of many rows, compiled once per instruction-set level: those that grow trees on all features of
// some rows, and those that send rows down trees.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// list_bits may write this many places beyond the end of its list.
inline constexpr index_t kPastList = 8;

// Codes row by row. The stride is 8, 16, 32 or a multiple of 64 bytes, and all codes up to it can be read.
template <class Code>
struct CodeTable {
  const Code* codes = nullptr;
  index_t stride = 0;
};

// The cut of a node among the codes of its column, and whether code 0, which then stands for missing values alone, goes
// right all the same.
struct CodeCut {
  index_t cut = 0;
  bool missing_right = false;
};

// A node of a tree that rows of codes go down.
struct WalkedNode {
  static constexpr std::uint32_t kBySet = 2;

  struct Cut {
    std::uint32_t most = 0;   // a row goes left where code - shift <= most, or where set number `most` has the code
    std::uint32_t shift = 0;  // 0 or 1, or kBySet for the latter
  };
  std::uint32_t left = 0;  // number of the left child; 0 in a leaf
  std::uint32_t column = 0;
  union {
    Cut cut{};
    double value;
  };
};
static_assert(sizeof(WalkedNode) == 16);

// Most nodes of a small tree: there every row is compared at every node, without branches.
inline constexpr index_t kSmallTree = 127;

// A small tree without splits by sets of codes.
struct SmallTree {
  const WalkedNode* nodes = nullptr;
  index_t n_nodes = 0;
  const double* values = nullptr;  // of its leaves, in the order of their nodes; n_read() of them can be read

  static index_t n_read(index_t n_leaves) { return n_leaves <= 8 ? 8 : n_leaves <= 32 ? 32 : n_leaves; }
};

template <class Code>
struct CodeKernelsOf {
  // Writes the least and the largest code of each feature among the listed rows. low[f] is the least code - shift[f],
  // in unsigned numbers: where shift[f] is 1, not 0, code 0 counts as the largest.
  void (*find_ranges)(const CodeTable<Code>&, const std::uint32_t* rows, index_t n, const Code* shift, Code* low,
                      Code* high);
  // counts[f] = the number of listed rows whose code of feature f is at most cut[f].
  void (*count_at_most)(const CodeTable<Code>&, const std::uint32_t* rows, index_t n, const Code* cut,
                        std::uint32_t* counts);
  // Splits a set of rows, a bit for each, by their codes in a column: those with code - shift <= most go left. `right`
  // may be `rows`. Returns how many go left. 64 n_words codes can be read.
  index_t (*split_bits)(const Code* column, Code shift, Code most, index_t n_words, const std::uint64_t* rows,
                        std::uint64_t* left, std::uint64_t* right);
  // Bit i of words[i / 64] says whether codes[i] > cut, for 64 n_words codes.
  void (*above)(const Code* codes, Code cut, index_t n_words, std::uint64_t* words);
  // Adds the values of trees, in their order, to the scores of a set of rows below n, a bit for each. Row r of column c
  // has the code columns[c * stride + r]; codes up to a multiple of 64 rows can be read.
  void (*add_small_trees)(const SmallTree* trees, index_t n_trees, const Code* columns, index_t stride, index_t n,
                          const std::uint64_t* rows, double* scores);
};

struct CodeKernels {
  CodeKernelsOf<std::uint8_t> bytes;
  CodeKernelsOf<std::uint16_t> pairs;
  // Lists the members of a set, a bit for each, and returns their number. The list has kPastList further places.
  std::uint32_t (*list_bits)(const std::uint64_t* words, index_t n_words, std::uint16_t* list);
  // Splitting a set takes as long as splitting the list of its members where one in so many rows is a member.
  index_t rows_per_listed;

  template <class Code>
  const CodeKernelsOf<Code>& of() const {
    return for_type<Code>(bytes, pairs);
  }
};

FASTPU_KERNEL_LEVELS(CodeKernels, kCodeKernels, code_kernels)

}  // namespace fastpu::detail
