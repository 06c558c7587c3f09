// The rows of a bag, and where those of a node are among them. The rows of a node lie together in a list, those of P
// apart from those of U.
//
// PuDenseRows and PuSparseRows answer what growing a tree asks of the rows of a node, each for its form of codes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "tree/pu_criterion.hpp"
#include "tree/split_list.hpp"

namespace fastpu::detail {

// Where the rows of a node are in one of two lists: the rows of one group, then those of the other. The same places of
// the other list are free.
struct PuRange {
  std::uint32_t first = 0;
  std::uint32_t middle = 0;  // where the second group begins
  std::uint32_t end = 0;
  std::uint32_t unl_first = 0;  // 1: the rows of U come first, 0: those of P
  std::uint32_t list = 0;       // the number of the list

  std::uint32_t n_rows() const { return end - first; }
  PuCounts counts() const {
    return unl_first != 0 ? PuCounts{end - middle, middle - first} : PuCounts{middle - first, end - middle};
  }
};

// The rows of a bag as they were drawn, those of P before those of U; a row that was drawn twice is there twice.
struct Bag {
  std::vector<std::uint32_t> rows;
  std::uint32_t n_pos = 0;

  PuRange range() const { return {.middle = n_pos, .end = static_cast<std::uint32_t>(rows.size())}; }
};

// Fills the first of two lists with the rows of a bag, and makes the other one as long.
inline void copy_rows(const Bag& bag, std::array<std::vector<std::uint32_t>, 2>& lists) {
  or_out_of_memory<std::uint32_t>(std::ssize(bag.rows), "the rows of a bag", [&](std::size_t n) {
    lists[0] = bag.rows;
    lists[1].resize(n);
  });
}

// A feature that was drawn for a node, and its random cut.
struct DrawnFeature {
  std::uint32_t feature = 0;
  double where = 0;       // in [0, 1): where the cut lies between the smallest and the largest value
  std::uint32_t low = 0;  // the codes of the node's rows, missing values apart, go from here
  std::uint32_t high = 0;
  std::uint32_t cut = 0;  // rows whose code is at most this go left
  PuCounts at_most;       // how many these are
};

// Splits the rows of a node by goes_left(row), which is true for n_left of them. `left` may be the node itself. The
// ranges are written field by field, as a copy of a whole range would wait for the writes of its parts.
template <class GoesLeft>
void split_range(std::array<std::vector<std::uint32_t>, 2>& lists, const PuRange& node, const PuCounts& n_left,
                 PuRange& left, PuRange& right, GoesLeft&& goes_left) {
  const std::uint32_t first = node.first;
  const std::uint32_t n_first = node.middle - first;
  const std::uint32_t n_first_left = node.unl_first != 0 ? n_left.u : n_left.p;
  const std::uint32_t list = node.list;
  std::uint32_t* rows = lists[list].data() + first;
  split_list(rows, node.n_rows(), rows, lists[1 - list].data() + first, goes_left);
  right.first = first + n_left.rows();
  right.middle = node.end - (n_first - n_first_left);
  right.end = node.end;
  right.unl_first = 1 - node.unl_first;
  right.list = 1 - list;
  left.first = first;
  left.middle = first + n_first_left;
  left.end = right.first;
  left.unl_first = node.unl_first;
  left.list = list;
}

}  // namespace fastpu::detail
