// Cuts and codes against a slow reading of the rule in binned_features.hpp.
#include "fastpu/data/binned_features.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "boosting_data.hpp"
#include "check.hpp"

namespace {

using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::index_t;
using fastpu::Team;

constexpr double kInf = std::numeric_limits<double>::infinity();

double or_lowest(double x) { return std::isnan(x) ? -kInf : x; }

// The rule, read literally.
std::vector<double> slow_cuts(const BoostingData& data, index_t feature, index_t max_bins, bool weighted) {
  std::map<double, double> weight_of;
  double total = 0;
  for (index_t i = 0; i < data.n; ++i) {
    const double w = weighted ? data.weight[static_cast<std::size_t>(i)] : 1.0;
    if (w <= 0) continue;
    weight_of[or_lowest(data.dense().row(i)[feature])] += w;
    total += w;
  }
  std::vector<double> values;
  std::vector<double> below;  // weight on the low side of the boundary before each value
  double sum = 0;
  for (const auto& [value, w] : weight_of) {
    values.push_back(value);
    below.push_back(sum);
    sum += w;
  }
  std::vector<std::size_t> chosen;
  const auto n_boundaries = static_cast<index_t>(values.size()) - 1;
  for (index_t k = 1; k <= std::min(max_bins, n_boundaries); ++k) {
    if (n_boundaries <= max_bins) {
      chosen.push_back(static_cast<std::size_t>(k));
      continue;
    }
    std::size_t j = 1;
    while (j + 1 < values.size() && below[j] * static_cast<double>(max_bins + 1) < static_cast<double>(k) * total) ++j;
    if (chosen.empty() || chosen.back() != j) chosen.push_back(j);
  }
  if (n_boundaries > 0 && values.front() == -kInf && chosen.front() != 1) {
    if (static_cast<index_t>(chosen.size()) == max_bins) chosen.erase(chosen.begin());
    chosen.insert(chosen.begin(), 1);
  }
  std::vector<double> cuts;
  for (const std::size_t j : chosen) {
    const double middle = 0.5 * values[j - 1] + 0.5 * values[j];
    cuts.push_back(middle < values[j] && middle >= values[j - 1] ? middle : values[j - 1]);
  }
  return cuts;
}

std::uint32_t code_of(const BinnedFeatures& b, index_t row, index_t feature) {
  const index_t at = feature * b.column_stride + row;
  return b.width == fastpu::CodeWidth::one_byte ? b.by_column[at]
                                                : reinterpret_cast<const std::uint16_t*>(b.by_column.data())[at];
}

void check_against_rule(const BoostingData& data, index_t max_bins, bool weighted) {
  Team team(2);
  const BinOptions options{max_bins, weighted ? data.weight.data() : nullptr};
  const BinnedFeatures b = bin_features(data.dense(), options, team);
  for (index_t e = 0; e < data.d; ++e) {
    const std::vector<double> expected = slow_cuts(data, e, max_bins, weighted);
    REQUIRE(b.cuts->count(e) == static_cast<index_t>(expected.size()));
    CHECK(std::equal(expected.begin(), expected.end(), b.cuts->of(e)));
    for (index_t i = 0; i < data.n; ++i) {
      const double x = data.dense().row(i)[e];
      const auto code = static_cast<std::uint32_t>(
          std::count_if(expected.begin(), expected.end(), [x](double theta) { return x > theta; }));
      CHECK(code_of(b, i, e) == code);
    }
  }
}

}  // namespace

CASE("cuts and codes follow the rule") {
  for (const index_t max_bins : {1, 2, 7, 255, 300}) {
    for (const bool weighted : {false, true}) check_against_rule(boosting_data(600, 5, 1), max_bins, weighted);
  }
  check_against_rule(boosting_data(3, 2, 2), 255, false);
  check_against_rule(boosting_data(5000, 2, 3), 255, false);  // the radix sort
}

