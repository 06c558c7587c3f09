#include "fastpu/common/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)
#include <immintrin.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace fastpu {
namespace {

using Clock = std::chrono::steady_clock;

// A longer spin would sometimes save waking a thread, but it takes processor time from other programs.
constexpr auto kSpinTime = std::chrono::microseconds(5);
constexpr auto kWaitBetweenPolls = std::chrono::milliseconds(20);
constexpr index_t kNoBlock = std::numeric_limits<index_t>::max();
constexpr index_t kPollBlock = -1;  // an exception of Poll counts as that of a block before the first

// Thrown into a block when another one has failed, and caught by deal_blocks.
struct Stopped {};

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__) || defined(_M_IX86)
  _mm_pause();
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
  __asm__ __volatile__("yield");
#endif
}

template <class Condition>
bool spin_until(Condition condition) {
  const auto deadline = Clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
      pause_briefly();
    }
  } while (Clock::now() < deadline);
  return false;
}

std::int64_t process_id() noexcept {
#if defined(_WIN32)
  return 0;  // no fork
#else
  return getpid();
#endif
}

// Lets one thread wait, asleep, until another thread has changed an atomic that both read. The waiting thread first
// stores that it waits and then reads the atomic again; the other thread first changes the atomic and then reads
// whether somebody waits. All four accesses are sequentially consistent, so at least one of the two threads sees what
// the other has stored, and no wake-up is lost. A wake-up that nobody waits for costs one load.
class Waiter {
 public:
  template <class Condition>
  void wait_until(Condition condition) {
    std::unique_lock lock(mutex_);
    is_waiting_.store(true, std::memory_order_seq_cst);
    changed_.wait(lock, condition);
    is_waiting_.store(false, std::memory_order_relaxed);
  }

  template <class Condition, class Duration>
  bool wait_until(Condition condition, Duration at_most) {
    std::unique_lock lock(mutex_);
    is_waiting_.store(true, std::memory_order_seq_cst);
    const bool came_true = changed_.wait_for(lock, at_most, condition);
    is_waiting_.store(false, std::memory_order_relaxed);
    return came_true;
  }

  void wake() {
    if (!is_waiting_.load(std::memory_order_seq_cst)) return;
    const std::scoped_lock lock(mutex_);
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_waiting_{false};
};

enum class State : std::uint32_t {
  starting,  // the thread has not begun, or has no room yet; the caller waits
  idle,      // nothing to do
  called,    // the caller has a loop for this worker, which has not noticed yet
  working,   // it has noticed; the caller may not return before it is idle again
  quitting   // the team ends
};

// Aligned to a cache line, so that what a worker and the caller exchange does not share one with other data.
struct alignas(64) Worker {
  std::atomic<State> state{State::starting};
  Waiter waiter;
  std::thread thread;
};

// A block that this thread is running: its team, and the block around it if teams are nested.
struct Frame {
  const Team* team;
  int worker;
  const Frame* outer;
};
thread_local const Frame* innermost_frame = nullptr;

class FrameScope {
 public:
  FrameScope(const Team* team, int worker) noexcept : frame_{team, worker, innermost_frame} {
    innermost_frame = &frame_;
  }
  ~FrameScope() { innermost_frame = frame_.outer; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;
  FrameScope(FrameScope&&) = delete;
  FrameScope& operator=(FrameScope&&) = delete;

 private:
  Frame frame_;
};

const Frame* find_frame(const Team* team) noexcept {
  const Frame* frame = innermost_frame;
  while (frame != nullptr && frame->team != team) frame = frame->outer;
  return frame;
}

// Allocates what is kept for this thread, and returns whether there is memory for it. This library's part is allocated
// at its first use, and that of the C++ runtime at the first throw; without memory the C library would end the process
// then. So each thread uses both at its beginning (the caller waits for a new worker to do so), after allocating and
// freeing a larger piece has shown that there is memory.
bool make_room_to_throw() noexcept {
  constexpr std::size_t kMoreThanEnough = std::size_t{1} << 16;
  void* volatile piece = std::malloc(kMoreThanEnough);  // volatile, or compilers leave out what is only freed again
  if (piece == nullptr) return false;
  std::free(piece);
  const Frame* const volatile* const kept = &innermost_frame;
  static_cast<void>(*kept);
  [[maybe_unused]] const volatile int none = std::uncaught_exceptions();  // volatile, as before
  return true;
}

}  // namespace

struct Team::Pool {  // NOLINT(clang-analyzer-optin.performance.Padding): cache lines of their own
  // The loop in progress, written by the caller before it calls the workers.
  const Team* team = nullptr;
  Job job{};
  index_t n_blocks = 0;
  alignas(64) std::atomic<index_t> next_block{0};
  alignas(64) std::atomic<bool> must_stop{false};

