#include "fastpu/boosting/stump_ensemble.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/add_exactly.hpp"
#include "linalg/row_products.hpp"
#include "tree/row_codes.hpp"

namespace fastpu {

namespace {

using detail::ExactSum;

constexpr index_t kBlockRows = 512;        // rows of one parallel task: their column and scores stay in the cache
constexpr double kCellsPerWorker = 65536;  // fewer (row, feature) pairs than this are not worth waking a thread

// The step function of one feature: values[j] where j of the cuts, the thresholds of its stumps, are below x. A
// categorical feature has no thresholds, and a value for each code.
struct Steps : detail::SplitColumns::Column {
  std::vector<double> values;
};

// The set of a stump on a categorical feature.
const CategorySet& set_of(const StumpEnsembleView& ensemble, index_t t) {
  const double number = ensemble.thresholds[t];
  if (!(number >= 0) || number >= static_cast<double>(ensemble.n_sets) || std::floor(number) != number) {
    throw std::invalid_argument("a stump of the model has the set of categories " + std::to_string(number) + " of " +
                                std::to_string(ensemble.n_sets));
  }
  return ensemble.sets[static_cast<std::size_t>(number)];
}

void fill_categorical(const StumpEnsembleView& ensemble, const index_t* stumps, index_t n, Steps& steps) {
  steps.by_categories = true;
  std::array<ExactSum, kMostCategories + 1> of_code;
  for (index_t i = 0; i < n; ++i) {
    const index_t t = stumps[i];
    const CategorySet& set = set_of(ensemble, t);
    for (std::uint32_t code = 0; code < of_code.size(); ++code) {
      const bool fires = set.has(code) == (ensemble.polarity[t] > 0);
      of_code[code].add(fires ? ensemble.alphas[t] : ensemble.low * ensemble.alphas[t]);
    }
  }
  for (const ExactSum& sum : of_code) steps.values.push_back(sum.value());
}

// Gives missing values a step of their own, below a cut at -inf.
void set_missing(const StumpEnsembleView& ensemble, const index_t* stumps, index_t n, Steps& steps) {
  ExactSum sum;
  for (index_t i = 0; i < n; ++i) {
    const index_t t = stumps[i];
    const bool fires = (ensemble.missing_above[t] != 0) == (ensemble.polarity[t] > 0);
    sum.add(fires ? ensemble.alphas[t] : ensemble.low * ensemble.alphas[t]);
  }
  if (steps.cuts.front() != -kInfinity) {
    steps.cuts.insert(steps.cuts.begin(), -kInfinity);
    steps.values.insert(steps.values.begin(), 0.0);
  }
  steps.values.front() = sum.value();
}

std::vector<Steps> step_functions(const StumpEnsembleView& ensemble, index_t n_features) {
  detail::check_features(ensemble.n_features, n_features);
  std::vector<index_t> stumps(at(ensemble.n_stumps));
  std::iota(stumps.begin(), stumps.end(), index_t{0});
  for (const index_t t : stumps) {
    if (ensemble.features[t] < 0 || ensemble.features[t] >= ensemble.n_features) {
      throw std::invalid_argument("a stump of the model is on feature " + std::to_string(ensemble.features[t]) +
                                  " of " + std::to_string(ensemble.n_features));
    }
  }
  std::ranges::stable_sort(stumps, [&](index_t a, index_t b) {
    return ensemble.features[a] != ensemble.features[b] ? ensemble.features[a] < ensemble.features[b]
                                                        : ensemble.thresholds[a] < ensemble.thresholds[b];
  });
  const auto missing_above = [&](index_t t) {
    return ensemble.missing_above != nullptr && ensemble.missing_above[t] != 0;
  };
  std::vector<Steps> all;
  for (std::size_t first = 0; first < stumps.size();) {
    std::size_t end = first;
    while (end < stumps.size() && ensemble.features[stumps[end]] == ensemble.features[stumps[first]]) ++end;
    Steps steps;
    steps.feature = ensemble.features[stumps[first]];
    if (ensemble.categorical != nullptr && ensemble.categorical[steps.feature] != 0) {
      fill_categorical(ensemble, stumps.data() + first, static_cast<index_t>(end - first), steps);
      all.push_back(std::move(steps));
      first = end;
      continue;
    }
    ExactSum sum;
    for (std::size_t i = first; i < end; ++i) {  // below every threshold
      const index_t t = stumps[i];
      sum.add(ensemble.polarity[t] > 0 ? ensemble.low * ensemble.alphas[t] : ensemble.alphas[t]);
    }
    steps.values.push_back(sum.value());
    for (std::size_t i = first; i < end; ++i) {  // crossing them
      const index_t t = stumps[i];
      const double height = (1.0 - ensemble.low) * ensemble.alphas[t];
      sum.add(ensemble.polarity[t] > 0 ? height : -height);
      const bool last_of_run = i + 1 == end || ensemble.thresholds[stumps[i + 1]] != ensemble.thresholds[t];
      if (!last_of_run) continue;
      steps.cuts.push_back(ensemble.thresholds[t]);
      steps.values.push_back(sum.value());
    }
    if (std::any_of(stumps.begin() + static_cast<index_t>(first), stumps.begin() + static_cast<index_t>(end),
                    missing_above)) {
      set_missing(ensemble, stumps.data() + first, static_cast<index_t>(end - first), steps);
    }
    all.push_back(std::move(steps));
    first = end;
  }
  return all;
}

template <class Body>
void for_row_blocks(index_t n_rows, double cells_per_row, Team& team, Body&& body) {
  const double cells = static_cast<double>(n_rows) * cells_per_row;
  const int workers = static_cast<int>(std::min<double>(team.n_threads(), 1.0 + cells / kCellsPerWorker));
  team.for_each(count_blocks(n_rows, kBlockRows), workers,
                [&](index_t block, int) { body(block * kBlockRows, std::min(n_rows, (block + 1) * kBlockRows)); });
}

// The value of the step function for each code of a binned feature.
std::vector<double> values_by_code(const Steps& steps, const BinnedFeatures& x) {
  const index_t n_cuts = x.cuts->count(steps.feature);
  if (steps.by_categories) {
    detail::check_categories(x, steps.feature);
    return {steps.values.begin(), steps.values.begin() + n_cuts + 1};
  }
  std::vector<double> values;
  // No code stands for missing values alone where the cuts do not tell them from others.
  const bool skips_missing = steps.cuts.front() == -kInfinity && !x.cuts->has_missing(steps.feature);
  for (std::size_t k = skips_missing ? 1 : 0; k < steps.cuts.size(); ++k) {
    values.resize(at(detail::cut_at(x, steps.feature, steps.cuts[k]) + 1), steps.values[k]);
  }
  values.resize(at(n_cuts + 1), steps.values.back());
  return values;
}

}  // namespace

template <class T>
void stump_scores(const StumpEnsembleView& ensemble, const DenseView<T>& x, double* scores, Team& team) {
  const std::vector<Steps> all = step_functions(ensemble, x.n_cols);
  const auto coders = detail::coders_of<T>(all);
  for_row_blocks(x.n_rows, static_cast<double>(x.n_cols), team, [&](index_t first, index_t end) {
    std::fill(scores + first, scores + end, 0.0);
    T column[kBlockRows];
    std::uint32_t codes[kBlockRows];
    for (std::size_t s = 0; s < all.size(); ++s) {
      for (index_t i = first; i < end; ++i) column[i - first] = x.data[i * x.n_cols + all[s].feature];
      coders[s].codes(column, end - first, codes);
      const double* values = all[s].values.data();
      for (index_t i = first; i < end; ++i) scores[i] += values[codes[i - first]];
    }
  });
}

template <class T>
void stump_scores(const StumpEnsembleView& ensemble, const CsrView<T>& x, double* scores, Team& team) {
  const std::vector<Steps> all = step_functions(ensemble, x.n_cols);
  // Every row starts as a row of zeros; an entry moves the score by what its value changes.
  const auto coders = detail::coders_of<T>(all);
  std::vector<std::int32_t> steps_of(at(x.n_cols), -1);
  std::vector<double> at_zero;
  double score_of_zeros = 0;
  for (const Steps& steps : all) {
    if (steps.by_categories) {
      throw std::invalid_argument("X must be dense, as feature " + std::to_string(steps.feature) + " is categorical");
    }
    steps_of[at(steps.feature)] = static_cast<std::int32_t>(at_zero.size());
    at_zero.push_back(steps.values[coders[at_zero.size()].code(T(0))]);
    score_of_zeros += at_zero.back();
  }
  for_row_blocks(x.n_rows, detail::mean_row_size(x), team, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      double score = score_of_zeros;
      for (index_t p = x.row_start[i]; p < x.row_start[i + 1]; ++p) {
        const std::int32_t s = steps_of[at(x.columns[p])];
        if (s >= 0) score += all[at(s)].values[coders[at(s)].code(x.values[p])] - at_zero[at(s)];
      }
      scores[i] = score;
    }
  });
}

