// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "detail/path_kernels_impl.hpp"
