// The team that a call from Python computes with, and how it is stopped.
#pragma once

#include "fastpu/common/parallel.hpp"

namespace fastpu {

// Returns the function that a Team is to call between blocks. On Python's main thread, the only one that runs signal
// handlers, it checks for signals every 50 ms; on other threads it is empty. Must be called with the GIL held.
Team::Poll interrupt_poll();

// The team of a call: it polls for interrupts, and takes the level that isa_of_call() returns. Must be called with the
// GIL held.
Team team_of_call(int n_threads);

}  // namespace fastpu
