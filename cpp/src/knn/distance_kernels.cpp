#include "knn/distance_kernels.hpp"

#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

constexpr index_t kSums = 8;
constexpr index_t kSumVectors = kSums / kDoubles;

// Eight partial sums; feature f goes to sum f mod 8.
struct Sums {
  Doubles part[static_cast<unsigned>(kSumVectors)] = {};

  // Adds the last features, fewer than eight, and returns the total.
  template <class Difference>
  double finish(index_t n_left, Difference&& difference) const {
    double sum[kSums];
    for (index_t v = 0; v < kSumVectors; ++v) store(sum + v * kDoubles, part[v]);
    for (index_t f = 0; f < n_left; ++f) {
      const double apart = difference(f);
      sum[f] += apart * apart;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }
};

template <class T>
void of_pairs(const T* x, index_t n_features, const RowPair* pairs, index_t n_pairs, double* squared) {
  for (index_t k = 0; k < n_pairs; ++k) {
    const T* a = x + pairs[k].first * n_features;
    const T* b = x + pairs[k].second * n_features;
    Sums sums;
    index_t f = 0;
    for (; f + kSums <= n_features; f += kSums) {
      for (index_t v = 0; v < kSumVectors; ++v) {
        const Doubles apart = load_doubles(a + f + v * kDoubles) - load_doubles(b + f + v * kDoubles);
        sums.part[v] = sums.part[v] + apart * apart;
      }
    }
    squared[k] = sums.finish(n_features - f, [&](index_t left) {
      return static_cast<double>(a[f + left]) - static_cast<double>(b[f + left]);
    });
  }
}

void of_panel(const double* panel, const double* x, index_t n_features, double* squared) {
  for (index_t v = 0; v < kSumVectors; ++v) {
    const auto sum = [&](index_t first) {
      Doubles total{};
      for (index_t f = first; f < n_features; f += kSums) {
        const Doubles apart = load<Doubles>(panel + f * kPanelPoints + v * kDoubles) - splat<Doubles>(x[f]);
        total = total + apart * apart;
      }
      return total;
    };
    // Partial sums that no feature is added to are +0 and do not change the total: they can be left out.
    Doubles total;
    if (n_features == 1) {
      total = sum(0);
    } else if (n_features == 2) {
      total = sum(0) + sum(1);
    } else if (n_features == 3) {
      total = (sum(0) + sum(2)) + sum(1);
    } else {
      total = ((sum(0) + sum(4)) + (sum(2) + sum(6))) + ((sum(1) + sum(5)) + (sum(3) + sum(7)));
    }
    store(squared + v * kDoubles, total);
  }
}

double of_box(const double* low, const double* high, const double* x, index_t n_features) {
  Sums sums;
  index_t f = 0;
  for (; f + kSums <= n_features; f += kSums) {
    for (index_t v = 0; v < kSumVectors; ++v) {
      const Doubles values = load<Doubles>(x + f + v * kDoubles);
      const Doubles below = load<Doubles>(low + f + v * kDoubles) - values;
      const Doubles above = values - load<Doubles>(high + f + v * kDoubles);
      const Doubles apart = more_of(more_of(below, above), Doubles{});
      sums.part[v] = sums.part[v] + apart * apart;
    }
  }
  return sums.finish(n_features - f, [&](index_t left) {
    const double below = low[f + left] - x[f + left];
    const double above = x[f + left] - high[f + left];
    const double gap = below > above ? below : above;
    return gap > 0 ? gap : 0;
  });
}

}  // namespace

const DistanceKernels kDistanceKernels = {of_pairs<float>, of_pairs<double>, of_panel, of_box};

}  // namespace fastpu::detail::FASTPU_LEVEL
