// The kernel cache against directly computed values: whatever the columns do, and after failures; what it computes and
// what it forgets.
#include "fastpu/kernels/kernel_cache.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "svm_data.hpp"

namespace {

using fastpu::index_t;
using fastpu::Kernel;
using fastpu::KernelCache;
using fastpu::KernelColumns;
using fastpu::kKernelPanel;
using fastpu::Team;

// Columns that a worker computes at a time: what is missing of a row may be computed from the start of such a block.
constexpr index_t kMostRepeated = 4 * kKernelPanel;

// Counts the values that are asked for, and may refuse to give them.
template <class T>
class CountingKernel final : public Kernel<T> {
 public:
  explicit CountingKernel(index_t n_rows, bool is_serial = false) : n_rows_(n_rows), is_serial_(is_serial) {}

  struct Columns final : KernelColumns<T> {
    std::vector<index_t> rows;
  };

  static T value(index_t row, index_t column) { return static_cast<T>(row * 1000 + column + 1); }

  index_t n_rows() const override { return n_rows_; }
  double diagonal(index_t row) const override { return static_cast<double>(value(row, row)); }
  bool gains_by_several_rows() const override { return true; }
  bool is_serial() const override { return is_serial_; }
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const override {
    if (must_refuse_columns) throw std::runtime_error("no columns");
    team.poll();
    auto columns = std::make_unique<Columns>();
    columns->rows.assign(rows, rows + n);
    return columns;
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
            T* const* out) const override {
    const auto& chosen = static_cast<const Columns&>(columns).rows;
    CHECK(first % kKernelPanel == 0);
    CHECK(last <= static_cast<index_t>(chosen.size()));
    const index_t end = fastpu::round_up(last, kKernelPanel);
    for (index_t k = 0; k < n; ++k) {
      for (index_t c = first; c < end; ++c) {
        // Half of a fill is done when it fails.
        if (k == n / 2 && c == (first + last) / 2) fail_if_wanted();
        out[k][c - first] = c < last ? value(rows[k], chosen[at(c)]) : T{};
      }
    }
    n_values += n * (last - first);
  }

  void fail_if_wanted() const {
    if (fills_left < 0) return;
    if (fills_left-- == 0) throw std::runtime_error("no values");
  }

  mutable std::atomic<index_t> n_values{0};
  mutable std::atomic<int> fills_left{-1};  // so many succeed, the next one fails; -1: all succeed
  mutable bool must_refuse_columns = false;

 private:
  index_t n_rows_;
  bool is_serial_;
};

template <class T>
index_t slot_bytes(index_t n_columns) {
  return fastpu::round_up(n_columns, kKernelPanel) * static_cast<index_t>(sizeof(T));
}

// The least max_bytes (but for a panel) that holds n_slots rows of all columns: some of it is for other things.
template <class T>
index_t bytes_for(const CountingKernel<T>& kernel, index_t n_slots) {
  const std::vector<index_t> columns = all_rows(kernel.n_rows());
  Team team(1);
  for (index_t bytes = n_slots * slot_bytes<T>(kernel.n_rows());; bytes += slot_bytes<T>(1)) {
    KernelCache<T> cache(kernel, bytes);
    cache.set_columns(columns.data(), kernel.n_rows(), team);
    if (cache.capacity() >= n_slots) return bytes;
  }
}

// Asks for rows and compares every value; returns how many values the kernel was asked for.
template <class T>
index_t get_and_check(KernelCache<T>& cache, const CountingKernel<T>& kernel, const std::vector<index_t>& rows,
                      Team& team) {
  const index_t before = kernel.n_values;
  std::vector<const T*> values(rows.size());
  cache.get(rows.data(), static_cast<index_t>(rows.size()), values.data(), team);
  bool is_right = true;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t c = 0; c < cache.columns().size(); ++c) {
      is_right = is_right && values[k][c] == CountingKernel<T>::value(rows[k], cache.columns()[c]);
    }
    is_right = is_right && cache.holds(rows[k]);
  }
  CHECK(is_right);
  return kernel.n_values - before;
}

template <class T>
void set(KernelCache<T>& cache, const std::vector<index_t>& columns, Team& team) {
  cache.set_columns(columns.data(), static_cast<index_t>(columns.size()), team);
}

