// Rows of boosted stumps that are held elsewhere, as Python knows them.
#pragma once

#include <memory>

#include "common/arguments.hpp"
#include "fastpu/boosting/stump_rows.hpp"

namespace fastpu {

// Rows that answer through the methods of a Python object, which are those of _core.StumpShard. The GIL is taken for
// every call. `rows` and `features`, of which the cuts are read, must outlive them.
std::unique_ptr<StumpRows> stump_rows_of_python(const py::object& rows, const BinnedFeatures& features);

}  // namespace fastpu
