// bin_features, take_rows, fingerprint, row_hashes and the checks of what was read from outside.
#include <algorithm>
#include <memory>

#include "fastpu/data/binned_features.hpp"
#include "fastpu/data/fingerprint.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::CodeWidth;
using fastpu::FeatureOrder;
using fastpu::Team;

std::uint32_t code_of(const BinnedFeatures& binned, index_t row, index_t feature) {
  const auto i = at(row);
  if (binned.is_sparse()) {
    for (index_t p = binned.row_start[i]; p < binned.row_start[i + 1]; ++p) {
      const auto bin = static_cast<index_t>(binned.row_bins[at(p)]);
      if (bin >= binned.first_bin(feature) && bin < binned.first_bin(feature) + binned.n_bins(feature)) {
        return static_cast<std::uint32_t>(bin - binned.first_bin(feature));
      }
    }
    return binned.zero_code[at(feature)];
  }
  const index_t place = row * binned.row_stride + feature;
  if (binned.width == CodeWidth::one_byte) return binned.by_row[place];
  std::uint16_t code = 0;
  std::memcpy(&code, binned.by_row.data() + 2 * place, 2);
  return code;
}

// Every code is the number of cuts below its value.
template <class T>
void check_codes(const Matrix<T>& x, const BinnedFeatures& binned) {
  for (index_t i = 0; i < x.n; ++i) {
    for (index_t f = 0; f < x.d; ++f) {
      const auto value = static_cast<double>(x.dense[at(i * x.d + f)]);
      const double* cuts = binned.cuts->of(f);
      const auto n_below = std::count_if(cuts, cuts + binned.cuts->count(f), [&](double cut) { return value > cut; });
      FUZZ_CHECK(code_of(binned, i, f) == static_cast<std::uint32_t>(n_below));
    }
  }
}

BinnedFeatures copy_of(const BinnedFeatures& binned, bool has_columns) {
  BinnedFeatures copy;
  copy.n_rows = binned.n_rows;
  copy.n_features = binned.n_features;
  copy.cuts = std::make_shared<const fastpu::Cuts>(*binned.cuts);
  copy.width = binned.width;
  copy.row_stride = binned.row_stride;
  copy.column_stride = binned.column_stride;
  copy.by_row = fastpu::AlignedBuffer<std::uint8_t>(binned.by_row.size(), "a copy");
  std::copy_n(binned.by_row.data(), binned.by_row.size(), copy.by_row.data());
  copy.row_start = binned.row_start;
  copy.row_bins = binned.row_bins;
  copy.zero_code = binned.zero_code;
  if (has_columns) {
    copy.column_start = binned.column_start;
    copy.column_rows = binned.column_rows;
    copy.column_codes = binned.column_codes;
  }
  return copy;
}

template <class Number>
void spoil(Input& input, std::vector<Number>& values) {
  if (values.empty()) return;
  Number& value = values[input.byte() % values.size()];
  const auto drawn = static_cast<std::int8_t>(input.byte());
  if constexpr (std::is_floating_point_v<Number>) {
    value = input.real();
  } else {
    value = input.flag() ? static_cast<Number>(value + static_cast<Number>(drawn)) : static_cast<Number>(drawn);
  }
  if (input.rarely(8)) values.resize(input.flag() ? values.size() - 1 : values.size() + 1);
}

