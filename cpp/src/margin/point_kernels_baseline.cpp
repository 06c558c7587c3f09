// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "margin/point_kernels_impl.hpp"
