// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "detail/point_kernels_impl.hpp"
