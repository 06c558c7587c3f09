// A set of small numbers, which are visited in ascending order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Takes a bit for each number below n. A visit looks at a bit for 4096 numbers where none of them is in the set.
class BitSet {
 public:
  BitSet(index_t n, const char* what)
      : words_(make_vector<std::uint64_t>(n / index_t{kBits} + 1, what)),
        groups_(make_vector<std::uint64_t>(n / index_t{kBits * kBits} + 1, what)) {}

  void insert(std::size_t number) {
    words_[number / kBits] |= bit(number);
    groups_[number / (kBits * kBits)] |= bit(number / kBits);
  }
  void erase(std::size_t number) {
    std::uint64_t& word = words_[number / kBits];
    word &= ~bit(number);
    if (word == 0) groups_[number / (kBits * kBits)] &= ~bit(number / kBits);
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      for_bits(groups_[group], kBits * group, [&](std::size_t word) { for_bits(words_[word], kBits * word, visit); });
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(std::size_t number) { return std::uint64_t{1} << number % kBits; }
  template <class Visit>
  static void for_bits(std::uint64_t bits, std::size_t first, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(first + static_cast<std::size_t>(std::countr_zero(bits)));
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> groups_;  // for each word whether it has bits
};

}  // namespace fastpu::detail
