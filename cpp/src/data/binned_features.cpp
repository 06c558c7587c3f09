// What is done with binned features that are made: filling columns from rows, checks, subsets and stacks of rows.
#include "fastpu/data/binned_features.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/binned_layout.hpp"

namespace fastpu {

namespace {

using detail::kRowBlock;
using detail::make_long_vector;
using detail::Pacer;
using detail::workers_for;

std::string text(index_t n) { return std::to_string(n); }

template <class Code>
void rows_to_columns(BinnedFeatures& binned, Team& team) {
  const auto* rows = reinterpret_cast<const Code*>(binned.by_row.data());
  auto* columns = reinterpret_cast<Code*>(binned.by_column.data());
  const int workers = workers_for(binned.n_rows * binned.n_features, team);
  team.for_blocks(binned.n_rows, kRowBlock, workers, [&](index_t first, index_t end, int) {
    detail::transpose_block(rows, binned.row_stride, columns, binned.column_stride, first, end, binned.n_features,
                            Pacer(team));
  });
  Pacer pacer(team);
  for (index_t e = 0; e < binned.n_features; ++e) {
    std::fill(columns + e * binned.column_stride + binned.n_rows, columns + (e + 1) * binned.column_stride, Code(0));
    pacer.add(1 + binned.column_stride - binned.n_rows);
  }
}

// The feature of every flat bin.
std::vector<std::uint32_t> features_of_bins(const BinnedFeatures& binned, Pacer& pacer) {
  auto feature = make_long_vector<std::uint32_t>(binned.total_bins(), "the features of the bins", pacer);
  for (index_t e = 0; e < binned.n_features; ++e) {
    std::fill_n(feature.begin() + binned.first_bin(e), binned.n_bins(e), static_cast<std::uint32_t>(e));
    pacer.add(binned.n_bins(e));
  }
  return feature;
}

void sparse_columns(BinnedFeatures& binned, Team& team) {
  Pacer pacer(team);
  const index_t n_entries = std::ssize(binned.row_bins);
  const std::vector<std::uint32_t> feature_of = features_of_bins(binned, pacer);
  auto& start = binned.column_start;
  start = make_long_vector<index_t>(binned.n_features + 1, "the sparse columns", pacer);
  binned.column_rows = make_long_vector<std::uint32_t>(n_entries, "the sparse columns", pacer);
  binned.column_codes = make_long_vector<std::uint32_t>(n_entries, "the sparse columns", pacer);
  pacer.run(0, n_entries, [&](index_t first, index_t end) {
    for (index_t p = first; p < end; ++p) ++start[feature_of[binned.row_bins[at(p)]] + 1U];
  });
  detail::counts_to_starts(start, pacer);
  for (index_t r = 0; r < binned.n_rows; ++r) {
    pacer.run(binned.row_start[at(r)], binned.row_start[at(r) + 1], [&](index_t first, index_t end) {
      for (index_t p = first; p < end; ++p) {
        const std::uint32_t bin = binned.row_bins[at(p)];
        const std::uint32_t e = feature_of[bin];
        const std::size_t position = at(start[e]++);
        binned.column_rows[position] = static_cast<std::uint32_t>(r);
        binned.column_codes[position] = bin - static_cast<std::uint32_t>(binned.first_bin(e));
      }
    });
    pacer.add(1);
  }
  detail::ends_to_starts(start, pacer);
}

// ---- check_binned ----

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument("not valid binned features: " + why); }

// Checks that `start` has the positions at which the groups of an array of n elements begin, and its end.
void check_starts(const std::vector<index_t>& start, index_t n_groups, index_t n, const std::string& name,
                  Pacer& pacer) {
  if (start.empty() || std::ssize(start) - 1 != n_groups) {
    refuse(name + " has " + text(std::ssize(start)) + " entries for " + text(n_groups) + " groups");
  }
  if (start.front() != 0 || start.back() != n) {
    refuse(name + " runs from " + text(start.front()) + " to " + text(start.back()) + ", not from 0 to " + text(n));
  }
  pacer.run(1, std::ssize(start), [&](index_t first, index_t end) {
    for (index_t g = first; g < end; ++g) {
      if (start[at(g)] < start[at(g) - 1]) refuse(name + " descends at " + text(g));
    }
  });
}

template <class Code>
void check_codes(const BinnedFeatures& b, Team& team) {
  const auto* codes = reinterpret_cast<const Code*>(b.by_row.data());
  auto largest = make_vector<Code>(b.row_stride, "the checks of the codes");  // 0 for the padding
  for (index_t e = 0; e < b.n_features; ++e) largest[at(e)] = static_cast<Code>(b.cuts->count(e));
  const int workers = workers_for(b.n_rows * b.n_features, team);
  team.for_blocks(b.n_rows, kRowBlock, workers, [&](index_t first, index_t end, int) {
    Pacer pacer(team);
    for (index_t r = first; r < end; ++r) {
      const Code* row = codes + r * b.row_stride;
      pacer.run(0, b.row_stride, [&](index_t from, index_t to) {
        bool is_bad = false;
        for (index_t c = from; c < to; ++c) is_bad |= row[c] > largest[at(c)];
        if (is_bad) refuse("row " + text(r) + " has a code above the number of cuts");
      });
    }
  });
}

void check_dense(const BinnedFeatures& b, Team& team) {
  if (!b.row_start.empty() || !b.row_bins.empty() || !b.zero_code.empty())
    refuse("they have dense codes and sparse rows");
  // An array in memory has n_features elements (check_cuts), so n_features times a few bytes does not overflow.
  const index_t row = detail::row_stride(b.n_features, b.width);
  if (b.row_stride != row || b.column_stride != detail::column_stride(b.n_rows)) {
    refuse("strides " + text(b.row_stride) + " and " + text(b.column_stride) + " for " + text(b.n_rows) + " rows of " +
           text(b.n_features) + " features");
  }
  const index_t row_bytes = row * detail::code_bytes(b.width);
  if (b.by_row.size() % row_bytes != 0 || b.by_row.size() / row_bytes != b.n_rows) {
    refuse(text(b.by_row.size()) + " bytes of codes for " + text(b.n_rows) + " rows of " + text(row_bytes) + " bytes");
  }
  with_code_type(b.width, [&]<class Code>(Code) { check_codes<Code>(b, team); });
}

void check_sparse(const BinnedFeatures& b, Team& team) {
  Pacer pacer(team);
  if (!b.by_row.empty() || b.row_stride != 0 || b.column_stride != 0) refuse("they have sparse rows and dense codes");
  if (b.total_bins() > kMaxSparseBins) refuse("they have " + text(b.total_bins()) + " bins, more than 32 bits number");
  check_starts(b.row_start, b.n_rows, std::ssize(b.row_bins), "the starts of the rows", pacer);
  if (std::ssize(b.zero_code) != b.n_features) {
    refuse(text(std::ssize(b.zero_code)) + " codes of zero for " + text(b.n_features) + " features");
  }
  for (index_t e = 0; e < b.n_features; ++e) {
    if (b.zero_code[at(e)] > b.cuts->count(e)) {
      refuse("the code of zero of feature " + text(e) + " is above the number of cuts");
    }
    pacer.add(1);
  }
  const std::vector<std::uint32_t> feature_of = features_of_bins(b, pacer);
  for (index_t r = 0; r < b.n_rows; ++r) {
    index_t previous = -1;
    pacer.run(b.row_start[at(r)], b.row_start[at(r) + 1], [&](index_t first, index_t end) {
      for (index_t p = first; p < end; ++p) {
        const std::uint32_t bin = b.row_bins[at(p)];
        if (bin >= feature_of.size())
          refuse("row " + text(r) + " has bin " + text(bin) + " of " + text(b.total_bins()));
        const std::uint32_t e = feature_of[bin];
        if (e <= previous) refuse("the features of row " + text(r) + " do not ascend");
        // The sum of the rows in the bin of zero is that of all rows minus those with entries.
        if (bin - b.first_bin(e) == b.zero_code[e]) refuse("row " + text(r) + " has an entry in the bin of zero");
        previous = e;
      }
    });
    pacer.add(1);
  }
}

// Binned features of n_rows rows with the cuts and the form of others. The codes by row, or the bins of sparse rows,
// are still to be filled.
BinnedFeatures empty_like(const BinnedFeatures& other, index_t n_rows, Pacer& pacer) {
  BinnedFeatures binned;
  binned.n_rows = n_rows;
  binned.n_features = other.n_features;
  binned.cuts = other.cuts;
  binned.width = other.width;
  if (binned.is_sparse()) {
    binned.zero_code = make_long_vector<std::uint32_t>(other.n_features, "the sparse codes", pacer);
    std::ranges::copy(other.zero_code, binned.zero_code.begin());
    binned.row_start = make_long_vector<index_t>(n_rows + 1, "the sparse rows", pacer);
  } else {
    binned.row_stride = other.row_stride;
    binned.column_stride = detail::column_stride(n_rows);
    binned.by_row =
        AlignedBuffer<std::uint8_t>(n_rows * other.row_stride * detail::code_bytes(other.width), "the codes by row");
  }
  return binned;
}

}  // namespace

