// The one parallel loop, and the only place where fastpu starts threads.
//
//     Team team(n_threads, poll);
//     team.for_each(n_blocks, [&](index_t block, int worker) { ... });
//
// A Team lives for one fit, so there is no global pool. Its workers start at the first loop that needs them, stay
// between loops (a boosting round takes a millisecond, starting threads as long), and sleep when there is nothing to
// do.
//
// Blocks are dealt out one at a time, so which worker runs which block is a matter of luck: a result may depend on the
// block, but not on the worker. Cut the work by its size (not by n_threads), let each block write to a place of its
// own, and add the places up in order; the result then has the same bits for every n_threads.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

// How many blocks of block_size rows cover n_rows (0 for none).
[[nodiscard]] constexpr index_t count_blocks(index_t n_rows, index_t block_size) noexcept {
  return n_rows <= 0 ? 0 : (n_rows - 1) / block_size + 1;
}

class Team {
 public:
  // Called on the caller's thread before every block that it runs and about every 20 ms while it waits; an exception
  // from it stops the loop. This is where Ctrl-C comes in; keep it cheap.
  using Poll = std::function<void()>;

  // n_threads >= 1 counts the caller. If the system refuses a thread, loops go on with fewer. `isa` is the level of the
  // hot loops that whoever computes with this team is to take.
  explicit Team(int n_threads, Poll poll = {}, Isa isa = best_isa());
  ~Team();

  // The most workers that a loop may use, the caller (worker 0) included: scratch memory is one piece per worker.
  [[nodiscard]] int n_threads() const noexcept { return n_threads_; }

  [[nodiscard]] Isa isa() const noexcept { return isa_; }

  // A team of the calling thread alone, for what a block does by itself: it polls this one and has its level.
  [[nodiscard]] Team alone() {
    return Team(1, [this] { poll(); }, isa_);
  }

  // Runs body(block, worker) once for every block in [0, n_blocks), 0 <= worker < n_threads(), and returns when all are
  // done. If blocks throw, the blocks not yet dealt are skipped, and the exception of the lowest block is rethrown
  // here; one from Poll goes before those of all blocks. The exception by which poll() ends a block because another one
  // has failed does not count. The team can be used again afterwards. A loop of the same team inside a body runs on the
  // worker that meets it, and polls before each of its blocks. Only one thread at a time may call for_each from
  // outside.
  template <class Body>
  void for_each(index_t n_blocks, Body&& body) {
    for_each(n_blocks, std::numeric_limits<int>::max(), std::forward<Body>(body));
  }

  // The same with at most max_workers at work. With 1 (small work) the loop is a plain loop: no thread is woken.
  template <class Body>
  void for_each(index_t n_blocks, int max_workers, Body&& body) {
    using Callable = std::remove_reference_t<Body>;
    run(n_blocks, max_workers,
        Job{[](const void* context, index_t block, int worker) {
              // The const was added for the trip through void* and is taken off again here.
              (*static_cast<Callable*>(const_cast<void*>(context)))(block, worker);
            },
            static_cast<const void*>(std::addressof(body))});
  }

  // Runs body(first, end, worker) for blocks of n rows, at most block_size each.
  template <class Body>
  void for_blocks(index_t n, index_t block_size, int max_workers, Body&& body) {
    for_each(count_blocks(n, block_size), max_workers, [&](index_t block, int worker) {
      const index_t first = block * block_size;
      body(first, std::min(first + block_size, n), worker);
    });
  }

  // For blocks that take more than some 10 ms: call it now and then. It throws when another block has failed (the
  // exception is the team's own: let it pass), and on worker 0 it also calls Poll.
  void poll();

  // Within a block: waits until `condition` holds, which a block with a lower number must bring about, and soon, for
  // the thread does not sleep meanwhile. Blocks are dealt out in order, so some worker has that block already. Throws
  // as poll() does.
  template <class Condition>
  void wait_until(const Condition& condition) {
    while (!condition()) let_others_run();
  }

 private:
  // A body without its type, so that the machinery is compiled once. It lives on the caller's stack during the loop.
  struct Job {
    void (*call)(const void* context, index_t block, int worker);
    const void* context;
  };
  struct Pool;

  void run(index_t n_blocks, int max_workers, Job job);
  void run_inline(index_t n_blocks, Job job, int worker);
  void drop_pool_of_parent() noexcept;
  void let_others_run();

  int n_threads_;
  Poll poll_;
  Isa isa_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace fastpu
