// The promises of parallel.hpp.
#include "fastpu/common/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.hpp"

namespace {

using fastpu::at;
using fastpu::count_blocks;
using fastpu::index_t;
using fastpu::Team;
using std::chrono::milliseconds;

constexpr int kThreadCounts[] = {1, 2, 3, 7};

// Each block runs exactly once; returns the number of workers seen.
std::size_t run_and_check_coverage(Team& team, index_t n_blocks, int max_workers) {
  std::vector<std::atomic<int>> counts(at(n_blocks));
  std::mutex mutex;
  std::vector<int> workers;
  team.for_each(n_blocks, max_workers, [&](index_t block, int worker) {
    ++counts[at(block)];
    const std::scoped_lock lock(mutex);
    workers.push_back(worker);
  });
  for (const auto& count : counts) CHECK(count == 1);
  std::ranges::sort(workers);
  workers.erase(std::ranges::unique(workers).begin(), workers.end());
  for (const int worker : workers) CHECK(worker >= 0 && worker < std::min(team.n_threads(), max_workers));
  return workers.size();
}

CASE("every block runs once, whatever the numbers of threads and blocks") {
  for (const int n_threads : kThreadCounts) {
    Team team(n_threads);
    CHECK(team.n_threads() == n_threads);
    for (const index_t n_blocks : {0, 1, 2, 3, 7, 8, 100, 1000}) {
      for (const int max_workers : {1, 2, 5, std::numeric_limits<int>::max()}) {
        run_and_check_coverage(team, n_blocks, max_workers);
      }
    }
  }
}

CASE("bad arguments are refused with the value") {
  CHECK_THROWS(std::invalid_argument, Team(0), "n_threads must be >= 1, got 0");
  CHECK_THROWS(std::invalid_argument, Team(-3), "got -3");
  Team team(2);
  CHECK_THROWS(std::invalid_argument, team.for_each(-1, [](index_t, int) {}), "n_blocks must be >= 0, got -1");
}

CASE("a limit below one means the caller alone") {
  Team team(4);
  CHECK(run_and_check_coverage(team, 10, 1) == 1);
  team.for_each(5, -2, [](index_t, int worker) { CHECK(worker == 0); });
}

CASE("workers really work at the same time, and are the same threads in every loop") {
  constexpr int kWorkers = 3;
  Team team(kWorkers);
  std::vector<std::thread::id> threads(kWorkers);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::atomic<int> n_here{0};
    // Each block waits until all three are being run, which one thread alone could never get past.
    team.for_each(kWorkers, [&](index_t, int worker) {
      ++n_here;
      while (n_here < kWorkers) std::this_thread::yield();
      auto& id = threads[at(worker)];
      if (repeat == 0) id = std::this_thread::get_id();
      CHECK(id == std::this_thread::get_id());
    });
  }
  CHECK(threads[0] == std::this_thread::get_id());
  CHECK(threads[1] != threads[2]);
}

CASE("small work starts no thread") {
  Team team(8);
  const auto caller = std::this_thread::get_id();
  team.for_each(1, [&](index_t, int) { CHECK(std::this_thread::get_id() == caller); });
  team.for_each(1000, 1, [&](index_t, int) { CHECK(std::this_thread::get_id() == caller); });
}

CASE("sums of blocks are bitwise the same for any number of threads") {
  constexpr index_t kRows = 100'003;
  constexpr index_t kBlock = 1024;
  std::vector<double> values(at(kRows));
  for (index_t i = 0; i < kRows; ++i) values[at(i)] = 1.0 / static_cast<double>(i + 1) - 0.3;
  double first = 0.0;
  for (const int n_threads : kThreadCounts) {
    Team team(n_threads);
    std::vector<double> partial(at(count_blocks(kRows, kBlock)));
    team.for_each(static_cast<index_t>(partial.size()), [&](index_t block, int) {
      const index_t end = std::min(kRows, (block + 1) * kBlock);
      for (index_t i = block * kBlock; i < end; ++i) partial[at(block)] += values[at(i)];
    });
    double sum = 0.0;
    for (const double part : partial) sum += part;
    if (n_threads == 1) first = sum;
    CHECK(sum == first);
  }
}

