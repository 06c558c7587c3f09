// The entries of a sparse matrix feature by feature, rows ascending.
#pragma once

#include <cstdint>
#include <vector>

#include "common/pacer.hpp"
#include "data/binned_layout.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

template <class T>
struct EntriesByFeature {
  EntriesByFeature(const CsrView<T>& x, Pacer pacer)
      : start(make_long_vector<index_t>(x.n_cols + 1, "the sparse columns", pacer)),
        values(x.row_start[x.n_rows], "the sparse columns"),
        rows(x.row_start[x.n_rows], "the sparse columns") {
    pacer.run(0, x.row_start[x.n_rows], [&](index_t first, index_t end) {
      for (index_t p = first; p < end; ++p) ++start[at(x.columns[p]) + 1];
    });
    counts_to_starts(start, pacer);
    for (index_t r = 0; r < x.n_rows; ++r) {
      pacer.run(x.row_start[r], x.row_start[r + 1], [&](index_t first, index_t end) {
        for (index_t p = first; p < end; ++p) {
          const index_t position = start[at(x.columns[p])]++;
          values[position] = x.values[p];
          rows[position] = static_cast<std::uint32_t>(r);
        }
      });
      pacer.add(1);
    }
    ends_to_starts(start, pacer);
  }

  index_t count(index_t feature) const { return start[at(feature) + 1] - start[at(feature)]; }

  std::vector<index_t> start;
  AlignedBuffer<T> values;
  AlignedBuffer<std::uint32_t> rows;
};

}  // namespace fastpu::detail