void spoil(Input& input, BinnedFeatures& binned) {
  const auto number = [&](index_t& value) {
    value = input.flag() && value < 1000 && value > -1000
                ? value + static_cast<std::int8_t>(input.byte())
                : input.one_of<index_t, 5>(
                      {0, -1, 1, std::numeric_limits<index_t>::max(), std::numeric_limits<index_t>::min()});
  };
  switch (input.below(9)) {
    case 0:
      return number(binned.n_rows);
    case 1:
      return number(binned.n_features);
    case 2:
      return number(binned.row_stride);
    case 3:
      return number(binned.column_stride);
    case 4:
      if (binned.by_row.size() > 0) binned.by_row[input.byte() % binned.by_row.size()] = input.byte();
      return;
    case 5: {
      auto cuts = std::make_shared<fastpu::Cuts>(*binned.cuts);
      if (input.flag()) {
        spoil(input, cuts->start);
      } else {
        spoil(input, cuts->value);
      }
      binned.cuts = cuts;
      return;
    }
    case 6:
      return spoil(input, binned.row_start);
    case 7:
      return spoil(input, binned.row_bins);
    default:
      return spoil(input, binned.zero_code);
  }
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(1);
  const Matrix<T> x(input, n, input.between(1, 5));
  std::vector<double> weights;
  if (input.flag()) {
    for (index_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(input.below(4)));
  }
  BinOptions options;
  options.max_bins = input.one_of<index_t, 8>({1, 2, 3, 5, 255, 256, 65535, 0});
  if (input.rarely(32)) options.max_bins = static_cast<std::int8_t>(input.byte());
  options.sample_weight = weights.empty() ? nullptr : weights.data();
  Team team(input.n_threads());
  FeatureOrder order;
  BinnedFeatures binned;
  const bool is_dense = input.flag();
  if (!accepted([&] {
        binned = is_dense ? bin_features(x.dense_view(), options, team, input.flag() ? &order : nullptr)
                          : bin_features(x.csr_view(), options, team);
      })) {
    return;
  }
  check_codes(x, binned);
  for (const auto& rows : order.rows) {
    for (index_t p = 0; p < rows.size(); ++p)
      FUZZ_CHECK((rows[p] & FeatureOrder::kRow) < static_cast<std::uint32_t>(n));
  }
  // What was made passes the checks, and filling the columns once more changes nothing.
  BinnedFeatures again = copy_of(binned, false);
  check_binned(again, team);
  again.fill_columns(team);
  FUZZ_CHECK(again.column_start == binned.column_start && again.column_rows == binned.column_rows &&
             again.column_codes == binned.column_codes);
  FUZZ_CHECK(again.by_column.size() == binned.by_column.size());
  FUZZ_CHECK(
      std::equal(again.by_column.data(), again.by_column.data() + again.by_column.size(), binned.by_column.data()));

  std::vector<index_t> rows(at(input.below(6)));
  for (index_t& row : rows) row = input.rarely(32) ? static_cast<std::int8_t>(input.byte()) : input.below(n);
  if (accepted([&] { again = take_rows(binned, rows.data(), static_cast<index_t>(rows.size()), team); })) {
    for (index_t k = 0; k < again.n_rows; ++k) {
      for (index_t f = 0; f < x.d; ++f) FUZZ_CHECK(code_of(again, k, f) == code_of(binned, rows[at(k)], f));
    }
    check_binned(again, team);
  }

  options.cuts = binned.cuts;
  const BinnedFeatures halves[] = {
      is_dense ? bin_features(x.dense_view(), options, team) : bin_features(x.csr_view(), options, team),
      take_rows(binned, std::vector<index_t>(1, 0).data(), 1, team)};
  const BinnedFeatures stacked = stack_rows({&halves[0], &halves[1]}, team);
  check_binned(stacked, team);
  for (index_t f = 0; f < x.d; ++f) {
    for (index_t k = 0; k < n; ++k) FUZZ_CHECK(code_of(stacked, k, f) == code_of(binned, k, f));
    FUZZ_CHECK(code_of(stacked, n, f) == code_of(binned, 0, f));
  }

  const std::vector<std::int8_t> labels(at(n + 1), 1);
  const auto of = [&](const BinnedFeatures& part, index_t first_row) {
    return fingerprint(part, labels.data(), nullptr, first_row, team);
  };
  const auto whole = of(stacked, 0);
  const auto first = of(halves[0], 0);
  const auto second = of(halves[1], n);
  for (std::size_t k = 0; k < whole.size(); ++k) FUZZ_CHECK(whole[k] == first[k] + second[k]);

  const index_t places[] = {0, n};  // copies
  const std::vector<std::uint64_t> hashes = row_hashes(stacked, places, 2, team);
  FUZZ_CHECK(hashes[0] == hashes[1]);
  FUZZ_CHECK(hashes[0] == row_hashes(binned, places, 1, team)[0]);

  BinnedFeatures spoilt = copy_of(binned, false);
  for (index_t k = input.below(3); k >= 0; --k) spoil(input, spoilt);
  if (accepted([&] { check_binned(spoilt, team); })) spoilt.fill_columns(team);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
