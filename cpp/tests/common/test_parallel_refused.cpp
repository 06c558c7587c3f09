// Team when the system refuses threads. This program brings its own pthread_create, which gives two and refuses the
// rest.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>

#include "check.hpp"
#include "fastpu/common/parallel.hpp"

namespace {
std::atomic<int> n_asked{0};
std::atomic<int> n_given{0};
int n_allowed = 0;
}  // namespace

// Visible, so that it is the one that the standard library finds.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  ++n_asked;
  if (n_given >= n_allowed) return EAGAIN;
  ++n_given;
  return real(thread, attributes, start, argument);
}

namespace {

using fastpu::index_t;
using fastpu::Team;

std::set<int> workers_of_loop(Team& team, index_t n_blocks) {
  std::mutex mutex;
  std::set<int> workers;
  std::atomic<index_t> n_run{0};
  team.for_each(n_blocks, [&](index_t, int worker) {
    ++n_run;
    const std::scoped_lock lock(mutex);
    workers.insert(worker);
  });
  CHECK(n_run == n_blocks);
  return workers;
}

CASE("without any thread the caller does the work") {
  n_asked = n_given = n_allowed = 0;
  Team team(4);
  CHECK(workers_of_loop(team, 100) == std::set<int>{0});
  CHECK(n_asked == 1);
  CHECK(workers_of_loop(team, 100) == std::set<int>{0});
  CHECK(n_asked == 1);  // it took the answer the first time
  CHECK(team.n_threads() == 4);
}

CASE("with fewer threads than wanted the loop goes on with those") {
  n_asked = n_given = 0;
  n_allowed = 2;
  Team team(6);
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (const int worker : workers_of_loop(team, 200)) CHECK(worker >= 0 && worker <= 2);
  }
  CHECK(n_given == 2);
  CHECK(n_asked == 3);
}

}  // namespace
