// How fits are stopped from Python.
#pragma once

#include "fastpu/common/parallel.hpp"

namespace fastpu {

// What a Team calls between blocks: on Python's main thread, the only one that runs signal handlers, it looks for
// signals every 50 ms; on other threads there is nothing to call. Call it with the GIL held.
Team::Poll interrupt_poll();

}  // namespace fastpu