bool Cuts::are_of_categories(index_t feature) const {
  if (!has_missing(feature) || count(feature) > kMostCategories) return false;
  const double* cut = of(feature);
  for (index_t k = 1; k < count(feature); ++k) {
    if (cut[k] != static_cast<double>(k) - 0.5) return false;
  }
  return true;
}

index_t BinnedFeatures::n_bytes() const {
  const auto bytes = [](const auto& v) { return static_cast<index_t>(v.size() * sizeof(v[0])); };
  return static_cast<index_t>(by_row.bytes() + by_column.bytes()) + bytes(row_start) + bytes(row_bins) +
         bytes(column_start) + bytes(column_rows) + bytes(column_codes) + bytes(zero_code) + bytes(cuts->start) +
         bytes(cuts->value) + bytes(cuts->bin_value);
}

void BinnedFeatures::fill_columns(Team& team) {
  if (is_sparse()) return sparse_columns(*this, team);
  by_column =
      AlignedBuffer<std::uint8_t>(n_features * column_stride * detail::code_bytes(width), "the codes by column");
  with_code_type(width, [&]<class Code>(Code) { rows_to_columns<Code>(*this, team); });
}

void check_binned(const BinnedFeatures& b, Team& team) {
  if (b.width != CodeWidth::sparse && b.width != CodeWidth::one_byte && b.width != CodeWidth::two_bytes) {
    refuse("codes of " + text(static_cast<index_t>(b.width)) + " bytes");
  }
  if (b.n_rows < 1 || b.n_rows > kMaxRows || b.n_features < 1) {
    refuse("shape (" + text(b.n_rows) + ", " + text(b.n_features) + ")");
  }
  if (b.cuts == nullptr) refuse("they have no cuts");
  check_cuts(b, team);
  if (b.is_sparse()) {
    check_sparse(b, team);
  } else {
    check_dense(b, team);
  }
}

