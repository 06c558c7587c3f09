// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "kernels/svm_kernels_impl.hpp"
