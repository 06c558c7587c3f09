// Rows of boosted trees that are held elsewhere, as Python knows them.
#pragma once

#include <memory>

#include "common/arguments.hpp"
#include "fastpu/boosting/boosted_rows.hpp"

namespace fastpu {

// Rows that answer through the methods of a Python object, which are those of _core.BoostedShard; its attribute
// most_rows_ahead is that of NodeRows. The GIL is taken for every call. `rows` and `features`, of which the cuts are
// read, must outlive them.
std::unique_ptr<BoostedRows> rows_of_python(const py::object& rows, const BinnedFeatures& features,
                                            const TreeLossOptions& loss);

}  // namespace fastpu
