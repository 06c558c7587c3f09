// How fits are stopped from Python.
#pragma once

#include "fastpu/common/parallel.hpp"

namespace fastpu {

// Returns the function that a Team is to call between blocks. On Python's main thread, the only one that runs signal
// handlers, it checks for signals every 50 ms; on other threads it is empty. Must be called with the GIL held.
Team::Poll interrupt_poll();

}  // namespace fastpu