CASE("sparse and dense have the same cuts and codes") {
  const BoostingData data = boosting_data(700, 6, 4);
  const SparseCopy sparse(data);
  Team team(3);
  for (const index_t max_bins : {1, 20, 255}) {
    for (const double* weight : {static_cast<const double*>(nullptr), data.weight.data()}) {
      const BinOptions options{max_bins, weight};
      const BinnedFeatures a = bin_features(data.dense(), options, team);
      const BinnedFeatures b = bin_features(sparse.view(), options, team);
      CHECK(same_cuts(a, b));
      for (index_t e = 0; e < data.d; ++e) {
        std::vector<std::uint32_t> codes(static_cast<std::size_t>(data.n), b.zero_code[static_cast<std::size_t>(e)]);
        for (auto p = static_cast<std::size_t>(b.column_start[static_cast<std::size_t>(e)]);
             p < static_cast<std::size_t>(b.column_start[static_cast<std::size_t>(e) + 1]); ++p) {
          codes[b.column_rows[p]] = b.column_codes[p];
        }
        for (index_t i = 0; i < data.n; ++i) CHECK(codes[static_cast<std::size_t>(i)] == code_of(a, i, e));
      }
    }
  }
}

CASE("a subset has the rows' codes") {
  const BoostingData data = boosting_data(300, 70, 5);
  Team team(2);
  const BinnedFeatures all = bin_features(data.dense(), BinOptions{16, nullptr}, team);
  const std::vector<index_t> rows = {299, 0, 0, 17, 128};
  const BinnedFeatures part = take_rows(all, rows.data(), 5, team);
  for (index_t i = 0; i < 5; ++i) {
    for (index_t e = 0; e < data.d; ++e) {
      CHECK(code_of(part, i, e) == code_of(all, rows[static_cast<std::size_t>(i)], e));
      CHECK(part.by_row[i * part.row_stride + e] == code_of(all, rows[static_cast<std::size_t>(i)], e));
    }
  }
  const index_t bad = 300;
  CHECK_THROWS(std::invalid_argument, take_rows(all, &bad, 1, team), "row 300");
  CHECK_THROWS(std::invalid_argument, take_rows(all, rows.data(), 0, team), "must keep at least one row");
}

CASE("rows binned at the cuts of others, and stacked, are those that were binned at once") {
  const BoostingData data = boosting_data(300, 70, 8);
  const SparseCopy sparse(data);
  for (const int n_threads : {1, 3}) {
    Team team(n_threads);
    for (const bool is_sparse : {false, true}) {
      BinOptions options{16, data.weight.data()};
      const BinnedFeatures all =
          is_sparse ? bin_features(sparse.view(), options, team) : bin_features(data.dense(), options, team);
      options.cuts = all.cuts;
      const BinnedFeatures again =
          is_sparse ? bin_features(sparse.view(), options, team) : bin_features(data.dense(), options, team);
      std::vector<index_t> rows(300);
      std::iota(rows.begin(), rows.end(), index_t{0});
      const BinnedFeatures top = take_rows(again, rows.data(), 120, team);
      const BinnedFeatures rest = take_rows(again, rows.data() + 120, 180, team);
      const BinnedFeatures stacked = stack_rows({&top, &rest}, team);
      check_binned(stacked, team);
      CHECK(stacked.n_rows == 300);
      CHECK(stacked.row_start == all.row_start && stacked.row_bins == all.row_bins);
      CHECK(stacked.column_rows == all.column_rows && stacked.column_codes == all.column_codes);
      CHECK(std::equal(all.by_row.data(), all.by_row.data() + all.by_row.size(), stacked.by_row.data()));
      CHECK(std::equal(all.by_column.data(), all.by_column.data() + all.by_column.size(), stacked.by_column.data()));
    }
  }
}

CASE("cuts of other features are refused, and rows with other cuts are not stacked") {
  const BoostingData data = boosting_data(50, 3, 9);
  const BoostingData wider = boosting_data(50, 4, 9);
  Team team(1);
  const BinnedFeatures all = bin_features(data.dense(), BinOptions{16, nullptr}, team);
  BinOptions options{16, nullptr};
  options.cuts = all.cuts;
  CHECK_THROWS(std::invalid_argument, bin_features(wider.dense(), options, team), "the starts of the cuts");
  const BinnedFeatures other = bin_features(data.dense(), BinOptions{5, nullptr}, team);
  CHECK_THROWS(std::invalid_argument, stack_rows({&all, &other}, team), "the same cuts");
  CHECK_THROWS(std::invalid_argument, stack_rows({}, team), "at least one");
}