void check_cuts(const BinnedFeatures& b, Team& team) {
  Pacer pacer(team);
  const auto& value = b.cuts->value;
  check_starts(b.cuts->start, b.n_features, std::ssize(value), "the starts of the cuts", pacer);
  for (index_t e = 0; e < b.n_features; ++e) {
    const double* cut = b.cuts->of(e);
    const index_t n = b.cuts->count(e);
    pacer.run(0, n, [&](index_t first, index_t end) {
      for (index_t k = first; k < end; ++k) {
        if (std::isnan(cut[k])) refuse("a cut of feature " + text(e) + " is NaN");
        if (k > 0 && !(cut[k - 1] < cut[k])) refuse("the cuts of feature " + text(e) + " do not ascend");
      }
    });
    if (!b.is_sparse() && n > detail::most_cuts(b.width)) {
      refuse("feature " + text(e) + " has " + text(n) + " cuts, too many for its codes");
    }
    pacer.add(1);
  }
  if (std::ssize(b.cuts->bin_value) != b.total_bins()) {
    refuse(text(std::ssize(b.cuts->bin_value)) + " values for " + text(b.total_bins()) + " bins");
  }
  for (index_t e = 0; e < b.n_features; ++e) {
    const double* bin_value = b.cuts->bin_values_of(e);
    pacer.run(0, b.n_bins(e), [&](index_t first, index_t end) {
      for (index_t c = first; c < end; ++c) {
        if (!std::isfinite(bin_value[c])) refuse("the value of a bin of feature " + text(e) + " is not finite");
        if (c > 0 && bin_value[c] < bin_value[c - 1])
          refuse("the values of the bins of feature " + text(e) + " descend");
      }
    });
  }
}

