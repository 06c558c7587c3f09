// The walk along an SVM path: the present point, and the steps from one breakpoint to the next. svm_path.cpp makes the
// steps; path_polish.cpp corrects the rounding errors of each point and checks that it is optimal.
#pragma once

#include <algorithm>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/path/path_problem.hpp"
#include "linalg/vector_kernels.hpp"
#include "path/elbow.hpp"
#include "path/path_record.hpp"
#include "path/path_rows.hpp"
#include "path/path_watch.hpp"

namespace fastpu::detail {

inline constexpr double kOnMargin = 1e-9;  // a row with a smaller |slack|, relative to lam, is on the margin

// One path, followed by run(). `linear` is null, or holds the rows of few features whose products are the kernel's
// values.
class PathWalk {
 public:
  PathWalk(KernelCache<double>& cache, const DenseView<double>* linear, const SvmPathProblem& problem,
           const SvmPathOptions& options, const PathCallback& callback, Team& team)
      : cache_(cache),
        linear_(linear),
        problem_(problem),
        options_(options),
        callback_(callback),
        team_(team),
        loops_(vector_kernels(team.isa())) {}

  SvmPathResult run();

 private:
  // How far rows can move until a row meets a bound; no row does if the number is -1.
  struct FirstBound {
    double length = 1;
    index_t row = -1;
    bool is_cost = false;  // the bound is the row's cost, not 0
  };

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
  void set_alpha(index_t row, double value);
  void put(const std::vector<index_t>& rows, std::vector<double>& change);
  const std::vector<double>& weights_of_alpha();
  bool is_optimal(const PathCheck& check);
  FirstBound first_bound(const std::vector<index_t>& rows, const std::vector<double>& change) const;
  void put_at_bound(Elbow& elbow, const FirstBound& reached);
  double room_along(index_t i, double slope) const;
  void release(Elbow& elbow, index_t i);
  bool is_last_segment(const Elbow& elbow) const;
  void set_side(index_t i, bool moves);
  void note_knot(const std::vector<index_t>& changed);
  bool finish(PathStatus status) {
    result_.status = status;
    return false;
  }
  PathSlacks slacks() const { return {problem_.n, h_.data(), weight_.data(), side_.data()}; }
  // Compares the scores of all rows, which must be known, with the margin.
  PathCheck check_rows() const { return loops_.check(slacks(), point_.label.data(), loss_cost_.data(), a0_, lam_); }
  double tolerance() const { return on_margin_ * lam_ + kRounding * reach(); }
  // An upper bound of the sizes of the terms that make up a score; its rounding error is relative to them.
  double reach() const {
    return rows_->is_linear() ? rows_->reach(w_.data()) : reach_ * std::min(1.0, sum_alpha_ / first_sum_);
  }

  KernelCache<double>& cache_;
  const DenseView<double>* linear_;
  const SvmPathProblem& problem_;
  const SvmPathOptions& options_;
  const PathCallback& callback_;
  Team& team_;
  const VectorKernels& loops_;
  SvmPathResult result_;
  PathRecord record_{result_};
  PathPoint point_;             // like all arrays below, by the columns of the cache
  std::vector<double> beta_;    // y a
  std::vector<double> w_;       // X'(y a), where K is linear with few features
  std::vector<double> h_;       // K (y a)
  std::vector<double> v_;       // K u, u the slopes of y a
  std::vector<double> weight_;  // of PathSlacks
  std::vector<double> side_;
  std::vector<double> ones_;
  std::vector<double> loss_cost_;      // the cost of each row, 0 for a row without a limit
  std::vector<index_t> unlimited_;     // rows without a limit: their loss counts with a in place of the cost
  std::vector<double> alpha_weights_;  // X'(y a) of the y a that is kept beside it
  std::vector<double> weighed_beta_;
  std::vector<index_t> unweighed_;  // rows whose y a may differ from it
  int n_updates_ = 0;               // of alpha_weights_, since it was last summed over all rows
  int n_pauses_ = 0;                // successive pauses within one segment
  index_t n_eventless_ = 0;         // other steps that ended without an event
  PathRows* rows_ = nullptr;
  PathWatch* watch_ = nullptr;
  double norm_ = 0;  // (y a)'K(y a)
  double lam_ = 0;
  double a0_ = 0;
  double sum_alpha_ = 0;
  double first_sum_ = 0;  // the sum of a at the start, which no a exceeds
  double reach_ = 0;      // max_i sum_j |K_ij| a_j at the start
  double box_ = 0;        // stands for the cost of rows without one: the largest a at the start
  double on_margin_ = kOnMargin;
  int n_no_steps_ = 0;
  bool speed_is_known_ = false;  // whether v belongs to the present moving rows
  bool has_new_speed_ = false;   // whether look_at_all() has just computed v for them
  double work_ = 0;              // kernel rows added to h and v since h was computed anew
  double lam_of_scores_ = 0;     // the lam at which h was computed
  std::vector<index_t> weak_;    // rows on the margin that are not moving
  std::vector<index_t> near_;    // scratch space for a list of rows
  std::vector<index_t> forced_;  // rows that count as on the margin in spite of rounding
};

// Throws std::invalid_argument if a path has a number that is not finite: kernel values have overflowed.
void check_finite(const SvmPathResult& result);

}  // namespace fastpu::detail
