// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "linalg/row_kernels_impl.hpp"
