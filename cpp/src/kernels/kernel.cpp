#include "fastpu/kernels/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "linalg/vector_kernels.hpp"

namespace fastpu {

namespace {

using detail::finish_panel;
using detail::NumberedColumns;

template <class T>
int workers_for(const Kernel<T>& kernel, index_t n_values, const Team& team) {
  constexpr index_t kLeast = 20'000;  // fewer kernel values are not worth waking a thread
  return kernel.is_serial() || n_values < kLeast ? 1 : team.n_threads();
}

template <class T>
class PrecomputedKernel final : public Kernel<T> {
 public:
  explicit PrecomputedKernel(const DenseView<T>& view) : view_(view) {}

  index_t n_rows() const override { return view_.n_rows; }
  double diagonal(index_t row) const override { return static_cast<double>(view_.row(row)[row]); }
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& /*team*/) const override {
    return std::make_unique<NumberedColumns<T>>(rows, n);
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
            T* const* out) const override {
    const index_t* chosen = static_cast<const NumberedColumns<T>&>(columns).rows.data();
    for (index_t k = 0; k < n; ++k) {
      const T* from = view_.row(rows[k]);
      for (index_t c = first; c < last; ++c) out[k][c - first] = from[chosen[c]];
      finish_panel(out[k], last - first);
    }
  }
  bool gains_by_several_rows() const override { return false; }

 private:
  DenseView<T> view_;
};

class FunctionKernel final : public Kernel<double> {
 public:
  FunctionKernel(index_t n_rows, KernelFunction fill) : n_rows_(n_rows), fill_(std::move(fill)) {}

  index_t n_rows() const override { return n_rows_; }
  double diagonal(index_t row) const override {
    double value = 0;
    fill_(&row, 1, &row, 1, &value);
    return value;
  }
  std::unique_ptr<KernelColumns<double>> pack(const index_t* rows, index_t n, Team& /*team*/) const override {
    return std::make_unique<NumberedColumns<double>>(rows, n);
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<double>& columns, index_t first, index_t last,
            double* const* out) const override {
    const index_t* chosen = static_cast<const NumberedColumns<double>&>(columns).rows.data();
    const index_t width = last - first;
    AlignedBuffer<double> values(n * width, "values of a kernel function");
    fill_(rows, n, chosen + first, width, values.data());
    for (index_t k = 0; k < n; ++k) {
      const double* from = values.data() + k * width;
      for (index_t c = 0; c < width; ++c) {
        if (std::isfinite(from[c])) continue;
        throw std::invalid_argument("the kernel of rows " + std::to_string(rows[k]) + " and " +
                                    std::to_string(chosen[first + c]) + " is " + std::to_string(from[c]));
      }
      std::copy_n(from, width, out[k]);
      finish_panel(out[k], width);
    }
  }
  bool gains_by_several_rows() const override {
    return true;
  }  // a call of the caller's function has a price of its own
  bool is_serial() const override { return true; }

