#include "linalg/row_kernels.hpp"

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

// How many vectors make up a row of a panel.
constexpr int kVectors = static_cast<int>(kPanelWidth) / kDoubles;

// Offsets of row i of a panel, vector v of it.
inline index_t at(index_t i, int v) { return i * kPanelWidth + v * static_cast<index_t>(kDoubles); }

// Returns x with a one in lane n_last and zeros in the lanes after it.
inline Doubles with_one(Doubles x, Doubles lanes, double n_last) {
  const Doubles last = splat<Doubles>(n_last);
  const Doubles end = where_less(lanes, last + splat<Doubles>(1.0), splat<Doubles>(1.0), Doubles{});
  return where_less(lanes, last, x, end);
}

template <class T>
void pack(const T* const* rows, index_t n, index_t n_features, const T* end, const double* centre, double* out,
          index_t stride) {
  const index_t n_whole = n_features / kPanelWidth;
  const index_t n_last = n_features % kPanelWidth;
  Doubles lanes[static_cast<unsigned>(kVectors)];
  for (int v = 0; v < kVectors; ++v) {
    for (int l = 0; l < kDoubles; ++l) lanes[v][l] = v * kDoubles + l;
  }
  T copied[kPanelWidth] = {};
  for (index_t i = 0; i < n; ++i) {
    const T* row = rows[i];
    double* to = out + i * kPanelWidth;
    for (index_t panel = 0; panel < n_whole; ++panel, to += stride) {
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        store(to + at(0, v), load_doubles(row + at(panel, v)) - load<Doubles>(centre + at(panel, v)));
      }
    }
    const T* rest = row + n_whole * kPanelWidth;
    if (end - rest < kPanelWidth) {
      for (index_t l = 0; l < n_last; ++l) copied[l] = rest[l];
      rest = copied;
    }
    FASTPU_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const Doubles centred = load_doubles(rest + at(0, v)) - load<Doubles>(centre + at(n_whole, v));
      store(to + at(0, v), with_one(centred, lanes[v], static_cast<double>(n_last)));
    }
  }
  for (index_t i = n; i % kRowLane != 0; ++i) {
    for (index_t panel = 0; panel <= n_whole; ++panel) {
      for (int v = 0; v < kVectors; ++v) store(out + panel * stride + at(i, v), Doubles{});
    }
  }
}

void rescale(const PackedRows& x, const double* scale, double* FASTPU_RESTRICT out) {
  for (index_t panel = 0; panel < x.n_panels; ++panel) {
    const double* from = x.data + panel * x.stride;
    double* to = out + panel * x.stride;
    for (index_t i = 0; i < x.n_rows; ++i) {
      const Doubles factor = splat<Doubles>(scale[i]);
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) store(to + at(i, v), load<Doubles>(from + at(i, v)) * factor);
    }
  }
}

// Eight lanes for each row, whatever the width of a vector, and added up in one order.
void products(const PackedRows& x, const double* FASTPU_RESTRICT w, double* FASTPU_RESTRICT out) {
  constexpr int kRows = kDoubles;  // at once: eight sums in registers
  for (index_t i = 0; i < x.n_rows; i += kRows) {
    Doubles sums[static_cast<unsigned>(kRows)][static_cast<unsigned>(kVectors)] = {};
    for (index_t panel = 0; panel < x.n_panels; ++panel) {
      const double* from = x.data + panel * x.stride + i * kPanelWidth;
      Doubles factor[static_cast<unsigned>(kVectors)];
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) factor[v] = load<Doubles>(w + at(panel, v));
      FASTPU_UNROLL
      for (int r = 0; r < kRows; ++r) {
        FASTPU_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = sums[r][v] + load<Doubles>(from + at(r, v)) * factor[v];
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      double lanes[kPanelWidth];
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) store(lanes + at(0, v), sums[r][v]);
      out[i + r] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    }
  }
}

template <int kSums, int kPanels>
inline void sums_of_panels(const PackedRows& x, index_t first, const double* const* weights, double* const* sums) {
  Doubles total[static_cast<unsigned>(kSums)][static_cast<unsigned>(kPanels)][static_cast<unsigned>(kVectors)];
  FASTPU_UNROLL
  for (int s = 0; s < kSums; ++s) {
    FASTPU_UNROLL
    for (int p = 0; p < kPanels; ++p) {
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        total[s][p][v] = load<Doubles>(sums[s] + at(first + p, v));
      }
    }
  }
  const double* from = x.data + first * x.stride;
  for (index_t i = 0; i < x.n_rows; ++i) {
    FASTPU_UNROLL
    for (int p = 0; p < kPanels; ++p) {
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const Doubles value = load<Doubles>(from + p * x.stride + at(i, v));
        FASTPU_UNROLL
        for (int s = 0; s < kSums; ++s) total[s][p][v] = total[s][p][v] + splat<Doubles>(weights[s][i]) * value;
      }
    }
  }
  FASTPU_UNROLL
  for (int s = 0; s < kSums; ++s) {
    FASTPU_UNROLL
    for (int p = 0; p < kPanels; ++p) {
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        store(sums[s] + at(first + p, v), total[s][p][v]);
      }
    }
  }
}

template <int kSums>
void sums_of(const PackedRows& x, const double* const* weights, double* const* sums) {
  constexpr int kPanels = kDoubles == 8 ? 4 : kDoubles == 4 ? 2 : 1;  // at once, for as many registers as there are
  index_t panel = 0;
  for (; panel + kPanels <= x.n_panels; panel += kPanels) sums_of_panels<kSums, kPanels>(x, panel, weights, sums);
  for (; panel < x.n_panels; ++panel) sums_of_panels<kSums, 1>(x, panel, weights, sums);
}

