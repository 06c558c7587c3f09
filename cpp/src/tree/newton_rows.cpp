#include "tree/newton_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "common/compiler_hints.hpp"
#include "tree/grown_tree.hpp"
#include "tree/split_list.hpp"

namespace fastpu::detail {

namespace {

constexpr index_t kBlockRows = 4096;  // rows of one parallel task
constexpr index_t kLeafRows = 16384;  // rows of one task that visits leaves
constexpr index_t kAddedRows = 2048;  // rows of one task that adds to a histogram
// The work on a row, in units of adding one word to a bin: splitting a node, visiting its leaf.
constexpr index_t kSplitWork = 4;
constexpr index_t kLeafWork = 4;

}  // namespace

double newton_scale(double most, double n, int halvings) {
  const double most_sum = std::ldexp(static_cast<double>(kMostWordSum), halvings);
  if (!(most > 0)) return 1.0;
  int exponent = 0;
  std::frexp((most_sum - n) / most, &exponent);
  return std::ldexp(1.0, std::clamp(exponent - 1, -900, 900));
}

NewtonRows::NewtonRows(const TreeFeatures& features, const double* weights, Team& team, int n_workers)
    : features_(features),
      binned_(features.binned()),
      layout_(binned_),
      weights_(weights),
      kernels_(newton_kernels(team.isa())),
      team_(team),
      n_workers_(n_workers),
      words_(binned_.n_rows, "the gradients of rows"),
      parts_(at(n_workers - 1)) {
  for (auto& list : lists_) list = make_vector<std::uint32_t>(binned_.n_rows, "the rows of a tree");
  if (binned_.is_sparse()) codes_ = make_vector<std::uint32_t>(binned_.n_rows, "the codes of a feature");
}

int NewtonRows::workers(index_t work) const {
  constexpr index_t kWorkPerWorker = 200'000;
  return static_cast<int>(std::min<index_t>(n_workers_, 1 + work / kWorkPerWorker));
}

void NewtonRows::make_words() {
  const double* weights = gradients_.repeated > 0 ? weights_ : nullptr;
  std::vector<std::uint64_t> totals(at(count_blocks(binned_.n_rows, kBlockRows)));
  team_.for_each(static_cast<index_t>(totals.size()), workers(4 * binned_.n_rows), [&](index_t block, int) {
    const index_t first = block * kBlockRows;
    const index_t n = std::min(binned_.n_rows - first, kBlockRows);
    std::uint64_t* words = words_.data() + first;
    std::array<double, kBlockRows> g;
    std::array<double, kBlockRows> h;
    gradients_.derive(first, n, g.data(), h.data());
    kernels_.make_words(g.data(), h.data(), weights == nullptr ? nullptr : weights + first, gradients_.repeated, n,
                        gradients_.g_scale, gradients_.h_scale, words);
    totals[at(block)] = std::accumulate(words, words + n, std::uint64_t{0});
  });
  total_ = std::accumulate(totals.begin(), totals.end(), std::uint64_t{0});
  if (gradients_.halvings > 0) check_own_sums();
}

// Throws std::invalid_argument if the sums over the rows of this holder alone do not fit a word: these are not halved.
void NewtonRows::check_own_sums() const {
  std::vector<std::array<index_t, 2>> sums(at(count_blocks(binned_.n_rows, kBlockRows)));
  team_.for_each(static_cast<index_t>(sums.size()), workers(2 * binned_.n_rows), [&](index_t block, int) {
    auto& [g, h] = sums[at(block)];
    const index_t end = std::min(binned_.n_rows, (block + 1) * kBlockRows);
    for (index_t i = block * kBlockRows; i < end; ++i) {
      g += std::abs(index_t{g_of(words_[i])});
      h += h_of(words_[i]);
    }
  });
  index_t g = 0;
  index_t h = 0;
  for (const auto& of_block : sums) {
    g += of_block[0];
    h += of_block[1];
  }
  if (std::max(g, h) <= kMostWordSum) return;
  throw std::invalid_argument(
      "X must have its rows spread evenly, in random order, over its partitions, and these over more workers: the "
      "derivatives of the " +
      std::to_string(binned_.n_rows) + " rows of one worker have a sum of " + std::to_string(std::max(g, h)) +
      " units, and it can sum " + std::to_string(kMostWordSum));
}

NewtonRange NewtonRows::start(const NewtonGradients& gradients, const std::vector<std::uint32_t>& split_features) {
  gradients_ = gradients;
  make_words();
  split_features_ = split_features;
  first_bin_.clear();
  for (const std::uint32_t f : split_features_) first_bin_.push_back(layout_.first_bin(f));
  return root_of(*gradients.rows);
}

NewtonRange NewtonRows::root_of(const std::vector<std::uint32_t>& rows) {
  return {rows.data(), 0, static_cast<std::uint32_t>(rows.size())};
}

std::vector<index_t> NewtonRows::count_entries(const std::vector<std::uint32_t>& rows, const CountUnit& unit) const {
  auto counts = make_vector<index_t>(binned_.n_features, "the entries of features");
  for (const std::uint32_t row : rows) {
    for (index_t p = binned_.row_start[row]; p < binned_.row_start[row + 1]; ++p) {
      counts[features_.feature_of(binned_.row_bins[at(p)])] += count(row, unit);
    }
  }
  return counts;
}

// ---- Histograms ----

void NewtonRows::set_histogram(const NewtonRange& node, std::uint64_t* histogram) {
  if (binned_.is_sparse()) return set_sparse(node, histogram);
  std::fill_n(histogram, histogram_size(), std::uint64_t{0});
  with_code_type(binned_.width, [&]<class Code>(Code) { add_dense<Code>(node, histogram); });
}

// Calls add(first, end, to) for the places of the node's rows, as many at a time as there is work for, which is
// row_work for a row; `to` is the histogram, or one of another worker that is then added to it.
template <class Add>
void NewtonRows::add_blocks(const NewtonRange& node, double row_work, std::uint64_t* histogram, Add&& add) {
  const int n_workers = workers(static_cast<index_t>(row_work * node.n_rows()));
  const auto size = at(histogram_size());
  std::vector<char> is_used(parts_.size());
  team_.for_each(count_blocks(node.n_rows(), kAddedRows), n_workers, [&](index_t block, int worker) {
    team_.poll();
    std::uint64_t* to = histogram;
    if (worker > 0 && n_workers > 1) {
      std::vector<std::uint64_t>& part = parts_[at(worker - 1)];
      if (is_used[at(worker - 1)] == 0) part.assign(size, 0);
      is_used[at(worker - 1)] = 1;
      to = part.data();
    }
    const index_t first = node.first + block * kAddedRows;
    add(first, std::min<index_t>(node.end, first + kAddedRows), to);
  });
  for (std::size_t w = 0; w < parts_.size(); ++w) {
    if (is_used[w] == 0) continue;
    for (std::size_t b = 0; b < size; ++b) histogram[b] += parts_[w][b];
  }
}

template <class Code>
void NewtonRows::add_dense(const NewtonRange& node, std::uint64_t* histogram) {
  const CodeTable<Code> table{reinterpret_cast<const Code*>(binned_.by_row.data()), binned_.row_stride};
  const auto n_features = static_cast<index_t>(split_features_.size());
  const HistogramColumns columns{split_features_.data(), first_bin_.data(), n_features};
  add_blocks(node, static_cast<double>(n_features), histogram, [&](index_t first, index_t end, std::uint64_t* to) {
    kernels_.add_rows<Code>()(table, node.list + first, end - first, words_.data(), columns, to);
  });
}

// Adds the entries of the rows; what is left of the sum of all rows is that of the rows without one.
void NewtonRows::set_sparse(const NewtonRange& node, std::uint64_t* histogram) {
  for (std::size_t k = 0; k < split_features_.size(); ++k) {
    std::fill_n(histogram + first_bin_[k], binned_.n_bins(split_features_[k]), std::uint64_t{0});
  }
  const double entries = static_cast<double>(binned_.row_bins.size()) / static_cast<double>(binned_.n_rows);
  features_.with_row_bins([&](const auto& bins) {
    add_blocks(node, entries, histogram, [&](index_t first, index_t end, std::uint64_t* to) {
      constexpr index_t kAhead = 8;  // rows
      constexpr std::size_t kLine = 64 / sizeof(bins[0]);
      for (index_t i = first; i < end; ++i) {
        const auto* const next = bins.data() + binned_.row_start[node.list[std::min(i + kAhead, end - 1)]];
        FASTPU_PREFETCH(next);
        FASTPU_PREFETCH(next + kLine);
        const std::uint32_t row = node.list[i];
        const std::uint64_t word = words_[row];
        const auto* const row_end = bins.data() + binned_.row_start[row + 1];
        for (const auto* bin = bins.data() + binned_.row_start[row]; bin != row_end; ++bin) to[*bin] += word;
      }
    });
  });
  std::uint64_t all = 0;
  for (index_t i = node.first; i < node.end; ++i) all += words_[node.list[i]];
  for (std::size_t k = 0; k < split_features_.size(); ++k) {
    std::uint64_t* bins = histogram + first_bin_[k];
    std::uint64_t& zero = bins[binned_.zero_code[split_features_[k]]];
    zero = all - std::accumulate(bins, bins + binned_.n_bins(split_features_[k]), std::uint64_t{0});
  }
}

// ---- Codes of one feature ----

// Calls body(code_of), where code_of(row) is the code of the feature for the rows of the node.
template <class Body>
auto NewtonRows::with_codes(const NewtonRange& node, std::uint32_t feature, Body&& body) {
  const auto place = static_cast<index_t>(feature) * binned_.column_stride;
  if (binned_.is_sparse()) {
    for (index_t i = node.first; i < node.end; ++i) codes_[node.list[i]] = binned_.zero_code[feature];
    for (index_t p = binned_.column_start[feature]; p < binned_.column_start[at(feature) + 1]; ++p) {
      codes_[binned_.column_rows[at(p)]] = binned_.column_codes[at(p)];
    }
    return body([codes = codes_.data()](std::uint32_t row) { return codes[row]; });
  }
  return with_code_type(binned_.width, [&]<class Code>(Code) {
    const auto* codes = reinterpret_cast<const Code*>(binned_.by_column.data()) + place;
    return body([codes](std::uint32_t row) { return codes[row]; });
  });
}

// Calls body(goes_left), where goes_left(row) says on which side of the split a row of the node is.
template <class Body>
auto NewtonRows::with_split(const NewtonRange& node, const NodeSplit& split, Body&& body) {
  return with_codes(node, split.feature, [&](auto code_of) {
    return with_sides<decltype(code_of(0))>(
        split, [&](auto goes_left) { return body([=](std::uint32_t row) { return goes_left(code_of(row)); }); });
  });
}

void NewtonRows::count_codes(const NewtonRange& node, std::uint32_t feature, std::vector<index_t>& counts) {
  counts.assign(at(binned_.n_bins(feature)), 0);
  with_codes(node, feature, [&](auto code_of) {
    for (std::uint32_t i = node.first; i < node.end; ++i) {
      counts[code_of(node.list[i])] += count(node.list[i], gradients_.unit);
    }
  });
}

SideCounts NewtonRows::count_sides(const NewtonRange& node, const NodeSplit& split) {
  return with_split(node, split, [&](auto goes_left) {
    const index_t enough = gradients_.unit.enough;
    SideCounts counts;
    for (std::uint32_t i = node.first; i < node.end && (counts.left < enough || counts.right < enough); ++i) {
      (goes_left(node.list[i]) ? counts.left : counts.right) += count(node.list[i], gradients_.unit);
    }
    return counts;
  });
}

// The left side is written from the first place on upwards, and the right one from the last place on downwards, so that
// the place of a row depends on the rows before it alone: a block of rows waits for the count of the blocks before it.
std::pair<NewtonRange, NewtonRange> NewtonRows::partition(const NewtonRange& node, const NodeSplit& split) {
  constexpr std::uint32_t kUnknown = 0xffffffffU;
  std::uint32_t* const to = lists_[node.list == lists_[0].data() ? 1 : 0].data();
  const index_t n_blocks = count_blocks(node.n_rows(), kBlockRows);
  std::vector<std::atomic<std::uint32_t>> n_left(at(n_blocks + 1));  // in all blocks before each
  for (index_t b = 1; b <= n_blocks; ++b) n_left[at(b)] = kUnknown;
  with_split(node, split, [&](auto goes_left) {
    team_.for_each(n_blocks, workers(kSplitWork * node.n_rows()), [&](index_t block, int) {
      const auto first = static_cast<std::uint32_t>(block * kBlockRows);
      const std::uint32_t n = std::min(static_cast<std::uint32_t>(kBlockRows), node.n_rows() - first);
      std::array<std::uint32_t, kBlockRows> sides;
      const std::uint32_t own = split_list(node.list + node.first + first, n, sides.data(), sides.data(), goes_left);
      const std::atomic<std::uint32_t>& known = n_left[at(block)];
      team_.wait_until([&] { return known.load(std::memory_order_acquire) != kUnknown; });
      const std::uint32_t before = known.load(std::memory_order_relaxed);
      n_left[at(block + 1)].store(before + own, std::memory_order_release);
      std::copy_n(sides.begin(), own, to + node.first + before);
      std::copy(sides.begin() + own, sides.begin() + n, to + node.end - (first - before) - (n - own));
    });
  });
  const std::uint32_t border = node.first + n_left.back();
  return {{to, node.first, border}, {to, border, node.end}};
}

// ---- Leaves ----

// Calls begin(first, n, worker) for n rows from number `first` on, and then visit(leaf, some, end, worker) for each
// leaf, of whose list [some, end) are those of these rows that are in it.
template <class Begin, class Visit>
void NewtonRows::for_leaf_rows(Begin&& begin, Visit&& visit) const {
  const index_t n_rows = binned_.n_rows;
  team_.for_each(count_blocks(n_rows, kLeafRows), workers(kLeafWork * n_rows), [&](index_t block, int worker) {
    const index_t first = block * kLeafRows;
    const index_t n = std::min(kLeafRows, n_rows - first);
    begin(first, n, worker);
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      const NewtonRange& rows = leaves_[leaf];
      const std::uint32_t* some = rows.list + rows.first;
      const std::uint32_t* end = rows.list + rows.end;
      if (some == end) continue;
      const bool descend = *some > *(end - 1);
      const auto is_before = [descend](std::uint32_t row, index_t limit) {
        return descend ? row >= limit : row < limit;
      };
      some = std::lower_bound(some, end, descend ? first + n : first, is_before);
      end = std::lower_bound(some, end, descend ? first : first + n, is_before);
      visit(leaf, some, end, worker);
    }
  });
}

