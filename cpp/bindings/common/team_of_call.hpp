// The team that a call from Python computes with: how many threads, at which level of instructions, and how it is
// stopped.
#pragma once

#include "fastpu/common/parallel.hpp"

namespace fastpu {

// On Python's main thread, the only one that runs signal handlers, the team checks for signals every 50 ms. Its level
// is the one that the environment variable FASTPU_ISA names, and without it the best one; raises ValueError for a name
// that is no level of this machine. Must be called with the GIL held.
Team team_of_call(int n_threads);

}  // namespace fastpu
