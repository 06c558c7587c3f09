// Histograms of gradients and the search for the best cut in them: compiled once per instruction-set level.
//
// The gradients of a row are one word of 64 bits: g in the upper half (with its sign), h >= 0 in the lower one, both as
// whole numbers of a unit that is chosen for every tree, so that no sum over rows overflows its half. A histogram has
// for each bin the sum of the words of its rows. Sums of whole numbers have the same bits in any order.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"
#include "tree/code_kernels.hpp"

namespace fastpu::detail {

inline std::int32_t g_of(std::uint64_t word) { return static_cast<std::int32_t>(word >> 32U); }
inline std::int32_t h_of(std::uint64_t word) { return static_cast<std::int32_t>(word & 0xffffffffU); }

// NewtonKernels::score_bound is at most this share above the largest score.
inline constexpr double kBoundShare = 4e-6;

// The sums of a node, and what its cuts are judged by. A side with the sums G and H has the score G^2 / (H + lam), and
// a cut that of its two sides together; a side must not have H below min_hessian, or H + lam = 0.
struct NewtonNode {
  double g = 0;
  double h = 0;
  double g_unit = 1;
  double h_unit = 1;
  double lam = 0;
  double min_hessian = 0;

  double score() const { return h + lam > 0 ? g * g / (h + lam) : 0.0; }
  // The score of the cut with this word as the sum of its left side; -inf if a side is not allowed. The steps are those
  // of NewtonKernels::best_score.
  double score(std::uint64_t left) const {
    const double left_g = g_of(left) * g_unit;
    const double left_h = h_of(left) * h_unit;
    const double right_g = g - left_g;
    const double right_h = h - left_h;
    const double a = left_h + lam;
    const double b = right_h + lam;
    if (left_h < min_hessian || right_h < min_hessian || !(a * b > 0)) return -kInfinity;
    return (left_g * left_g * b + right_g * right_g * a) / (a * b);
  }
  // score_bound works with the sums as whole numbers: lam in units of h, and the unit of the scores that these give.
  double whole_lam() const { return lam / h_unit; }
  double score_unit() const { return g_unit * g_unit / h_unit; }
  // Whether score_bound can be used: its numbers are within the range of float.
  bool has_bounds() const {
    const bool is_moderate = lam == 0 || (whole_lam() >= 0x1p-30 && whole_lam() <= 0x1p40);
    return is_moderate && score_unit() >= 0x1p-900 && score_unit() <= 0x1p900;
  }
};

// The features whose codes are added to a histogram, ascending: the code of the k-th is at place feature[k] of a row,
// and its bins begin at histogram[first_bin[k]].
struct HistogramColumns {
  const std::uint32_t* feature = nullptr;
  const index_t* first_bin = nullptr;
  index_t n = 0;
};

template <class Code>
using AddRows = void (*)(const CodeTable<Code>&, const std::uint32_t* rows, index_t n, const std::uint64_t* words,
                         const HistogramColumns&, std::uint64_t* histogram);

struct NewtonKernels {
  // Adds the words of the listed rows to the bins that their codes name; words[row] is the word of a row.
  AddRows<std::uint8_t> add_bytes;
  AddRows<std::uint16_t> add_pairs;
  // The largest score of the n cuts that have the first 1, ..., n of the bins on the left; -inf if none is allowed.
  double (*best_score)(const std::uint64_t* bins, index_t n, const NewtonNode& node);
  // An upper bound of best_score, in less time, for a node that has_bounds().
  double (*score_bound)(const std::uint64_t* bins, index_t n, const NewtonNode& node);
  // bins[k] -= less[k] for n bins.
  void (*subtract)(std::uint64_t* bins, const std::uint64_t* less, index_t n);
  // Writes the words of n rows, in units of 1 / g_scale and 1 / h_scale. With weights (or null), which must be whole
  // multiples of `repeated` but for rounding, the word of a row is such a multiple of that of a row of weight
  // `repeated`, as if that row was repeated.
  void (*make_words)(const double* g, const double* h, const double* weights, double repeated, index_t n,
                     double g_scale, double h_scale, std::uint64_t* words);

  template <class Code>
  AddRows<Code> add_rows() const {
    return for_type<Code>(add_bytes, add_pairs);
  }
};

FASTPU_KERNEL_LEVELS(NewtonKernels, kNewtonKernels, newton_kernels)

}  // namespace fastpu::detail