 private:
  index_t n_rows_;
  KernelFunction fill_;
};

// Computes scores block by block: `pack_block` packs some rows of x as columns at a time.
template <class T, class PackBlock>
void scores_of_blocks(const Kernel<T>& kernel, const KernelModels& models, index_t n_x, Team& team, double* out,
                      PackBlock&& pack_block) {
  constexpr index_t kRowsAtOnce = 16;
  const index_t columns_at_once = kernel.is_serial() ? 16 * kKernelPanel : 4 * kKernelPanel;
  const auto& loops = detail::svm_kernels(team.isa()).of<T>();
  struct Scratch {
    AlignedBuffer<T> values;
    AlignedBuffer<double> sums;
    AlignedBuffer<double> factors;
  };
  std::vector<Scratch> scratch(at(team.n_threads()));
  const int max_workers = workers_for(kernel, n_x * models.n_support, team);
  team.for_blocks(n_x, columns_at_once, max_workers, [&](index_t start, index_t end, int worker) {
    Scratch& mine = scratch[at(worker)];
    if (mine.values.empty()) {
      mine.values = AlignedBuffer<T>(kRowsAtOnce * columns_at_once, "kernel values of a block");
      mine.sums = AlignedBuffer<double>(models.n_models * columns_at_once, "scores of a block");
      mine.factors = AlignedBuffer<double>(models.n_models * kRowsAtOnce, "factors of a block");
    }
    const index_t n_now = end - start;
    const auto columns = pack_block(start, n_now);
    for (index_t m = 0; m < models.n_models; ++m) {
      std::fill_n(mine.sums.data() + m * columns_at_once, n_now, models.intercepts[m]);
    }
    T* rows[kRowsAtOnce];
    const T* read[kRowsAtOnce];
    for (index_t r = 0; r < kRowsAtOnce; ++r) read[r] = rows[r] = mine.values.data() + r * columns_at_once;
    for (index_t s = 0; s < models.n_support; s += kRowsAtOnce) {
      if (s % (16 * kRowsAtOnce) == 0) team.poll();
      const index_t n_rows = std::min(kRowsAtOnce, models.n_support - s);
      kernel.fill(models.support + s, n_rows, *columns, 0, n_now, rows);
      for (index_t m = 0; m < models.n_models; ++m) {
        for (index_t r = 0; r < n_rows; ++r) mine.factors[r] = models.coefs[(s + r) * models.n_models + m];
        loops.add_rows(mine.sums.data() + m * columns_at_once, read, mine.factors.data(), n_rows, n_now);
      }
    }
    for (index_t m = 0; m < models.n_models; ++m) {
      for (index_t c = 0; c < n_now; ++c) out[(start + c) * models.n_models + m] = mine.sums[m * columns_at_once + c];
    }
  });
}

void fill_matrix(const Kernel<double>& kernel, const KernelColumns<double>& columns, index_t width, Team& team,
                 double* out) {
  constexpr index_t kRowsAtOnce = 32;
  const index_t stride = round_up(width, kKernelPanel);
  AlignedBuffer<double> values(team.n_threads() * kRowsAtOnce * stride, "rows of the kernel matrix");
  team.for_blocks(kernel.n_rows(), kRowsAtOnce, team.n_threads(), [&](index_t first, index_t end, int worker) {
    index_t numbers[kRowsAtOnce] = {};
    double* places[kRowsAtOnce] = {};  // NOLINT(misc-const-correctness): what it points to is written
    const index_t size = end - first;
    for (index_t k = 0; k < size; ++k) {
      numbers[k] = first + k;
      places[k] = values.data() + (worker * kRowsAtOnce + k) * stride;
    }
    kernel.fill(numbers, size, columns, 0, width, places);
    for (index_t k = 0; k < size; ++k) std::copy_n(places[k], width, out + (first + k) * width);
  });
}

}  // namespace

template <class T>
std::unique_ptr<Kernel<T>> make_kernel(const DenseView<T>& view, const KernelParams& params, const Team& team) {
  return std::make_unique<detail::DenseKernel<T>>(view, params, team);
}

template <class T>
std::unique_ptr<Kernel<T>> make_kernel(const CsrView<T>& view, const KernelParams& params, const Team& team) {
  return std::make_unique<detail::SparseKernel<T>>(view, params, team);
}

template <class T>
std::unique_ptr<Kernel<T>> make_precomputed_kernel(const DenseView<T>& view) {
  if (view.n_rows != view.n_cols) throw std::invalid_argument("a precomputed kernel must be square");
  return std::make_unique<PrecomputedKernel<T>>(view);
}

std::unique_ptr<Kernel<double>> make_function_kernel(index_t n_rows, KernelFunction fill) {
  return std::make_unique<FunctionKernel>(n_rows, std::move(fill));
}

template <class T>
void kernel_scores(const Kernel<T>& kernel, const KernelModels& models, const index_t* x, index_t n_x, Team& team,
                   double* out) {
  scores_of_blocks(kernel, models, n_x, team, out,
                   [&](index_t start, index_t n) { return kernel.pack(x + start, n, team); });
}