CASE("orders list the rows of the bins by value") {
  const BoostingData data = boosting_data(500, 4, 6);
  Team team(2);
  fastpu::FeatureOrder order;
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{16, data.weight.data()}, team, &order);
  REQUIRE(order.features.size() == 2);  // the features that are not rounded
  for (std::size_t k = 0; k < order.features.size(); ++k) {
    const index_t e = order.features[k];
    const auto value = [&](index_t p) {
      return or_lowest(data.dense().row(order.rows[k][p] & fastpu::FeatureOrder::kRow)[e]);
    };
    for (index_t p = 1; p < order.rows[k].size(); ++p) {
      CHECK(value(p - 1) <= value(p));
      CHECK(((order.rows[k][p] & fastpu::FeatureOrder::kRunStart) != 0) == (value(p - 1) < value(p)));
    }
    for (std::size_t bin = 0; bin + 1 < order.bin_start[k].size(); ++bin) {
      for (index_t p = order.bin_start[k][bin]; p < static_cast<index_t>(order.bin_start[k][bin + 1]); ++p) {
        CHECK(code_of(b, order.rows[k][p] & fastpu::FeatureOrder::kRow, e) == bin);
      }
    }
  }
}

CASE("features of too many values are cut at quantiles where every boundary is searched") {
  const BoostingData data = boosting_data(500, 4, 6);
  const SparseCopy sparse(data);
  Team team(2);
  for (const bool weighted : {false, true}) {
    BinOptions options{16, weighted ? data.weight.data() : nullptr};
    const BinnedFeatures plain = bin_features(data.dense(), options, team);
    fastpu::FeatureOrder all;
    bin_features(data.dense(), options, team, &all);
    // With fewer rows than there may be values, or more, the cuts are those without an order.
    for (const index_t most : {index_t{16}, index_t{200}, index_t{499}, index_t{500}}) {
      options.most_distinct = most;
      fastpu::FeatureOrder order;
      const BinnedFeatures b = bin_features(data.dense(), options, team, &order);
      CHECK(b.cuts->value == plain.cuts->value);
      CHECK(order.features == (most < 499 ? std::vector<index_t>{} : all.features));
    }
    // Features 0 and 2 have more than 400 values, the rounded ones some ten.
    options.most_distinct = 300;
    fastpu::FeatureOrder none;
    bin_features(data.dense(), options, team, &none);
    CHECK(none.features.empty() && all.features.size() == 2);
    options.max_bins = 2;
    fastpu::FeatureOrder rounded;
    bin_features(data.dense(), options, team, &rounded);
    fastpu::FeatureOrder few;
    bin_features(data.dense(), BinOptions{2, options.sample_weight}, team, &few);
    REQUIRE(rounded.features == (std::vector<index_t>{1, 3}));
    for (std::size_t k = 0; k < 2; ++k) {
      const auto same = 2 * k + 1;  // of the four that have an order without the limit
      CHECK(rounded.bin_start[k] == few.bin_start[same]);
      CHECK(std::equal(rounded.rows[k].data(), rounded.rows[k].data() + rounded.rows[k].size(), few.rows[same].data()));
    }
    options.max_bins = 0;
    const BinnedFeatures s = bin_features(sparse.view(), options, team);
    const BinnedFeatures exact = bin_features(sparse.view(), BinOptions{0, options.sample_weight}, team);
    const BinnedFeatures quantiles = bin_features(sparse.view(), BinOptions{255, options.sample_weight}, team);
    for (index_t e = 0; e < 4; ++e) {
      const BinnedFeatures& like = e % 2 == 0 ? quantiles : exact;
      REQUIRE(s.cuts->count(e) == like.cuts->count(e));
      CHECK(std::equal(s.cuts->of(e), s.cuts->of(e) + s.cuts->count(e), like.cuts->of(e)));
      CHECK((s.cuts->count(e) == exact.cuts->count(e)) == (e % 2 == 1));
    }
  }
}

