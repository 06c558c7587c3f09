// The avx512 level of the kernels; the build sets its compiler flags for this file alone.
#define FASTPU_LEVEL avx512
#include "tree/newton_kernels_impl.hpp"