  std::mutex failure_mutex;
  index_t failed_block = kNoBlock;
  std::exception_ptr failure;

  Waiter caller_waiter;
  std::vector<std::unique_ptr<Worker>> workers;  // workers[i] is worker number i + 1
  bool is_refused = false;                       // the system refused a thread, and is not asked again
  std::int64_t process = process_id();

  std::size_t start_workers(std::size_t n_wanted);
  void serve(Worker& self, int number);
  void run_job(Team& owner, std::size_t n_helpers);
  void deal_blocks(int worker);
  void poll_or_stop(const Poll& poll) noexcept;
  void record_failure(index_t block) noexcept;
  void dismiss(Worker& worker, const Poll& poll) noexcept;
  void quit() noexcept;
};

// Starts workers until there are n_wanted of them, or the system refuses; returns how many there are.
std::size_t Team::Pool::start_workers(std::size_t n_wanted) {
  while (workers.size() < n_wanted && !is_refused) {
    try {
      workers.reserve(n_wanted);
      workers.push_back(std::make_unique<Worker>());
    } catch (const std::bad_alloc&) {
      is_refused = true;
      break;
    }
    Worker& worker = *workers.back();
    is_refused = true;
    try {
      worker.thread = std::thread(&Pool::serve, this, std::ref(worker), static_cast<int>(workers.size()));
      const auto has_begun = [&worker] { return worker.state.load(std::memory_order_seq_cst) != State::starting; };
      if (!spin_until(has_begun)) caller_waiter.wait_until(has_begun);
      is_refused = worker.state.load(std::memory_order_seq_cst) == State::quitting;
      if (is_refused) worker.thread.join();
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): without it, as is_refused says
    } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): the same
    }
    if (is_refused) workers.pop_back();
  }
  return std::min(n_wanted, workers.size());
}

// The loop of a worker thread, from its start to the end of the team.
void Team::Pool::serve(Worker& self, int number) {
  const bool may_throw = make_room_to_throw();
  self.state.store(may_throw ? State::idle : State::quitting, std::memory_order_seq_cst);
  caller_waiter.wake();
  if (!may_throw) return;
  const auto has_news = [&self] { return self.state.load(std::memory_order_seq_cst) != State::idle; };
  for (;;) {
    if (!spin_until(has_news)) self.waiter.wait_until(has_news);
    State seen = State::called;
    if (self.state.compare_exchange_strong(seen, State::working, std::memory_order_acq_rel)) {
      {
        const FrameScope scope(team, number);
        deal_blocks(number);
      }
      self.state.store(State::idle, std::memory_order_seq_cst);
      caller_waiter.wake();
    } else if (seen == State::quitting) {
      return;
    }  // otherwise the caller finished alone and took the call back
  }
}

// The caller's side of a loop.
void Team::Pool::run_job(Team& owner, std::size_t n_helpers) {
  for (std::size_t i = 0; i < n_helpers; ++i) {
    workers[i]->state.store(State::called, std::memory_order_seq_cst);
    workers[i]->waiter.wake();
  }
  {
    const FrameScope scope(&owner, 0);
    deal_blocks(0);
    for (std::size_t i = 0; i < n_helpers; ++i) dismiss(*workers[i], owner.poll_);
  }
  must_stop.store(false, std::memory_order_relaxed);
  failed_block = kNoBlock;
  if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
}