std::vector<index_t> range(index_t first, index_t last) {
  std::vector<index_t> out;
  for (index_t i = first; i < last; ++i) out.push_back(i);
  return out;
}

// Some of 0 to n - 1 in any order.
std::vector<index_t> sample(index_t n, index_t how_many, std::mt19937& random) {
  std::vector<index_t> rows = all_rows(n);
  std::shuffle(rows.begin(), rows.end(), random);
  rows.resize(at(how_many));
  return rows;
}

// Those that stay first, in their old order, then the others as they come.
std::vector<index_t> expected_columns(const std::vector<index_t>& old, const std::vector<index_t>& wanted) {
  std::vector<index_t> out;
  for (const index_t c : old) {
    if (std::ranges::find(wanted, c) != wanted.end()) out.push_back(c);
  }
  for (const index_t c : wanted) {
    if (std::ranges::find(old, c) == old.end()) out.push_back(c);
  }
  return out;
}

template <class T>
void check_random_sequence(index_t n_rows, index_t max_bytes, bool is_serial, int n_threads, unsigned seed) {
  std::mt19937 random = random_numbers(seed);
  const auto below = [&](index_t n) { return static_cast<index_t>(random() % static_cast<unsigned>(n)); };
  const CountingKernel<T> kernel(n_rows, is_serial);
  KernelCache<T> cache(kernel, max_bytes);
  Team team(n_threads);
  for (int step = 0; step < 60; ++step) {
    const std::vector<index_t> old = cache.columns();
    std::vector<index_t> wanted;
    switch (old.empty() ? 3 : below(6)) {
      case 0:  // some go
        wanted = old;
        std::shuffle(wanted.begin(), wanted.end(), random);
        wanted.resize(std::max<std::size_t>(1, at(below(static_cast<index_t>(wanted.size()) + 1))));
        break;
      case 1:  // some come
        wanted = old;
        for (const index_t c : sample(n_rows, below(n_rows) + 1, random)) {
          if (std::ranges::find(wanted, c) == wanted.end()) wanted.push_back(c);
        }
        break;
      case 2:  // the same in another order
        wanted = old;
        std::shuffle(wanted.begin(), wanted.end(), random);
        break;
      case 3:  // any
        wanted = sample(n_rows, below(n_rows) + 1, random);
        break;
      case 4:  // none of the old ones
        for (const index_t c : sample(n_rows, n_rows, random)) {
          if (std::ranges::find(old, c) == old.end()) wanted.push_back(c);
        }
        if (wanted.empty()) wanted = {below(n_rows)};
        break;
      default:  // all
        wanted = all_rows(n_rows);
        break;
    }
    set(cache, wanted, team);
    CHECK(cache.columns() == expected_columns(old, wanted));
    REQUIRE(cache.capacity() >= std::min<index_t>(2, n_rows));
    for (index_t n_gets = below(5); n_gets > 0; --n_gets) {
      const index_t most = std::min(cache.capacity(), n_rows);
      const std::vector<index_t> rows = sample(n_rows, below(most) + 1, random);
      get_and_check(cache, kernel, rows, team);
      CHECK(get_and_check(cache, kernel, rows, team) == 0);
    }
  }
}

}  // namespace

CASE("values are right in any sequence of columns and rows") {
  unsigned seed = 0;
  for (const index_t n_rows : {1, 2, 5, 64, 150, 300}) {
    for (const index_t max_bytes : {index_t{0}, index_t{2000}, 5 * slot_bytes<double>(n_rows), index_t{1} << 20}) {
      check_random_sequence<double>(n_rows, max_bytes, false, 1, ++seed);
      check_random_sequence<float>(n_rows, max_bytes, false, 3, ++seed);
      check_random_sequence<double>(n_rows, max_bytes, true, 2, ++seed);
    }
  }
}

CASE("values are right when several threads compute them") {
  const CountingKernel<float> kernel(2000);
  for (const int n_threads : {1, 2, 3, 7}) {
    KernelCache<float> cache(kernel, index_t{1} << 24);
    Team team(n_threads);
    set(cache, range(0, 2000), team);
    get_and_check(cache, kernel, range(0, 100), team);
    set(cache, range(300, 1500), team);
    CHECK(get_and_check(cache, kernel, range(0, 100), team) == 0);
    set(cache, range(0, 2000), team);
    get_and_check(cache, kernel, range(0, 200), team);
  }
}