void kernel_scores_of_support(const Kernel<double>& kernel, const index_t* rows, const double* coefs, index_t n,
                              Team& team, double* out) {
  constexpr index_t kBlockRows = 2 * kKernelPanel;
  constexpr index_t kRowsAtOnce = 16;
  const index_t n_blocks = count_blocks(n, kBlockRows);
  const auto start = [](index_t block) { return block * kBlockRows; };
  const auto size = [&](index_t block) { return std::min(kBlockRows, n - start(block)); };
  auto columns = reserve_vector<std::unique_ptr<KernelColumns<double>>>(n_blocks, "columns of a kernel");
  for (index_t block = 0; block < n_blocks; ++block) {
    columns.push_back(kernel.pack(rows + start(block), size(block), team));
  }
  AlignedBuffer<double> values(team.n_threads() * kRowsAtOnce * kBlockRows, "kernel values of a block");
  const auto& add_rows = detail::svm_kernels(team.isa()).of<double>().add_rows;
  const auto& dot = detail::vector_kernels(team.isa()).dot;
  // Adds the kernel values of the rows of block `left` with those of block `above` to the sums of both blocks.
  const auto meet = [&](index_t above, index_t left, int worker) {
    double* places[kRowsAtOnce];
    for (index_t r = 0; r < kRowsAtOnce; ++r) places[r] = values.data() + (worker * kRowsAtOnce + r) * kBlockRows;
    const index_t end = start(left) + size(left);
    for (index_t s = start(left); s < end; s += kRowsAtOnce) {
      const index_t n_rows = std::min(kRowsAtOnce, end - s);
      kernel.fill(rows + s, n_rows, *columns[at(above)], 0, size(above), places);
      add_rows(out + start(above), places, coefs + s, n_rows, size(above));
      if (above == left) continue;
      for (index_t r = 0; r < n_rows; ++r) out[s + r] += dot(places[r], coefs + start(above), size(above));
    }
  };
  // As in a tournament, every block meets one other, or itself, in a round, so that no two workers add to one sum:
  // block a meets block (round - a) modulo an odd number. Where this is more than the number of blocks, one sits out.
  const index_t n_rounds = n_blocks + (n_blocks + 1) % 2;
  const int max_workers = workers_for(kernel, n * n, team);
  std::fill_n(out, n, 0.0);
  for (index_t round = 0; round < n_rounds; ++round) {
    team.poll();
    team.for_each(n_rounds, max_workers, [&](index_t above, int worker) {
      const index_t left = (round - above + n_rounds) % n_rounds;
      if (left <= above && above < n_blocks) meet(above, left, worker);
    });
  }
}

template <class T>
void kernel_scores(const DenseView<T>& support_view, const DenseView<T>& x, const KernelParams& params,
                   const KernelModels& models, Team& team, double* out) {
  const detail::DenseKernel<T> kernel(support_view, params, team);
  scores_of_blocks(kernel, models, x.n_rows, team, out, [&](index_t start, index_t n) {
    return kernel.pack(DenseView<T>{x.row(start), n, x.n_cols}, nullptr, n, team);
  });
}

template <class T>
void kernel_scores(const CsrView<T>& support_view, const CsrView<T>& x, const KernelParams& params,
                   const KernelModels& models, Team& team, double* out) {
  const detail::SparseKernel<T> kernel(support_view, params, team);
  scores_of_blocks(kernel, models, x.n_rows, team, out, [&](index_t start, index_t n) {
    return kernel.pack(CsrView<T>{x.values, x.columns, x.row_start + start, n, x.n_cols}, nullptr, n);
  });
}

void kernel_matrix(const DenseView<double>& x, const DenseView<double>& y, const KernelParams& params, Team& team,
                   double* out) {
  const detail::DenseKernel<double> kernel(x, params, team);
  fill_matrix(kernel, *kernel.pack(y, nullptr, y.n_rows, team), y.n_rows, team, out);
}

void kernel_matrix(const CsrView<double>& x, const CsrView<double>& y, const KernelParams& params, Team& team,
                   double* out) {
  const detail::SparseKernel<double> kernel(x, params, team);
  fill_matrix(kernel, *kernel.pack(y, nullptr, y.n_rows), y.n_rows, team, out);
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define FASTPU_INSTANTIATE(T)                                                                                        \
  template std::unique_ptr<Kernel<T>> make_kernel(const DenseView<T>&, const KernelParams&, const Team&);            \
  template std::unique_ptr<Kernel<T>> make_kernel(const CsrView<T>&, const KernelParams&, const Team&);              \
  template std::unique_ptr<Kernel<T>> make_precomputed_kernel(const DenseView<T>&);                                  \
  template void kernel_scores(const Kernel<T>&, const KernelModels&, const index_t*, index_t, Team&, double*);       \
  template void kernel_scores(const DenseView<T>&, const DenseView<T>&, const KernelParams&, const KernelModels&,    \
                              Team&, double*);                                                                       \
  template void kernel_scores(const CsrView<T>&, const CsrView<T>&, const KernelParams&, const KernelModels&, Team&, \
                              double*);
FASTPU_INSTANTIATE(float)
FASTPU_INSTANTIATE(double)
#undef FASTPU_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace fastpu
