// Copies of kernel rows with some of their columns: they are those of the row, and the oldest give way to new ones.
#include <vector>

#include "check.hpp"
#include "svm/cached_rows.hpp"

namespace {

using fastpu::AlignedBuffer;
using fastpu::index_t;
using fastpu::detail::NarrowRows;

constexpr index_t kColumns = 40;

// Entry c of row r is 100 r + c.
std::vector<double> whole_row(index_t row) {
  std::vector<double> values;
  values.reserve(kColumns);
  for (index_t c = 0; c < kColumns; ++c) values.push_back(static_cast<double>(100 * row + c));
  return values;
}

void check_copy(const double* copy, index_t row, const std::vector<index_t>& columns) {
  REQUIRE(copy != nullptr);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    CHECK(copy[k] == static_cast<double>(100 * row + columns[k]));
  }
}

}  // namespace

CASE("a copy has the chosen columns of its row, and zeros up to a whole panel") {
  const std::vector<index_t> columns{1, 4, 5, 39};
  AlignedBuffer<double> memory;
  NarrowRows<double> rows;
  rows.set_columns(columns, 3, memory);
  CHECK(rows.columns() == columns);
  const std::vector<double> whole = whole_row(2);
  const double* const copy = rows.add(2, whole.data());
  check_copy(copy, 2, columns);
  for (index_t k = 4; k < fastpu::kKernelPanel; ++k) CHECK(copy[k] == 0);
  CHECK(rows.holds(2));
  CHECK(!rows.holds(0));
  CHECK(rows.find(2) == copy);
  CHECK(rows.find(0) == nullptr);
}

CASE("the oldest copy gives way, but never the one that was asked for last") {
  const std::vector<index_t> columns{0, 2, 3, 7, 9, 11};
  AlignedBuffer<double> memory;
  NarrowRows<double> rows;
  rows.set_columns(columns, 2, memory);
  const auto add = [&](index_t row) {
    const std::vector<double> whole = whole_row(row);
    return rows.add(row, whole.data());
  };
  add(0);
  add(1);
  check_copy(rows.find(0), 0, columns);
  add(2);  // 0 is the oldest, and was asked for last
  CHECK(rows.holds(0));
  CHECK(!rows.holds(1));
  check_copy(rows.find(0), 0, columns);
  check_copy(rows.find(2), 2, columns);
  add(3);
  CHECK(!rows.holds(0));
  check_copy(rows.find(2), 2, columns);
  check_copy(rows.find(3), 3, columns);
}

CASE("other columns make all copies go") {
  AlignedBuffer<double> memory;
  NarrowRows<double> rows;
  rows.set_columns({0, 1, 2, 3}, 4, memory);
  const std::vector<double> whole = whole_row(3);
  rows.add(3, whole.data());
  CHECK(rows.has_room_for_all());
  rows.set_columns({5, 6, 8, 30, 31}, 4, memory);
  CHECK(!rows.has_room_for_all());
  for (index_t row = 0; row < 5; ++row) CHECK(!rows.holds(row));
  check_copy(rows.add(3, whole.data()), 3, {5, 6, 8, 30, 31});
}

CASE("a long run of copies holds the last ones, each with its own values") {
  const std::vector<index_t> columns{3, 8, 13, 21, 34};
  constexpr index_t kRoom = 4;
  AlignedBuffer<double> memory;
  NarrowRows<double> rows;
  rows.set_columns(columns, kRoom, memory);
  for (index_t step = 0; step < 200; ++step) {
    const index_t row = (step * step + 3 * step) % 5;
    const double* copy = rows.find(row);
    if (copy == nullptr) {
      const std::vector<double> whole = whole_row(row);
      copy = rows.add(row, whole.data());
    }
    check_copy(copy, row, columns);
    index_t n_held = 0;
    for (index_t other = 0; other < 5; ++other) {
      if (rows.holds(other)) ++n_held;
    }
    CHECK(n_held <= kRoom);
    CHECK(rows.holds(row));
  }
}

CASE("memory is taken once, and again only where more is needed") {
  AlignedBuffer<double> memory;
  NarrowRows<double> rows;
  rows.set_columns({0, 1, 2, 3}, 20, memory);
  const double* const first = memory.data();
  rows.set_columns({4, 5}, 20, memory);
  CHECK(memory.data() == first);
  const std::vector<double> whole = whole_row(1);
  check_copy(rows.add(1, whole.data()), 1, {4, 5});
  const index_t size = memory.size();
  rows.set_columns({0, 1, 2, 3}, 2000, memory);
  CHECK(memory.size() > size);
}
