// The passes over rows of codes, on every instruction-set level and for every length of a row, against plain loops.
#include "tree/code_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "fastpu/common/isa.hpp"

namespace {

using fastpu::at;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::detail::CodeKernels;

// More rows than a lane of bytes can count, listed with gaps.
constexpr index_t kRows = 700;

template <class Code>
struct Table {
  index_t stride;
  std::vector<Code> codes;
  std::vector<std::uint32_t> rows;

  explicit Table(index_t bytes) : stride(bytes / static_cast<index_t>(sizeof(Code))) {
    std::mt19937 random(static_cast<std::uint32_t>(bytes));
    codes.resize(at(kRows * stride));
    for (Code& code : codes) code = static_cast<Code>(random());
    for (std::uint32_t i = 0; i < kRows; i += 1 + static_cast<std::uint32_t>(random() % 2)) rows.push_back(i);
  }

  [[nodiscard]] Code of(std::uint32_t row, index_t feature) const {
    return codes[at(static_cast<index_t>(row) * stride + feature)];
  }
  [[nodiscard]] index_t n_listed() const { return static_cast<index_t>(rows.size()); }
};

template <class Code>
void finds_the_ranges(const CodeKernels& kernels, const Table<Code>& table) {
  std::vector<Code> shift(at(table.stride));
  for (std::size_t f = 0; f < shift.size(); ++f) shift[f] = static_cast<Code>(f % 2);
  std::vector<Code> low(shift.size());
  std::vector<Code> high(shift.size());
  for (const index_t n : {index_t{0}, index_t{3}, table.n_listed()}) {
    kernels.of<Code>().find_ranges({table.codes.data(), table.stride}, table.rows.data(), n, shift.data(), low.data(),
                                   high.data());
    std::vector<Code> least(shift.size(), static_cast<Code>(~Code{0}));
    std::vector<Code> most(shift.size());
    for (index_t i = 0; i < n; ++i) {
      for (std::size_t f = 0; f < shift.size(); ++f) {
        const Code code = table.of(table.rows[at(i)], static_cast<index_t>(f));
        least[f] = std::min(least[f], static_cast<Code>(code - shift[f]));
        most[f] = std::max(most[f], code);
      }
    }
    CHECK(low == least);
    CHECK(high == most);
  }
}

template <class Code>
void counts_codes_up_to_a_cut(const CodeKernels& kernels, const Table<Code>& table) {
  std::vector<Code> cut(at(table.stride));
  std::mt19937 random(static_cast<std::uint32_t>(table.stride));
  for (Code& most : cut) most = static_cast<Code>(random());
  cut[0] = static_cast<Code>(~Code{0});
  std::vector<std::uint32_t> found(cut.size(), 7);
  std::vector<std::uint32_t> expected(cut.size());
  kernels.of<Code>().count_at_most({table.codes.data(), table.stride}, table.rows.data(), table.n_listed(), cut.data(),
                                   found.data());
  for (const std::uint32_t row : table.rows) {
    for (std::size_t f = 0; f < cut.size(); ++f) {
      if (table.of(row, static_cast<index_t>(f)) <= cut[f]) ++expected[f];
    }
  }
  CHECK(found == expected);
}

template <class Code>
void splits_sets_of_rows(const CodeKernels& kernels) {
  constexpr index_t kWords = 5;
  std::mt19937_64 random(static_cast<std::uint64_t>(kernels.rows_per_listed));
  std::vector<Code> column(at(64 * kWords));
  for (Code& code : column) code = static_cast<Code>(random() % 300);
  std::vector<std::uint64_t> rows(at(kWords));
  for (std::uint64_t& word : rows) word = random() & random();
  std::vector<std::uint64_t> left(rows.size());
  std::vector<std::uint64_t> right(rows.size());
  for (const Code shift : {Code{0}, Code{1}}) {
    for (const Code most : {Code{0}, Code{5}, Code{127}, Code{200}, static_cast<Code>(~Code{0})}) {
      const index_t n_left =
          kernels.of<Code>().split_bits(column.data(), shift, most, kWords, rows.data(), left.data(), right.data());
      index_t n_expected = 0;
      for (index_t i = 0; i < 64 * kWords; ++i) {
        const auto bit = [i](const std::vector<std::uint64_t>& set) { return (set[at(i / 64)] >> (i % 64)) & 1U; };
        const bool is_left = static_cast<Code>(column[at(i)] - shift) <= most;
        CHECK(bit(left) == (is_left ? bit(rows) : 0));
        CHECK(bit(right) == (is_left ? 0 : bit(rows)));
        n_expected += static_cast<index_t>(bit(left));
      }
      CHECK(n_left == n_expected);
    }
  }
}

template <class Code>
void finds_codes_above_a_cut(const CodeKernels& kernels) {
  constexpr index_t kWords = 3;
  std::mt19937 random(static_cast<std::uint32_t>(kernels.rows_per_listed));
  std::vector<Code> codes(at(64 * kWords));
  for (Code& code : codes) code = static_cast<Code>(random());
  codes[0] = static_cast<Code>(~Code{0});
  for (const Code cut : {Code{0}, codes[1], Code{127}, static_cast<Code>(~Code{0})}) {
    std::vector<std::uint64_t> words(at(kWords), 7);
    kernels.of<Code>().above(codes.data(), cut, kWords, words.data());
    for (std::size_t i = 0; i < codes.size(); ++i) CHECK((words[i / 64] >> (i % 64) & 1U) == (codes[i] > cut ? 1 : 0));
  }
}

void lists_the_members(const CodeKernels& kernels) {
  std::mt19937_64 random(static_cast<std::uint64_t>(kernels.rows_per_listed));
  const std::vector<std::uint64_t> words{0, 1, std::uint64_t{1} << 63U, ~std::uint64_t{0}, random() & random()};
  std::vector<std::uint16_t> expected;
  for (std::size_t i = 0; i < 64 * words.size(); ++i) {
    if ((words[i / 64] >> (i % 64) & 1U) != 0) expected.push_back(static_cast<std::uint16_t>(i));
  }
  std::vector<std::uint16_t> found(expected.size() + at(fastpu::detail::kPastList));
  CHECK(kernels.list_bits(words.data(), static_cast<index_t>(words.size()), found.data()) == expected.size());
  found.resize(expected.size());
  CHECK(found == expected);
}

template <class Body>
void on_every_level(Body&& body) {
  for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
    body(fastpu::detail::code_kernels(static_cast<Isa>(level)));
  }
}

template <class Code>
void passes_over_rows(const CodeKernels& kernels) {
  for (const index_t bytes : {8, 16, 32, 64, 192}) {
    const Table<Code> table(bytes);
    finds_the_ranges(kernels, table);
    counts_codes_up_to_a_cut(kernels, table);
  }
}

}  // namespace

CASE("rows of every length are copied, have their ranges and are counted as one by one") {
  on_every_level(passes_over_rows<std::uint8_t>);
  on_every_level(passes_over_rows<std::uint16_t>);
}

CASE("a set of rows is split at a code, from 0 or from 1") {
  on_every_level(splits_sets_of_rows<std::uint8_t>);
  on_every_level(splits_sets_of_rows<std::uint16_t>);
}

CASE("the codes above a cut are found, whatever the cut") {
  on_every_level(finds_codes_above_a_cut<std::uint8_t>);
  on_every_level(finds_codes_above_a_cut<std::uint16_t>);
}

CASE("the members of a set are listed in order") { on_every_level(lists_the_members); }
