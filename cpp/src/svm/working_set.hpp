// The choice of a working set: a few of the active variables, which are optimised with the others fixed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "svm/smo_state.hpp"

namespace fastpu::detail {

// The tolerance within which a working set is solved. It is larger than that of the fit unless the set is all of the
// active variables, since the others move next and change its gradients.
inline double working_set_tol(bool is_all, double violation, double tol) {
  return is_all ? 0.5 * tol : std::max(0.1 * violation, 0.5 * tol);
}

class WorkingSet {
 public:
  // Chooses at most `size` of the active variables: up to `n_free` free ones, and then those that violate the
  // optimality conditions most, on both sides of every group that is not optimal within tol. The gradient is that of
  // all variables. Returns the chosen ones in the order of `active`.
  const std::vector<index_t>& choose(SmoState& state, const std::vector<index_t>& active,
                                     const std::vector<double>& gradient, index_t size, index_t n_free, double tol) {
    const auto n_active = static_cast<index_t>(active.size());
    chosen_.clear();
    is_chosen_.assign(active.size(), 0);
    candidates_.clear();
    for (index_t k = 0; n_free > 0 && k < n_active; ++k) {
      const index_t i = active[at(k)];
      if (!state.may_grow(i) || !state.may_shrink(i)) continue;
      const Window& window = state.window(state.group(i));
      const double g = gradient[at(i)];
      candidates_.emplace_back(-std::max(window.low_max - g, g - window.up_min), k);
    }
    take(n_free);
    const index_t room = size - static_cast<index_t>(chosen_.size());
    index_t n_violated = 0;
    for (int group = 0; group < state.n_groups(); ++group) n_violated += state.window(group).violation() > tol ? 1 : 0;
    for (int group = 0; group < state.n_groups(); ++group) {
      const Window window = state.window(group);
      if (!(window.violation() > tol)) continue;
      for (const bool upwards : {true, false}) {
        candidates_.clear();
        for (index_t k = 0; k < n_active; ++k) {
          const index_t i = active[at(k)];
          if (is_chosen_[at(k)] != 0 || state.group(i) != group) continue;
          const double g = gradient[at(i)];
          if (upwards && state.may_grow(i) && g < window.low_max) candidates_.emplace_back(g, k);
          if (!upwards && state.may_shrink(i) && g > window.up_min) candidates_.emplace_back(-g, k);
        }
        take(std::max<index_t>(1, room / (2 * n_violated)));
      }
    }
    std::ranges::sort(chosen_);
    for (index_t& k : chosen_) k = active[at(k)];
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

  std::vector<index_t> chosen_;  // places in `active` until all are chosen, then variables
  std::vector<char> is_chosen_;
  std::vector<std::pair<double, index_t>> candidates_;
};

}  // namespace fastpu::detail
