// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "boosting/tree_loss_kernels_impl.hpp"
