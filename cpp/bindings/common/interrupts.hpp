// How fits are stopped from Python.
#pragma once

#include <atomic>
#include <memory>

#include "fastpu/common/parallel.hpp"

namespace fastpu {

// Stops the fits of threads that see no Ctrl-C, since Python runs signal handlers on its main thread only.
class StopFlag {
 public:
  // From here on the fits that this thread begins look at this flag.
  void watch() const { watched() = is_up_; }
  // Ends them with KeyboardInterrupt.
  void raise() const noexcept { is_up_->store(true, std::memory_order_relaxed); }

  using Shared = std::shared_ptr<std::atomic<bool>>;
  // The flag of this thread, if any.
  static Shared& watched();

 private:
  Shared is_up_ = std::make_shared<std::atomic<bool>>(false);
};

// What a Team calls between blocks: on the main thread it looks for signals every 50 ms, on others at the thread's
// flag. Call it with the GIL held.
Team::Poll interrupt_poll();

}  // namespace fastpu
