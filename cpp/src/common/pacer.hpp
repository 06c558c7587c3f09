// Long plain loops that can be stopped: the team is polled after about kPollEvery units of work, which take some
// milliseconds, at no cost inside the loop.
#pragma once

#include <algorithm>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

inline constexpr index_t kPollEvery = index_t{1} << 20;

// For one loop, or several one after the other.
class Pacer {
 public:
  explicit Pacer(Team& team) : team_(&team) {}

  void add(index_t work) {
    left_ -= work;
    if (left_ > 0) return;
    left_ = kPollEvery;
    team_->poll();
  }

  // Calls body(from, to) for consecutive pieces of [first, end).
  template <class Body>
  void run(index_t first, index_t end, Body&& body) {
    while (first < end) {
      const index_t stop = std::min(end, first + kPollEvery);
      body(first, stop);
      add(stop - first);
      first = stop;
    }
  }

 private:
  Team* team_;
  index_t left_ = kPollEvery;
};

// As make_vector, for arrays so long that even setting them to T() needs polls.
template <class T>
std::vector<T> make_long_vector(index_t n, const char* what_for, Pacer& pacer) {
  auto values = reserve_vector<T>(n, what_for);
  pacer.run(0, n, [&values](index_t, index_t end) { values.resize(static_cast<std::size_t>(end)); });
  return values;
}

}  // namespace fastpu::detail
