// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "detail/distance_kernels_impl.hpp"