BinnedFeatures stack_rows(const std::vector<const BinnedFeatures*>& parts, Team& team) {
  if (parts.empty()) throw std::invalid_argument("binned features to be stacked must be at least one, got none");
  const BinnedFeatures& first = *parts.front();
  index_t n_rows = 0;
  for (const BinnedFeatures* part : parts) {
    if (part->width != first.width || !same_cuts(*part, first)) {
      throw std::invalid_argument("binned features to be stacked must have the same cuts and the same form");
    }
    n_rows += part->n_rows;
  }
  if (n_rows > kMaxRows) {
    throw std::invalid_argument("binned features must have at most " + text(kMaxRows) + " rows, got " + text(n_rows));
  }
  Pacer pacer(team);
  BinnedFeatures all = empty_like(first, n_rows, pacer);
  if (all.is_sparse()) {
    index_t n_entries = 0;
    for (const BinnedFeatures* part : parts) n_entries += std::ssize(part->row_bins);
    all.row_bins = make_long_vector<std::uint32_t>(n_entries, "the sparse rows", pacer);
    index_t row = 0;
    index_t entry = 0;
    for (const BinnedFeatures* part : parts) {
      pacer.run(0, part->n_rows, [&](index_t begin, index_t end) {
        for (index_t i = begin; i < end; ++i) {
          all.row_start[at(row + i)] = entry + part->row_start[at(i)];
        }
      });
      std::ranges::copy(part->row_bins, all.row_bins.begin() + entry);
      row += part->n_rows;
      entry += std::ssize(part->row_bins);
    }
    all.row_start.back() = n_entries;
  } else {
    std::size_t done = 0;
    for (const BinnedFeatures* part : parts) {
      team.poll();
      std::memcpy(all.by_row.data() + done, part->by_row.data(), part->by_row.bytes());
      done += part->by_row.bytes();
    }
  }
  all.fill_columns(team);
  return all;
}

BinnedFeatures take_rows(const BinnedFeatures& all, const index_t* rows, index_t n, Team& team) {
  if (n < 1) throw std::invalid_argument("a subset of binned features must keep at least one row, got none");
  if (n > kMaxRows) {
    throw std::invalid_argument("a subset of binned features must have at most " + text(kMaxRows) + " rows, got " +
                                text(n));
  }
  Pacer pacer(team);
  pacer.run(0, n, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      if (rows[i] >= 0 && rows[i] < all.n_rows) continue;
      throw std::invalid_argument("row " + text(rows[i]) + " is out of range for binned features of " +
                                  text(all.n_rows) + " rows");
    }
  });
  BinnedFeatures taken = empty_like(all, n, pacer);
  // Calls copy(i, row) for every row i of `taken`, which is that row of `all`; it returns the number of entries copied.
  const auto for_rows = [&](auto&& copy) {
    team.for_blocks(n, kRowBlock, workers_for(n * all.n_features, team), [&](index_t first, index_t end, int) {
      Pacer own_pacer(team);
      for (index_t i = first; i < end; ++i) own_pacer.add(copy(at(i), at(rows[i])));
    });
  };
  if (all.is_sparse()) {
    const auto length = [&](std::size_t row) { return all.row_start[row + 1] - all.row_start[row]; };
    pacer.run(0, n, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) taken.row_start[at(i) + 1] = taken.row_start[at(i)] + length(at(rows[i]));
    });
    taken.row_bins = make_long_vector<std::uint32_t>(taken.row_start.back(), "the sparse rows", pacer);
    for_rows([&](std::size_t i, std::size_t row) {
      std::copy_n(all.row_bins.begin() + all.row_start[row], length(row), taken.row_bins.begin() + taken.row_start[i]);
      return 1 + length(row);
    });
  } else {
    const index_t row_bytes = all.row_stride * detail::code_bytes(all.width);
    for_rows([&](std::size_t i, std::size_t row) {
      const std::size_t bytes = at(row_bytes);
      std::memcpy(taken.by_row.data() + i * bytes, all.by_row.data() + row * bytes, bytes);
      return row_bytes;
    });
  }
  taken.fill_columns(team);
  return taken;
}

bool same_cuts(const BinnedFeatures& a, const BinnedFeatures& b) {
  return a.cuts == b.cuts || (a.cuts->start == b.cuts->start && a.cuts->value == b.cuts->value);
}

}  // namespace fastpu
