// The baseline level of the kernels; the build sets its compiler flags for this file alone.
#define FASTPU_LEVEL baseline
#include "tree/newton_kernels_impl.hpp"