void sums(const PackedRows& x, const double* const* weights, int n_sums, double* const* out) {
  if (n_sums == 1) sums_of<1>(x, weights, out);
  if (n_sums == 2) sums_of<2>(x, weights, out);
  if (n_sums == 3) sums_of<3>(x, weights, out);
}

// Some columns of a panel against one or two others: as many sums as fit in registers.
template <int kColumns, int kRights>
inline void gram_tile(const PackedRows& x, const double* a, const double* b, double* out, index_t gram_stride) {
  constexpr int kSums = kRights * kVectors;
  Doubles total[static_cast<unsigned>(kColumns)][static_cast<unsigned>(kSums)];
  const auto each_sum = [&](auto&& visit) {
    FASTPU_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      FASTPU_UNROLL
      for (int r = 0; r < kRights; ++r) {
        FASTPU_UNROLL
        for (int v = 0; v < kVectors; ++v) visit(total[c][r * kVectors + v], out + c * gram_stride + at(r, v));
      }
    }
  };
  each_sum([](Doubles& sum, const double* from) { sum = load<Doubles>(from); });
  for (index_t i = 0; i < x.n_rows; ++i) {
    Doubles value[static_cast<unsigned>(kSums)];
    FASTPU_UNROLL
    for (int r = 0; r < kRights; ++r) {
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) value[r * kVectors + v] = load<Doubles>(b + r * x.stride + at(i, v));
    }
    FASTPU_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      const Doubles factor = splat<Doubles>(a[i * kPanelWidth + c]);
      FASTPU_UNROLL
      for (int s = 0; s < kSums; ++s) total[c][s] = total[c][s] + factor * value[s];
    }
  }
  each_sum([](const Doubles& sum, double* to) { store(to, sum); });
}

void gram(const PackedRows& x, double* out, index_t gram_stride) {
  constexpr int kColumns = 8 / kVectors;
  constexpr int kRights = kVectors == 1 ? 2 : 1;  // at once
  for (index_t left = 0; left < x.n_panels; ++left) {
    for (index_t first = 0; first < kPanelWidth; first += kColumns) {
      const double* a = x.data + left * x.stride + first;
      double* to = out + (left * kPanelWidth + first) * gram_stride;
      index_t right = left;
      for (; right + kRights <= x.n_panels; right += kRights) {
        gram_tile<kColumns, kRights>(x, a, x.data + right * x.stride, to + right * kPanelWidth, gram_stride);
      }
      for (; right < x.n_panels; ++right) {
        gram_tile<kColumns, 1>(x, a, x.data + right * x.stride, to + right * kPanelWidth, gram_stride);
      }
    }
  }
}

template <int kPivots>
inline void eliminate_with(double* matrix, index_t stride, index_t i, index_t pivot) {
  Doubles factor[static_cast<unsigned>(kPivots)];
  FASTPU_UNROLL
  for (int k = 0; k < kPivots; ++k) factor[k] = splat<Doubles>(matrix[(pivot + k) * stride + i]);
  for (index_t j = i / kPanelWidth * kPanelWidth; j < stride; j += kDoubles) {
    Doubles value = load<Doubles>(matrix + i * stride + j);
    FASTPU_UNROLL
    for (int k = 0; k < kPivots; ++k) value = value - factor[k] * load<Doubles>(matrix + (pivot + k) * stride + j);
    store(matrix + i * stride + j, value);
  }
}

void eliminate(double* matrix, index_t stride, index_t n, index_t first, index_t n_pivots) {
  for (index_t i = first + n_pivots; i < n; ++i) {
    index_t k = 0;
    for (; k + 4 <= n_pivots; k += 4) eliminate_with<4>(matrix, stride, i, first + k);
    for (; k < n_pivots; ++k) eliminate_with<1>(matrix, stride, i, first + k);
  }
}

// Each column takes the operations of Cholesky::solve() in their order, so that it has the same bits.
void solve_eight(const double* matrix, index_t stride, index_t n, const double* inverse, double* x) {
  for (index_t i = 0; i < n; ++i) {  // U'
    const double* row = matrix + i * stride;
    Doubles value[static_cast<unsigned>(kVectors)];
    FASTPU_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      value[v] = load<Doubles>(x + at(i, v)) * splat<Doubles>(inverse[i]);
      store(x + at(i, v), value[v]);
    }
    for (index_t j = i + 1; j < n; ++j) {
      const Doubles factor = splat<Doubles>(row[j]);
      FASTPU_UNROLL
      for (int v = 0; v < kVectors; ++v) store(x + at(j, v), load<Doubles>(x + at(j, v)) - value[v] * factor);
    }
  }
  constexpr index_t kSums = 8;
  for (index_t i = n - 1; i >= 0; --i) {  // U
    const double* row = matrix + i * stride;
    FASTPU_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      Doubles sums[kSums] = {};
      index_t j = i + 1;
      for (; j + kSums <= n; j += kSums) {
        FASTPU_UNROLL
        for (index_t s = 0; s < kSums; ++s) {
          sums[s] = sums[s] + splat<Doubles>(row[j + s]) * load<Doubles>(x + at(j + s, v));
        }
      }
      Doubles sum{};
      for (; j < n; ++j) sum = sum + splat<Doubles>(row[j]) * load<Doubles>(x + at(j, v));
      FASTPU_UNROLL
      for (const Doubles& part : sums) sum = sum + part;
      store(x + at(i, v), (load<Doubles>(x + at(i, v)) - sum) * splat<Doubles>(inverse[i]));
    }
  }
}

}  // namespace

const RowKernels kRowKernels = {pack<float>, pack<double>, rescale, products, sums, gram, eliminate, solve_eight};

}  // namespace fastpu::detail::FASTPU_LEVEL
