// A kernel some of whose rows are stored, so that problems on parts of the data share them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "kernels/kernels.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

// Whether rows have so few entries that kernel values are computed as fast as stored ones are looked up.
template <class View>
bool has_short_rows(const View& x) {
  constexpr double kShort = 32;
  return mean_row_size(x) < kShort;
}

// A kernel with some of its rows, distinct ones, stored for all columns.
template <class T>
class StoredRows final : public Kernel<T> {
 public:
  StoredRows(const Kernel<T>& kernel, const index_t* rows, index_t n, Team& team)
      : kernel_(kernel),
        n_columns_(kernel.n_rows()),
        n_stored_(n),
        stride_(round_up(n_columns_, kKernelPanel)),
        place_(make_vector<index_t>(n_columns_, "places of kernel rows")),
        values_(n * stride_, "stored kernel rows") {
    std::ranges::fill(place_, index_t{-1});
    for (index_t k = 0; k < n; ++k) place_[at(rows[k])] = k;
    auto all = make_vector<index_t>(n_columns_, "columns of a kernel");
    for (index_t c = 0; c < n_columns_; ++c) all[at(c)] = c;
    const auto columns = kernel.pack(all.data(), n_columns_, team);
    const index_t at_once = kernel.is_serial() ? n_columns_ : 4 * kKernelPanel;
    const int max_workers = kernel.is_serial() ? 1 : team.n_threads();
    team.for_blocks(n_columns_, at_once, max_workers, [&](index_t first, index_t end, int) {
      std::vector<T*> out(at(n));
      for (index_t k = 0; k < n; ++k) out[at(k)] = values_.data() + k * stride_ + first;
      kernel.fill(rows, n, *columns, first, end, out.data());
    });
  }

  struct Columns final : NumberedColumns<T> {
    using NumberedColumns<T>::NumberedColumns;
    // The packed columns of the kernel, for values that are not stored; null if all rows are stored.
    std::unique_ptr<KernelColumns<T>> packed;
  };

  index_t n_rows() const override { return n_columns_; }
  double diagonal(index_t row) const override { return kernel_.diagonal(row); }
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const override {
    auto columns = std::make_unique<Columns>(rows, n);
    if (n_stored_ < n_columns_) columns->packed = kernel_.pack(rows, n, team);
    return columns;
  }
  bool gains_by_several_rows() const override { return n_stored_ < n_columns_ && kernel_.gains_by_several_rows(); }
  bool is_serial() const override { return kernel_.is_serial(); }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
            T* const* out) const override {
    const auto& chosen = static_cast<const Columns&>(columns);
    std::vector<index_t> others;
    std::vector<T*> out_others;
    for (index_t k = 0; k < n; ++k) {
      const index_t place = place_[at(rows[k])];
      if (place < 0) {
        others.push_back(rows[k]);
        out_others.push_back(out[k]);
        continue;
      }
      const T* from = values_.data() + place * stride_;
      for (index_t c = first; c < last; ++c) out[k][c - first] = from[chosen.rows[at(c)]];
      finish_panel(out[k], last - first);
    }
    if (others.empty()) return;
    kernel_.fill(others.data(), static_cast<index_t>(others.size()), *chosen.packed, first, last, out_others.data());
  }

 private:
  const Kernel<T>& kernel_;
  index_t n_columns_;
  index_t n_stored_;
  index_t stride_;
  std::vector<index_t> place_;
  AlignedBuffer<T> values_;
};

}  // namespace fastpu::detail
