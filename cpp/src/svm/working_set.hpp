// The choice of a working set: a few of the active variables, which are optimised with the others held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "svm/smo_state.hpp"

namespace fastpu::detail {

class WorkingSet {
 public:
  // Chooses at most `size` of the active variables: up to `n_free` free ones, and then those that violate the
  // optimality conditions most, on both sides of every group that is not optimal within tol. gradient(k) is that of
  // active[k]. Returns places in `active`, in ascending order.
  template <class Gradient>
  const std::vector<index_t>& choose(SmoState& state, const std::vector<index_t>& active, index_t size, index_t n_free,
                                     double tol, Gradient&& gradient) {
    const auto n_active = static_cast<index_t>(active.size());
    chosen_.clear();
    is_chosen_.assign(active.size(), 0);
    candidates_.clear();
    for (index_t k = 0; n_free > 0 && k < n_active; ++k) {
      const index_t i = active[at(k)];
      if (!state.may_grow(i) || !state.may_shrink(i)) continue;
      const Window& window = state.window(state.group(i));
      candidates_.emplace_back(-std::max(window.low_max - gradient(k), gradient(k) - window.up_min), k);
    }
    take(n_free);
    const index_t room = size - static_cast<index_t>(chosen_.size());
    index_t n_violated = 0;
    for (int g = 0; g < state.n_groups(); ++g) n_violated += state.window(g).violation() > tol ? 1 : 0;
    for (int g = 0; g < state.n_groups(); ++g) {
      const Window window = state.window(g);
      if (!(window.violation() > tol)) continue;
      for (const bool upwards : {true, false}) {
        candidates_.clear();
        for (index_t k = 0; k < n_active; ++k) {
          const index_t i = active[at(k)];
          if (is_chosen_[at(k)] != 0 || state.group(i) != g) continue;
          if (upwards && state.may_grow(i) && gradient(k) < window.low_max) candidates_.emplace_back(gradient(k), k);
          if (!upwards && state.may_shrink(i) && gradient(k) > window.up_min) {
            candidates_.emplace_back(-gradient(k), k);
          }
        }
        take(std::max<index_t>(1, room / (2 * n_violated)));
      }
    }
    std::ranges::sort(chosen_);
    return chosen_;
  }

 private:
  // Takes the smallest n of the candidates.
  void take(index_t n) {
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(std::min(at(n), candidates_.size()));
    std::nth_element(candidates_.begin(), end, candidates_.end());
    for (auto it = candidates_.begin(); it != end; ++it) {
      is_chosen_[at(it->second)] = 1;
      chosen_.push_back(it->second);
    }
  }

  std::vector<index_t> chosen_;
  std::vector<char> is_chosen_;
  std::vector<std::pair<double, index_t>> candidates_;
};

}  // namespace fastpu::detail
