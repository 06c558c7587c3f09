// The walk along an SVM path: where it stands, and the steps from one breakpoint to the next. svm_path.cpp makes the
// steps; path_polish.cpp corrects what rounding does to each point, and checks that the point is optimal.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/path/path_problem.hpp"
#include "linalg/path_kernels.hpp"
#include "path/elbow.hpp"
#include "path/path_record.hpp"
#include "path/path_rows.hpp"
#include "path/path_watch.hpp"

namespace fastpu::detail {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kOnMargin = 1e-9;  // slack of a row on the margin, relative to lam

// One path, followed by run().
class PathWalk {
 public:
  PathWalk(KernelCache<double>& cache, const SvmPathProblem& problem, const SvmPathOptions& options,
           const PathCallback& callback, Team& team)
      : cache_(cache),
        problem_(problem),
        options_(options),
        callback_(callback),
        team_(team),
        loops_(path_kernels(options.isa)) {}

  SvmPathResult run();

 private:
  void find_start();
  bool find_first_breakpoint();
  bool take_step(Elbow& elbow);
  void cross_gap(const Elbow& elbow);
  void find_weak(const Elbow& elbow);
  void find_speed(Elbow& elbow);
  void look_at_all(const Elbow& elbow, bool with_speed);
  PathStep find_step(const Elbow& elbow, index_t& exit);
  bool choose_step(Elbow& elbow, double& step, index_t& exit);
  void move(Elbow& elbow, double step, index_t first_exit);
  void polish(Elbow& elbow);
  void recompute(bool with_reach);
  void add(const std::vector<index_t>& rows, const std::vector<double>& factors, const std::vector<double>& weights,
           std::vector<double>& sums);
  void put(const std::vector<index_t>& rows, std::vector<double>& change);
  void settle(Elbow& elbow);
  std::vector<double> weights_of_alpha() const;
  bool is_optimal() const;
  void repair(Elbow& elbow, std::vector<index_t>& changed);
  bool exchange(Elbow& elbow, index_t i);
  void put_at_bound(Elbow& elbow, index_t i, double way);
  double room_along(index_t i, double slope) const;
  void release(Elbow& elbow, index_t i);
  bool is_last_segment(const Elbow& elbow) const;
  double violation() const;
  void set_side(index_t i, bool moves);
  void note_knot(const std::vector<index_t>& changed);
  bool finish(PathStatus status) {
    result_.status = status;
    return false;
  }
  PathSlacks slacks() const { return {problem_.n, h_.data(), weight_.data(), side_.data()}; }
  double tolerance() const { return on_margin_ * lam_ + kRounding * reach(); }
  // A bound of the sizes of the terms whose sum is a score: its rounding error is relative to them.
  double reach() const {
    return rows_->is_linear() ? rows_->reach(w_.data()) : reach_ * std::min(1.0, sum_alpha_ / first_sum_);
  }

  KernelCache<double>& cache_;
  const SvmPathProblem& problem_;
  const SvmPathOptions& options_;
  const PathCallback& callback_;
  Team& team_;
  const PathKernels& loops_;
  SvmPathResult result_;
  PathRecord record_{result_};
  PathPoint point_;             // of the columns, as all that follows
  std::vector<double> beta_;    // y a
  std::vector<double> w_;       // X'(y a), where K is linear with few features
  std::vector<double> h_;       // K (y a)
  std::vector<double> v_;       // K u, u the slopes of y a
  std::vector<double> weight_;  // of PathSlacks
  std::vector<double> side_;
  std::vector<double> ones_;
  int n_unsettled_ = 0;  // breakpoints since y a was made to fit the weights
  int n_pauses_ = 0;     // breakpoints in a row where nothing happened
  PathRows* rows_ = nullptr;
  PathWatch* watch_ = nullptr;
  double norm_ = 0;  // (y a)'K(y a)
  double lam_ = 0;
  double a0_ = 0;
  double sum_alpha_ = 0;
  double first_sum_ = 0;  // no a is ever larger
  double reach_ = 0;      // max_i sum_j |K_ij| a_j at the start
  double box_ = 0;        // of rows without one: the largest a at the start
  double on_margin_ = kOnMargin;
  int n_no_steps_ = 0;
  bool speed_is_known_ = false;  // v belongs to the rows that move
  bool has_new_speed_ = false;   // it does, but has not been looked at
  double work_ = 0;              // of updates since h was computed
  double lam_of_scores_ = 0;     // where it was
  index_t most_events_ = 0;
  std::vector<index_t> weak_;    // on the margin, not moving
  std::vector<index_t> near_;    // room for a list
  std::vector<index_t> forced_;  // these too, whatever rounding says
};

}  // namespace fastpu::detail
