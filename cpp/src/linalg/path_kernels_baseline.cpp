// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "linalg/path_kernels_impl.hpp"
