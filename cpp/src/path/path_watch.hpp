// Watches the rows off the margin that may meet it soon. A path has many breakpoints, separated by small steps; between
// two passes over all rows only the watched rows are followed, and a bound says how long the others cannot reach the
// margin.
//
// Let the last pass be at lam_r, with slopes u_r and d0_r of beta = y a and a0. Since then the score of a row x has
// changed by what these slopes predict, plus <e, phi(x)> + e0, where e and e0 are the deviations of beta and a0 from
// their prediction. That term is 0 for rows that have stayed on the margin, among them some anchors with centre c, so
// it is at most |e| |phi(x) - c| (since sum e = 0). |e|^2 depends only on the few rows that have come to the margin or
// left it.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"
#include "path/elbow.hpp"
#include "path/path_rows.hpp"

namespace fastpu::detail {

// A point of the path and the direction from there, with the scores and speeds of all rows or of the watched ones.
struct PathMoment {
  double lam;
  double a0;
  const double* beta;   // y a
  const double* score;  // h
  const double* speed;  // v
};

class PathWatch {
 public:
  PathWatch(PathRows& rows, const PathPoint& point);

  // Returns whether only some rows are watched.
  bool is_partial() const { return is_partial_; }
  void end() { is_partial_ = false; }

  // Starts to watch from a moment with the scores and speeds of all rows; `side` is that of PathSlacks, `step` the
  // length of the next step. Returns false if following all rows is faster. Otherwise far() lists the rows that are not
  // watched.
  bool start(const PathMoment& now, const Elbow& elbow, const std::vector<double>& side,
             const std::vector<index_t>& weak, double step, double tolerance);
  const std::vector<index_t>& far() const { return far_; }
  const std::vector<double>& first_scores() const { return score_; }
  const std::vector<double>& first_beta() const { return beta_; }

  // Records the rows that come to the margin or leave it.
  void note(const Elbow& elbow, const std::vector<index_t>& left);

  // Computes speed[i] = K u of the watched rows, which do not include the moving ones.
  void find_speed(const Elbow& elbow, double* speed);

  // Returns whether no other row can have met the margin at the end of a step.
  bool covers(const PathMoment& now, const Elbow& elbow, double step) const;
  // Chooses the size of the next watch by how the last one ended.
  void learn(double step_length);

 private:
  void choose_anchors(const Elbow& elbow);
  index_t new_slot(index_t i);
  void watch_rows(const std::vector<index_t>& near, const Elbow& elbow);
  void pack(const std::vector<index_t>& fresh);
  double* row_of(index_t i);

  PathRows& rows_;
  const PathPoint& point_;
  const SvmKernels* loops_;
  bool is_partial_ = false;
  double share_ = 0.25;  // the share of the rows off the margin to watch
  index_t n_steps_ = 0;  // since the watch started
  double mean_step_ = 0;

  std::vector<index_t> watched_;
  std::vector<index_t> place_;  // of each row among those, -1 if it is not watched
  std::vector<index_t> far_;
  index_t capacity_ = 0;                   // how many rows there is room for in pack_
  std::vector<std::vector<double>> pack_;  // kernel values of moving rows with the watched rows
  std::vector<index_t> slot_;              // the place of each row in pack_, or -1
  std::vector<index_t> free_slots_;
  std::vector<index_t> packed_;  // rows with a slot
  bool is_full_ = false;         // whether there is no room for another watched row

  std::vector<index_t> anchors_;
  double lam_ = 0;
  double a0_ = 0;
  double offset_slope_ = 0;
  std::vector<double> beta_;
  std::vector<double> score_;
  std::vector<double> speed_;
  std::vector<double> slope_;  // u, which is 0 for rows that did not move
  std::vector<index_t> changed_;
  std::vector<char> is_changed_;
  double reach_ = 0;    // the largest |e| for which the bound holds
  double horizon_ = 0;  // the longest change of lam for which the bound holds
  double largest_ = 0;  // score
  std::vector<double> ratio_;
  std::vector<double> sums_;
  std::vector<const double*> pointers_;
};

}  // namespace fastpu::detail
