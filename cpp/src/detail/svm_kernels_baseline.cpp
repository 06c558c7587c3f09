// The baseline level of the kernels.
#define FASTPU_LEVEL baseline
#include "detail/svm_kernels_impl.hpp"