void stump_scores(const StumpEnsembleView& ensemble, const BinnedFeatures& x, double* scores, Team& team) {
  const std::vector<Steps> all = step_functions(ensemble, x.n_features);
  std::vector<std::vector<double>> values;
  values.reserve(all.size());
  for (const Steps& steps : all) values.push_back(values_by_code(steps, x));
  std::fill(scores, scores + x.n_rows, 0.0);
  if (!x.is_sparse()) {
    return with_code_type(x.width, [&]<class Code>(Code) {
      const auto* codes = reinterpret_cast<const Code*>(x.by_column.data());
      for_row_blocks(x.n_rows, static_cast<double>(all.size()), team, [&](index_t first, index_t end) {
        for (std::size_t s = 0; s < all.size(); ++s) {
          const Code* column = codes + all[s].feature * x.column_stride;
          for (index_t i = first; i < end; ++i) scores[i] += values[s][column[i]];
        }
      });
    });
  }
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::size_t e = at(all[s].feature);
    const double at_zero = values[s][x.zero_code[e]];
    for (index_t i = 0; i < x.n_rows; ++i) scores[i] += at_zero;
    for (index_t p = x.column_start[e]; p < x.column_start[e + 1]; ++p) {
      scores[x.column_rows[at(p)]] += values[s][x.column_codes[at(p)]] - at_zero;
    }
  }
}

template void stump_scores(const StumpEnsembleView&, const DenseView<float>&, double*, Team&);
template void stump_scores(const StumpEnsembleView&, const DenseView<double>&, double*, Team&);
template void stump_scores(const StumpEnsembleView&, const CsrView<float>&, double*, Team&);
template void stump_scores(const StumpEnsembleView&, const CsrView<double>&, double*, Team&);

}  // namespace fastpu
