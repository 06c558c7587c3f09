// Which instruction-set level a call uses.
#pragma once

#include "fastpu/common/isa.hpp"

namespace fastpu {

// The level that the environment variable FASTPU_ISA names, and without it the best one. Raises ValueError for a name
// that is no level of this machine. Must be called with the GIL held.
Isa isa_of_call();

}  // namespace fastpu