CASE("float32 codes agree with thresholds between float32 neighbours") {
  const float low = 1.0F;
  const float high = std::nextafter(low, 2.0F);
  const std::vector<float> x = {
      low, high, -0.0F, 0.0F, std::numeric_limits<float>::max(), -std::numeric_limits<float>::infinity()};
  Team team(1);
  const BinnedFeatures b =
      bin_features(fastpu::DenseView<float>{x.data(), static_cast<index_t>(x.size()), 1}, BinOptions{}, team);
  const std::vector<std::uint8_t> expected = {2, 3, 1, 1, 4, 0};
  for (index_t i = 0; i < static_cast<index_t>(x.size()); ++i)
    CHECK(b.by_column[i] == expected[static_cast<std::size_t>(i)]);
}

CASE("equal weights are no weights") {
  BoostingData data = boosting_data(2000, 3, 8);
  const SparseCopy sparse(data);
  Team team(1);
  for (const double weight : {0.7, 1e-300, 3.0}) {
    data.weight.assign(data.weight.size(), weight);
    for (const index_t max_bins : {9, 256}) {
      const BinOptions with{max_bins, data.weight.data()};
      const BinOptions without{max_bins, nullptr};
      CHECK(same_cuts(bin_features(data.dense(), with, team), bin_features(data.dense(), without, team)));
      CHECK(same_cuts(bin_features(sparse.view(), with, team), bin_features(sparse.view(), without, team)));
    }
  }
}

CASE("long loops poll, and stop where they are told to") {
  // The entries of one column are a million, more than a loop may run through without a look.
  const index_t n = 2'100'000;
  const std::vector<double> x(static_cast<std::size_t>(n), 1.5);
  const std::vector<std::int32_t> columns(static_cast<std::size_t>(n), 0);
  std::vector<index_t> row_start(static_cast<std::size_t>(n) + 1);
  std::iota(row_start.begin(), row_start.end(), index_t{0});
  std::vector<double> weight(static_cast<std::size_t>(n), 1.0);
  weight[0] = 2;
  const fastpu::CsrView<double> sparse{x.data(), columns.data(), row_start.data(), n, 1};
  const fastpu::DenseView<double> dense{x.data(), n, 1};
  const auto work = [&](int kind, Team& team) {
    const BinOptions options{255, kind == 1 ? weight.data() : nullptr};
    return kind < 2 ? bin_features(sparse, options, team) : bin_features(dense, options, team);
  };
  for (const int kind : {0, 1, 2}) {
    int n_polls = 0;
    Team counting(1, [&n_polls] { ++n_polls; });
    const BinnedFeatures whole = work(kind, counting);
    // A loop over the entries looks at least once a million: counting, scattering, keys, sorting, codes, ...
    CHECK(n_polls >= (kind < 2 ? 20 : 6));
    for (int stop_at = 0; stop_at < n_polls; stop_at += 1 + n_polls / 8) {
      int left = stop_at;
      Team stopped(1, [&left] {
        if (left-- == 0) throw std::runtime_error("stopped");
      });
      CHECK_THROWS(std::runtime_error, work(kind, stopped), "stopped");
      left = -1;
      CHECK(same_cuts(work(kind, stopped), whole));
    }
  }
}

CASE("members that do not fit together are refused") {
  const BoostingData data = boosting_data(100, 3, 9);
  const SparseCopy copy(data);
  Team team(1);
  const auto refuses = [&](bool sparse, auto damage, const char* message) {
    const BinOptions options{16, nullptr};
    BinnedFeatures b = sparse ? bin_features(copy.view(), options, team) : bin_features(data.dense(), options, team);
    check_binned(b, team);  // as it was made, it is sound
    const auto cuts = std::make_shared<fastpu::Cuts>(*b.cuts);
    damage(b, *cuts);
    if (b.cuts != nullptr) b.cuts = cuts;
    CHECK_THROWS(std::invalid_argument, (check_binned(b, team), 0), message);
  };
  using fastpu::Cuts;
  for (const bool sparse : {false, true}) {
    refuses(sparse, [](BinnedFeatures& b, Cuts&) { b.cuts = nullptr; }, "no cuts");
    refuses(sparse, [](BinnedFeatures& b, Cuts&) { b.n_features = std::numeric_limits<index_t>::max(); }, "starts");
    refuses(sparse, [](BinnedFeatures&, Cuts& c) { c.start.clear(); }, "starts");
    refuses(sparse, [](BinnedFeatures&, Cuts& c) { c.value[1] = std::nan(""); }, "NaN");
    refuses(sparse, [](BinnedFeatures&, Cuts& c) { c.value[1] = c.value[0]; }, "do not ascend");
  }
  refuses(false, [](BinnedFeatures& b, Cuts&) { b.n_rows = fastpu::kMaxRows; }, "strides");
  refuses(false, [](BinnedFeatures& b, Cuts&) { b.by_row[2] = 200; }, "row 0 has a code above");
  refuses(false, [](BinnedFeatures& b, Cuts&) { b.by_row[7] = 1; }, "row 0 has a code above");  // the padding
  refuses(true, [](BinnedFeatures& b, Cuts&) { b.zero_code[0] = 99; }, "code of zero of feature 0");
  refuses(true, [](BinnedFeatures& b, Cuts&) { b.row_start[1] = -1; }, "descends");
  refuses(true, [](BinnedFeatures& b, Cuts&) { std::swap(b.row_bins[0], b.row_bins[1]); }, "do not ascend");
}