// Every block that was dealt is run, so all blocks below a failed one are run too: the lowest block that fails is the
// same every time.
void Team::Pool::deal_blocks(int worker) {
  while (!must_stop.load(std::memory_order_relaxed)) {
    if (worker == 0) {
      poll_or_stop(team->poll_);
      if (must_stop.load(std::memory_order_relaxed)) return;
    }
    const index_t block = next_block.fetch_add(1, std::memory_order_relaxed);
    if (block >= n_blocks) return;
    try {
      job.call(job.context, block, worker);
    } catch (const Stopped&) {  // NOLINT(bugprone-empty-catch): another block's failure is on record already
    } catch (...) {
      record_failure(block);
    }
  }
}

void Team::Pool::poll_or_stop(const Poll& poll) noexcept {
  if (!poll) return;
  try {
    poll();
  } catch (...) {
    record_failure(kPollBlock);
  }
}

void Team::Pool::record_failure(index_t block) noexcept {
  const std::scoped_lock lock(failure_mutex);
  if (block < failed_block) {
    failed_block = block;
    failure = std::current_exception();
  }
  must_stop.store(true, std::memory_order_relaxed);
}

// Called when no blocks are left: takes the call back from a worker that has not noticed it, or waits until the worker
// is done.
void Team::Pool::dismiss(Worker& worker, const Poll& poll) noexcept {
  State seen = State::called;
  if (worker.state.compare_exchange_strong(seen, State::idle, std::memory_order_acq_rel)) return;
  const auto is_done = [&worker] { return worker.state.load(std::memory_order_seq_cst) == State::idle; };
  if (spin_until(is_done)) return;
  while (!caller_waiter.wait_until(is_done, kWaitBetweenPolls)) {
    if (!must_stop.load(std::memory_order_relaxed)) poll_or_stop(poll);
  }
}

void Team::Pool::quit() noexcept {
  for (const auto& worker : workers) {
    worker->state.store(State::quitting, std::memory_order_seq_cst);
    worker->waiter.wake();
  }
  for (const auto& worker : workers) worker->thread.join();
}

Team::Team(int n_threads, Poll poll, Isa isa) : n_threads_(n_threads), poll_(std::move(poll)), isa_(isa) {
  static_cast<void>(make_room_to_throw());  // a fit makes its team first, before it takes memory of its own
  if (n_threads < 1) throw std::invalid_argument("n_threads must be >= 1, got " + std::to_string(n_threads));
}

Team::~Team() {
  drop_pool_of_parent();
  if (pool_) pool_->quit();
}

// After fork() the child has the caller's thread alone. The workers it sees in memory do not exist, and their locks may
// be in any state, so that they can neither be joined nor destroyed: they are left where they are.
void Team::drop_pool_of_parent() noexcept {
  if (pool_ && pool_->process != process_id())
    static_cast<void>(pool_.release());  // NOLINT(bugprone-unused-return-value)
}

void Team::run(index_t n_blocks, int max_workers, Job job) {
  if (n_blocks < 0) throw std::invalid_argument("n_blocks must be >= 0, got " + std::to_string(n_blocks));
  const Frame* const frame = find_frame(this);
  const auto n_workers = std::min<index_t>({n_blocks, n_threads_, max_workers});
  if (frame != nullptr || n_workers <= 1) {
    run_inline(n_blocks, job, frame != nullptr ? frame->worker : 0);
    return;
  }
  drop_pool_of_parent();
  try {
    if (!pool_) pool_ = std::make_unique<Pool>();
  } catch (const std::bad_alloc&) {  // there is no memory for workers either
    run_inline(n_blocks, job, 0);
    return;
  }
  const std::size_t n_helpers = pool_->start_workers(static_cast<std::size_t>(n_workers - 1));
  pool_->team = this;
  pool_->job = job;
  pool_->n_blocks = n_blocks;
  pool_->next_block.store(0, std::memory_order_relaxed);
  pool_->run_job(*this, n_helpers);
}

void Team::run_inline(index_t n_blocks, Job job, int worker) {
  const FrameScope scope(this, worker);
  for (index_t block = 0; block < n_blocks; ++block) {
    poll();
    job.call(job.context, block, worker);
  }
}

void Team::poll() {
  if (pool_ && pool_->must_stop.load(std::memory_order_relaxed)) throw Stopped{};
  const Frame* const frame = find_frame(this);
  if (poll_ && (frame == nullptr || frame->worker == 0)) poll_();
}

void Team::let_others_run() {
  poll();
  std::this_thread::yield();
}

}  // namespace fastpu
