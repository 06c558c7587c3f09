// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "detail/row_kernels_impl.hpp"