CASE("memory that is not there is named") {
  const index_t too_many = index_t{1} << 60;  // more than any vector may hold: no allocator is asked
  CHECK_THROWS(fastpu::OutOfMemory, fastpu::make_vector<double>(too_many, "a test"),
               "cannot allocate 9223372036854775808 bytes for a test");
  CHECK_THROWS(fastpu::OutOfMemory, fastpu::reserve_vector<double>(-1, "a test"), "for a test");
  CHECK(fastpu::make_vector<int>(3, "a test") == std::vector<int>(3, 0));
  CHECK(fastpu::reserve_vector<int>(3, "a test").empty());
}

CASE("a message about memory needs none: what is too long for it is cut off") {
  CHECK(fastpu::OutOfMemory("rows", 18446744073709551615ULL).what() ==
        std::string("cannot allocate 18446744073709551615 bytes for rows"));
  const std::string cut = fastpu::OutOfMemory(std::string(1000, 'x').c_str(), 7).what();
  CHECK(cut == "cannot allocate 7 bytes for " + std::string(cut.size() - 28, 'x'));
  CHECK(cut.size() < 1000);
}

CASE("many rows are cut, taken and checked the same by every number of threads") {
  const BoostingData data = boosting_data(60000, 9, 31);
  const SparseCopy sparse(data);
  std::vector<index_t> rows;
  for (index_t i = 0; i < data.n; i += 2) rows.push_back((7 * i) % data.n);
  const auto codes = [&](bool is_sparse, int n_threads) {
    Team team(n_threads);
    const BinnedFeatures all = is_sparse ? bin_features(sparse.view(), BinOptions{100, data.weight.data()}, team)
                                         : bin_features(data.dense(), BinOptions{100, data.weight.data()}, team);
    check_binned(all, team);
    const BinnedFeatures taken = take_rows(all, rows.data(), static_cast<index_t>(rows.size()), team);
    std::vector<std::uint32_t> found = taken.row_bins;
    found.insert(found.end(), taken.column_codes.begin(), taken.column_codes.end());
    found.insert(found.end(), taken.by_row.data(), taken.by_row.data() + taken.by_row.size());
    found.insert(found.end(), taken.by_column.data(), taken.by_column.data() + taken.by_column.size());
    return found;
  };
  for (const bool is_sparse : {false, true}) {
    const auto expected = codes(is_sparse, 1);
    for (const int n_threads : {2, 3, 7}) CHECK(codes(is_sparse, n_threads) == expected);
  }
}

CASE("bad sizes are refused") {
  const BoostingData data = boosting_data(10, 1, 7);
  Team team(1);
  CHECK_THROWS(std::invalid_argument, bin_features(data.dense(), BinOptions{0, nullptr}, team), "max_bins");
  CHECK_THROWS(std::invalid_argument, bin_features(data.dense(), BinOptions{65536, nullptr}, team), "got 65536");
  CHECK_THROWS(std::invalid_argument, bin_features(fastpu::DenseView<double>{data.x.data(), 0, 1}, BinOptions{}, team),
               "shape (0, 1)");
}
