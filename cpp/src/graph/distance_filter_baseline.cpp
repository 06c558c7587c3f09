// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "graph/distance_filter_impl.hpp"