CASE("pending rows are found when they are finished, and not before") {
  const CountingKernel<double> kernel(1'000);
  KernelCache<double> cache(kernel, index_t{1} << 30);
  Team team(1);
  const std::vector<index_t> columns = all_rows(1'000);
  cache.set_columns(columns.data(), 1'000, team);
  KernelCache<double>::PendingRows pending;
  cache.prepare(columns.data() + 3, 5, 0, pending);
  CHECK(pending.n_blocks() > 1);
  for (index_t block = pending.n_blocks() - 1; block >= 0; --block) {
    cache.compute(pending, block);
    for (index_t row = 3; row < 8; ++row) CHECK(cache.find(row) == nullptr);
  }
  cache.finish(pending);
  CHECK(pending.n_blocks() == 0);
  for (index_t row = 3; row < 8; ++row) {
    const double* values = cache.find(row);
    CHECK(values != nullptr);
    for (index_t c = 0; c < 1'000; ++c) CHECK(values[c] == CountingKernel<double>::value(row, c));
  }
  CHECK(kernel.n_values == 5'000);
  cache.prepare(columns.data() + 3, 5, 0, pending);
  CHECK(pending.n_blocks() == 0);
}

CASE("the cache holds what fits, but never less than two rows") {
  constexpr index_t kRows = 200;
  const CountingKernel<double> kernel(kRows);
  Team team(1);
  for (const index_t max_bytes : {index_t{0}, index_t{1}, slot_bytes<double>(kRows), 2 * slot_bytes<double>(kRows)}) {
    KernelCache<double> cache(kernel, max_bytes);
    CHECK(cache.capacity() == 0);
    set(cache, all_rows(kRows), team);
    CHECK(cache.capacity() == 2);
  }
  const index_t bytes = bytes_for(kernel, 7);
  CHECK(bytes <= index_t{14} * slot_bytes<double>(kRows));
  KernelCache<double> some(kernel, bytes);
  set(some, all_rows(kRows), team);
  CHECK(some.capacity() == 7);
  set(some, range(0, 64), team);  // four fit where one was
  CHECK(some.capacity() == 28);
  KernelCache<double> more_than_enough(kernel, index_t{1} << 50);
  set(more_than_enough, all_rows(kRows), team);
  CHECK(more_than_enough.capacity() == kRows);
}

CASE("with room for two rows, the one that was used last survives") {
  const CountingKernel<double> kernel(100);
  KernelCache<double> cache(kernel, 0);
  Team team(1);
  set(cache, all_rows(100), team);
  REQUIRE(cache.capacity() == 2);
  const double* first = nullptr;
  const double* second = nullptr;
  index_t row = 7;
  cache.get(&row, 1, &first, team);
  for (const index_t other : {3, 50, 99, 3}) {
    row = other;
    cache.get(&row, 1, &second, team);
    row = 7;
    cache.get(&row, 1, &first, team);
    CHECK(first != second);
    CHECK(first[5] == CountingKernel<double>::value(7, 5));  // both are valid until the call after the next
    CHECK(second[5] == CountingKernel<double>::value(other, 5));
    CHECK(cache.holds(7));
    CHECK(cache.holds(other));
  }
  CHECK(!cache.holds(50));
  CHECK(kernel.n_values == index_t{5} * 100);
}

CASE("the least recently used row makes place") {
  constexpr index_t kRows = 90;
  constexpr index_t kCapacity = 6;
  const CountingKernel<double> kernel(kRows);
  KernelCache<double> cache(kernel, bytes_for(kernel, kCapacity));
  Team team(1);
  set(cache, all_rows(kRows), team);
  REQUIRE(cache.capacity() == kCapacity);
  std::mt19937 random = random_numbers(5);
  std::list<index_t> held;  // the newest last
  for (int step = 0; step < 500; ++step) {
    const std::vector<index_t> rows = sample(12, 1 + static_cast<index_t>(random() % kCapacity), random);
    index_t n_missing = 0;
    for (const index_t row : rows) {  // those that are there are used first: none of them makes place
      if (std::ranges::find(held, row) == held.end()) continue;
      held.remove(row);
      held.push_back(row);
    }
    for (const index_t row : rows) {
      if (std::ranges::find(held, row) != held.end()) continue;
      ++n_missing;
      if (static_cast<index_t>(held.size()) == kCapacity) held.pop_front();
      held.push_back(row);
    }
    CHECK(get_and_check(cache, kernel, rows, team) == n_missing * kRows);
    for (index_t row = 0; row < kRows; ++row) {
      CHECK(cache.holds(row) == (std::ranges::find(held, row) != held.end()));
    }
  }
}

CASE("rows keep their values when columns go and come back") {
  constexpr index_t kRows = 700;
  constexpr index_t kAsked = 30;
  for (const bool is_serial : {false, true}) {
    const CountingKernel<double> kernel(kRows, is_serial);
    KernelCache<double> cache(kernel, index_t{1} << 24);
    Team team(1);
    const std::vector<index_t> rows = range(100, 100 + kAsked);
    set(cache, all_rows(kRows), team);
    CHECK(get_and_check(cache, kernel, rows, team) == kAsked * kRows);
    set(cache, range(200, 600), team);
    CHECK(get_and_check(cache, kernel, rows, team) == 0);
    set(cache, range(250, 300), team);
    CHECK(get_and_check(cache, kernel, rows, team) == 0);
    set(cache, range(240, 700), team);  // 50 are there, 410 have to be computed
    const index_t computed = get_and_check(cache, kernel, rows, team);
    CHECK(computed >= kAsked * 410);
    CHECK(computed <= kAsked * (410 + kMostRepeated));
    set(cache, range(250, 300), team);
    set(cache, range(240, 700), team);
    set(cache, range(250, 300), team);
    CHECK(get_and_check(cache, kernel, rows, team) == 0);
  }
}

CASE("values that are there are not computed again, but for the block that new ones begin in") {
  constexpr index_t kRows = 2000;
  for (const bool is_serial : {false, true}) {
    const CountingKernel<float> kernel(kRows, is_serial);
    KernelCache<float> cache(kernel, index_t{1} << 24);
    Team team(2);
    set(cache, range(0, 1700), team);
    get_and_check(cache, kernel, range(0, 50), team);
    set(cache, all_rows(kRows), team);
    CHECK(get_and_check(cache, kernel, range(0, 50), team) <= 50 * (300 + kMostRepeated));
    CHECK(get_and_check(cache, kernel, range(0, 60), team) == 10 * kRows);
  }
}

CASE("the same columns in another order change nothing") {
  const CountingKernel<double> kernel(80);
  KernelCache<double> cache(kernel, index_t{1} << 20);
  Team team(1);
  set(cache, range(10, 70), team);
  get_and_check(cache, kernel, range(0, 20), team);
  std::vector<index_t> backwards = range(10, 70);
  std::ranges::reverse(backwards);
  set(cache, backwards, team);
  CHECK(cache.columns() == range(10, 70));
  CHECK(get_and_check(cache, kernel, range(0, 20), team) == 0);
}

CASE("when columns come and fewer rows fit, the newest stay") {
  const CountingKernel<double> kernel(128);
  KernelCache<double> cache(kernel, bytes_for(kernel, 4));
  Team team(1);
  set(cache, range(0, 64), team);
  REQUIRE(cache.capacity() == 8);
  get_and_check(cache, kernel, range(0, 8), team);
  get_and_check(cache, kernel, {3, 1}, team);
  set(cache, range(0, 128), team);
  REQUIRE(cache.capacity() == 4);
  for (index_t row = 0; row < 8; ++row) CHECK(cache.holds(row) == (row == 3 || row == 1 || row >= 6));
  CHECK(get_and_check(cache, kernel, {1, 3, 6, 7}, team) <= index_t{4} * 128);
}

CASE("a kernel that fails leaves the cache usable, with right values") {
  constexpr index_t kRows = 900;  // several blocks a row
  for (const bool is_serial : {false, true}) {
    for (const int n_threads : {1, 3}) {
      for (int n_fine = 0; n_fine < 8; ++n_fine) {
        const CountingKernel<double> kernel(kRows, is_serial);
        KernelCache<double> cache(kernel, bytes_for(kernel, 100));
        Team team(n_threads);
        set(cache, range(0, 600), team);
        get_and_check(cache, kernel, range(0, 70), team);
        set(cache, range(100, 900), team);
        kernel.fills_left = n_fine;
        std::vector<const double*> values(95);
        const std::vector<index_t> rows = range(40, 135);
        bool has_failed = false;
        try {
          cache.get(rows.data(), 95, values.data(), team);
        } catch (const std::runtime_error&) {
          has_failed = true;
        }
        kernel.fills_left = -1;
        CHECK(has_failed == (n_fine < (is_serial ? 1 : 4)));
        get_and_check(cache, kernel, rows, team);
        get_and_check(cache, kernel, range(0, 95), team);
        set(cache, range(0, 600), team);
        get_and_check(cache, kernel, rows, team);
        get_and_check(cache, kernel, range(0, 95), team);
      }
    }
  }
}

CASE("columns that cannot be had leave the cache usable, with right values") {
  const CountingKernel<double> kernel(300);
  for (const bool is_first : {true, false}) {
    KernelCache<double> cache(kernel, index_t{1} << 20);
    Team team(1);
    if (!is_first) {
      set(cache, range(0, 200), team);
      get_and_check(cache, kernel, range(0, 50), team);
    }
    kernel.must_refuse_columns = true;
    CHECK_THROWS(std::runtime_error, set(cache, range(100, 300), team), "no columns");
    kernel.must_refuse_columns = false;
    set(cache, range(100, 300), team);
    get_and_check(cache, kernel, range(0, 60), team);
    set(cache, range(0, 200), team);
    get_and_check(cache, kernel, range(0, 60), team);
  }
}

CASE("Poll that throws while columns change leaves the cache usable, with right values") {
  int polls_left = -1;
  Team team(1, [&] {
    if (polls_left < 0) return;
    if (--polls_left < 0) throw std::runtime_error("interrupted");
  });
  const std::vector<std::pair<std::vector<index_t>, std::vector<index_t>>> changes = {
      {range(0, 200), range(100, 300)},  // some go and some come
      {range(0, 300), range(150, 300)},  // some go
      {range(100, 200), range(0, 300)},  // some come
  };
  for (const auto& [before, after] : changes) {
    for (const bool is_back : {false, true}) {  // what is wanted next: the old columns or the new ones
      for (int n_fine = 0; n_fine < 60; ++n_fine) {
        const CountingKernel<double> kernel(300);
        KernelCache<double> cache(kernel, index_t{1} << 20);
        set(cache, before, team);
        get_and_check(cache, kernel, range(0, 50), team);
        get_and_check(cache, kernel, {3, 40, 7}, team);
        polls_left = n_fine;
        bool has_failed = false;
        try {
          set(cache, after, team);
        } catch (const std::runtime_error&) {
          has_failed = true;
        }
        polls_left = -1;
        if (!has_failed) break;
        set(cache, is_back ? before : after, team);
        get_and_check(cache, kernel, range(20, 70), team);
        get_and_check(cache, kernel, range(0, 50), team);
        set(cache, is_back ? after : before, team);
        get_and_check(cache, kernel, range(0, 50), team);
      }
    }
  }
}

CASE("memory that cannot be had is an error with its size, and the cache goes on with less") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: a sanitizer ends the program instead");
#else
  constexpr index_t kRows = index_t{1} << 23;
  const CountingKernel<double> kernel(kRows);
  KernelCache<double> absurd(kernel, std::numeric_limits<index_t>::max());
  Team team(1);
  CHECK_THROWS(fastpu::OutOfMemory, set(absurd, range(0, 100), team), "bytes for the cache of kernel rows (cache_mb)");
  CHECK_THROWS(fastpu::OutOfMemory, set(absurd, range(0, 100), team), "cannot allocate 562949953421312 bytes");
  CHECK(absurd.columns().empty());
  CHECK(!absurd.holds(0));
  KernelCache<double> modest(kernel, index_t{1} << 20);
  set(modest, range(0, 100), team);
  get_and_check(modest, kernel, range(0, 100), team);
#endif
}