CASE("the exception of the lowest failing block reaches the caller, and the team works afterwards") {
  for (const int n_threads : kThreadCounts) {
    Team team(n_threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::string message;
      try {
        team.for_each(50, [&](index_t block, int) {
          if (block == 4 || block == 5 || block == 30) throw std::runtime_error("block " + std::to_string(block));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == "block 4");
    }
    run_and_check_coverage(team, 64, n_threads);
  }
}

CASE("of two failures the lower block's counts, even if the higher comes first") {
  Team team(2);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::atomic<bool> is_lower_running{false};
    CHECK_THROWS(std::runtime_error,
                 team.for_each(2,
                               [&](index_t block, int) {
                                 if (block == 0) {
                                   is_lower_running = true;
                                   std::this_thread::sleep_for(milliseconds(5));
                                 } else {
                                   while (!is_lower_running) std::this_thread::yield();
                                 }
                                 throw std::runtime_error("block " + std::to_string(block));
                               }),
                 "block 0");
  }
}

CASE("after a failure the blocks not yet dealt are skipped") {
  Team team(2);
  std::atomic<int> n_run{0};
  CHECK_THROWS(std::runtime_error,
               team.for_each(1'000'000,
                             [&](index_t block, int) {
                               ++n_run;
                               if (block == 10) throw std::runtime_error("stop");
                             }),
               "stop");
  CHECK(n_run < 1'000'000);
}

CASE("an exception that is no std::exception comes through as well") {
  Team team(3);
  int caught = 0;
  try {
    team.for_each(20, [](index_t block, int) {
      if (block == 7) throw 42;
    });
  } catch (int value) {
    caught = value;
  }
  CHECK(caught == 42);
}

CASE("a loop inside a block runs on its worker") {
  for (const int n_threads : kThreadCounts) {
    Team team(n_threads);
    Team other(2);
    std::atomic<int> n_inner{0};
    team.for_each(8, [&](index_t, int worker) {
      const auto here = std::this_thread::get_id();
      team.for_each(5, [&](index_t, int inner_worker) {
        CHECK(inner_worker == worker);
        CHECK(std::this_thread::get_id() == here);
        ++n_inner;
      });
    });
    CHECK(n_inner == 40);
    // Another team in between does not hide the first one.
    n_inner = 0;
    team.for_each(1, [&](index_t, int) {
      other.for_each(1, [&](index_t, int) { team.for_each(3, [&](index_t, int) { ++n_inner; }); });
    });
    CHECK(n_inner == 3);
  }
}

CASE("an exception inside a nested loop reaches the outer caller") {
  Team team(4);
  for (int repeat = 0; repeat < 50; ++repeat) {
    CHECK_THROWS(std::runtime_error,
                 team.for_each(20,
                               [&](index_t block, int) {
                                 team.for_each(20, [&](index_t inner, int) {
                                   if (block == 3 && inner == 2) throw std::runtime_error(std::to_string(block));
                                 });
                               }),
                 "3");
  }
  run_and_check_coverage(team, 100, 4);
}

CASE("Poll runs on the caller's thread only and stops the loop by throwing") {
  for (const int n_threads : kThreadCounts) {
    const auto caller = std::this_thread::get_id();
    std::atomic<int> n_polls{0};
    bool must_throw = false;
    Team team(n_threads, [&] {
      CHECK(std::this_thread::get_id() == caller);
      ++n_polls;
      if (must_throw) throw std::runtime_error("interrupted");
    });
    team.for_each(100, [](index_t, int) {});
    CHECK(n_polls >= 1);
    must_throw = true;
    CHECK_THROWS(std::runtime_error, team.for_each(100, [](index_t, int) {}), "interrupted");
    must_throw = false;
    run_and_check_coverage(team, 100, n_threads);
  }
}

CASE("Poll is called while the caller waits for another worker's long block") {
  std::atomic<int> n_polls{0};
  Team team(2, [&] { ++n_polls; });
  std::atomic<bool> is_other_running{false};
  team.for_each(2, [&](index_t, int worker) {
    if (worker == 0) {
      while (!is_other_running) std::this_thread::yield();
    } else {
      is_other_running = true;
      const int before = n_polls;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (n_polls < before + 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      CHECK(n_polls >= before + 2);
    }
  });
}

CASE("poll() inside a long block ends it when another block has failed") {
  Team team(2);
  std::atomic<bool> is_long_block_running{false};
  CHECK_THROWS(std::runtime_error,
               team.for_each(2,
                             [&](index_t block, int) {
                               if (block == 1) {
                                 while (!is_long_block_running) std::this_thread::yield();
                                 throw std::runtime_error("block 1 failed");
                               }
                               is_long_block_running = true;
                               for (;;) team.poll();
                             }),
               "block 1 failed");
  team.poll();  // outside of a loop, and after a failure: nothing to report
}

CASE("a block can wait for an earlier one, and ends when that one fails") {
  for (const int n_threads : kThreadCounts) {
    Team team(n_threads);
    for (const bool must_fail : {false, true}) {
      std::vector<std::atomic<bool>> done(200);
      const auto run = [&] {
        team.for_each(200, [&](index_t block, int) {
          if (block > 0) team.wait_until([&] { return done[at(block - 1)].load(); });
          if (must_fail && block == 150) throw std::runtime_error("planned");
          done[at(block)] = true;
        });
      };
      if (must_fail) {
        CHECK_THROWS(std::runtime_error, run(), "planned");
      } else {
        run();
      }
      CHECK(done[149] && done[199] != must_fail);
    }
  }
}

CASE("Poll called through poll() in a block stops the loop as well") {
  for (const int n_threads : {1, 3}) {
    int n_polls = 0;
    Team team(n_threads, [&] {
      if (++n_polls == 5) throw std::runtime_error("interrupted");
    });
    CHECK_THROWS(std::runtime_error,
                 team.for_each(1,
                               [&](index_t, int) {
                                 for (;;) team.poll();
                               }),
                 "interrupted");
  }
}

CASE("a team alone within a block polls the team it came from, and has its level") {
  int n_polls = 0;
  Team team(2, [&] { ++n_polls; }, fastpu::Isa::baseline);
  Team alone = team.alone();
  CHECK(alone.n_threads() == 1);
  CHECK(alone.isa() == fastpu::Isa::baseline);
  alone.for_each(3, [](index_t, int) {});
  CHECK(n_polls == 3);
}

// Loops as short as they get, so that workers meet every stage of falling asleep; a lost wake-up of the caller hangs,
// and one of a worker shows in the demand that both take part.
CASE("stress: no wake-up is lost") {
  Team team(3);
  std::int64_t total = 0;
  constexpr std::int64_t kLoops = 20'000;
  for (std::int64_t loop = 0; loop < kLoops; ++loop) {
    std::atomic<int> n_run{0};
    team.for_each(1 + loop % 5, [&](index_t, int) { n_run.fetch_add(1, std::memory_order_relaxed); });
    total += n_run;
    // Pauses around the time that workers spin before they sleep.
    if (loop % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(loop % 23));
  }
  CHECK(total == kLoops / 5 * (1 + 2 + 3 + 4 + 5));
  for (int loop = 0; loop < 500; ++loop) {
    std::atomic<int> n_here{0};
    team.for_each(2, [&](index_t, int) {
      ++n_here;
      while (n_here < 2) std::this_thread::yield();
    });
    if (loop % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(loop % 41));
  }
}

CASE("a caller that waits is woken as soon as the last block is done") {
  Team team(2);
  std::vector<std::chrono::steady_clock::duration> took;
  for (int loop = 0; loop < 300; ++loop) {
    const auto start = std::chrono::steady_clock::now();
    std::atomic<int> n_here{0};
    team.for_each(2, [&](index_t, int worker) {
      ++n_here;
      while (n_here < 2) std::this_thread::yield();
      // Longer than the caller spins, so that it sleeps.
      if (worker == 1) std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
    took.push_back(std::chrono::steady_clock::now() - start);
  }
  // A caller that is not woken sleeps for the 20 ms after which it would poll. A busy machine makes loops slower, but
  // not every one of them.
  std::ranges::sort(took);
  CHECK(took[30] < milliseconds(15));
}

CASE("stress: teams of several threads at once, short-lived, with failures") {
  std::vector<std::thread> callers;
  callers.reserve(4);
  std::atomic<int> n_wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&n_wrong, caller] {
      for (int fit = 0; fit < 40; ++fit) {
        Team team(1 + (fit + caller) % 4);
        for (int loop = 0; loop < 5; ++loop) {
          std::atomic<index_t> sum{0};
          const bool must_fail = loop == 2;
          bool has_failed = false;
          try {
            team.for_each(30, [&](index_t block, int) {
              sum += block;
              if (must_fail && block == 3) throw std::runtime_error("planned");
            });
          } catch (const std::runtime_error&) {
            has_failed = true;
          }
          if (has_failed != must_fail || (!must_fail && sum != 29 * 30 / 2)) ++n_wrong;
        }
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(n_wrong == 0);
}

CASE("idle workers sleep") {
  Team team(4);
  run_and_check_coverage(team, 100, 4);
  const std::clock_t before = std::clock();  // processor time of all threads of the process
  std::this_thread::sleep_for(milliseconds(300));
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  CHECK(used < 0.05);
}

#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)  // the thread sanitizer does not follow a fork
CASE("a team goes on after fork, in the parent and in the child") {
  for (const int n_threads : kThreadCounts) {
    Team team(n_threads);
    run_and_check_coverage(team, 50, n_threads);
    const pid_t child = fork();
    if (child == 0) {
      int status = 1;
      {
        const int before = check::n_failures();
        run_and_check_coverage(team, 50, n_threads);
        Team fresh(2);
        run_and_check_coverage(fresh, 50, 2);
        status = check::n_failures() == before ? 0 : 1;
      }
      _exit(status);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_and_check_coverage(team, 50, n_threads);
  }
}
CASE("a team of the parent can be destroyed in the child") {
  auto team = std::make_unique<Team>(3);
  run_and_check_coverage(*team, 50, 3);
  const pid_t child = fork();
  if (child == 0) {
    team.reset();
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

CASE("count_blocks covers all rows") {
  CHECK(count_blocks(0, 8) == 0);
  CHECK(count_blocks(1, 8) == 1);
  CHECK(count_blocks(8, 8) == 1);
  CHECK(count_blocks(9, 8) == 2);
  CHECK(count_blocks(std::numeric_limits<index_t>::max(), 1) == std::numeric_limits<index_t>::max());
}

}  // namespace