std::vector<LeafSums> NewtonRows::leaf_sums() const {
  const double bits = std::ldexp(kLeafBits, -gradients_.halvings);
  const double g_scale = gradients_.g_scale * bits;
  const double h_scale = gradients_.h_scale * bits;
  struct WorkerSums {
    index_t first = 0;  // of the rows whose g and h these are
    std::vector<double> g;
    std::vector<double> h;
    std::vector<LeafSums> leaves;
  };
  std::vector<WorkerSums> workers_sums(at(team_.n_threads()));
  for_leaf_rows(
      [&](index_t first, index_t n, int worker) {
        WorkerSums& own = workers_sums[at(worker)];
        own.first = first;
        own.g.resize(at(n));
        own.h.resize(at(n));
        own.leaves.resize(leaves_.size());
        gradients_.derive(first, n, own.g.data(), own.h.data());
      },
      [&](std::size_t leaf, const std::uint32_t* some, const std::uint32_t* end, int worker) {
        WorkerSums& own = workers_sums[at(worker)];
        LeafSums& sums = own.leaves[leaf];
        for (; some != end; ++some) {
          sums.g += static_cast<std::int64_t>(own.g[at(*some - own.first)] * g_scale);
          sums.h += static_cast<std::int64_t>(own.h[at(*some - own.first)] * h_scale);
        }
      });
  std::vector<LeafSums> all(leaves_.size());
  for (const WorkerSums& own : workers_sums) {
    for (std::size_t leaf = 0; leaf < own.leaves.size(); ++leaf) {
      all[leaf].g += own.leaves[leaf].g;
      all[leaf].h += own.leaves[leaf].h;
    }
  }
  return all;
}

void NewtonRows::add(const std::vector<double>& values, double* scores) const {
  for_leaf_rows([](index_t, index_t, int) {},
                [&](std::size_t leaf, const std::uint32_t* some, const std::uint32_t* end, int) {
                  for (; some != end; ++some) scores[*some] += values[leaf];
                });
}

}  // namespace fastpu::detail
