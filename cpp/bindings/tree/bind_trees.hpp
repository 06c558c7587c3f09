// How trees cross between Python and the core.
#pragma once

#include <vector>

#include "common/arguments.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// Sets of categories as rows of four words.
inline py::array_t<std::uint64_t> sets_to_array(const std::vector<CategorySet>& sets) {
  py::array_t<std::uint64_t> array({static_cast<py::ssize_t>(sets.size()), py::ssize_t{4}});
  std::uint64_t* to = array.mutable_data();
  for (const CategorySet& set : sets) to = std::copy(set.words.begin(), set.words.end(), to);
  return array;
}

}  // namespace fastpu
