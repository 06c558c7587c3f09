// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "detail/distance_filter_impl.hpp"
