// The rows off the margin that may meet it soon. A path's breakpoints are many and small steps; between two looks at
// all rows only these are followed, and a bound says how long the others cannot come near.
//
// Since the last look, at lam_r, with slopes u_r and d0_r of beta = y a and a0, scores of a row x have moved by what
// the slopes of then foretell and by <e, phi(x)> + e0, e and e0 what beta and a0 have come to beside it. That is 0 for
// rows that have been on the margin all the time, among them some anchors with centre c, so it is at most |e| |phi(x) -
// c| (sum e = 0). |e|^2 needs the few rows alone that have come to the margin or left it.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"
#include "path/elbow.hpp"
#include "path/path_rows.hpp"

namespace fastpu::detail {

// A point of the path and the direction from there; scores and speeds of all rows, or of those that are followed.
struct PathMoment {
  double lam;
  double a0;
  const double* beta;   // y a
  const double* score;  // h
  const double* speed;  // v
};

class PathWatch {
 public:
  PathWatch(PathRows& rows, const PathPoint& point, Isa isa);

  // Whether only some rows are followed.
  bool is_partial() const { return is_partial_; }
  void end() { is_partial_ = false; }

  // Starts from a moment with the scores and speeds of all rows; `side` as in PathSlacks, `step` the one ahead. Returns
  // false if it is better to go on with all rows. Else far() are those that are not followed.
  bool start(const PathMoment& now, const Elbow& elbow, const std::vector<double>& side,
             const std::vector<index_t>& weak, double step, double tolerance);
  const std::vector<index_t>& far() const { return far_; }
  const std::vector<double>& first_scores() const { return score_; }
  const std::vector<double>& first_beta() const { return beta_; }

  // What changes at the margin.
  void note(const Elbow& elbow, const std::vector<index_t>& left);

  // speed[i] = K u of the rows that are followed; those that move are not among them.
  void find_speed(const Elbow& elbow, double* speed);

  // Whether no other row can have met the margin at the end of a step.
  bool covers(const PathMoment& now, const Elbow& elbow, double step) const;
  // How the last watch ended, to choose the size of the next.
  void learn(double step_length);

 private:
  void choose_anchors(const Elbow& elbow);
  index_t new_slot(index_t i);
  void fill_pack(const std::vector<index_t>& moving);
  double* row_of(index_t i);

  PathRows& rows_;
  const PathPoint& point_;
  const SvmKernels* loops_;
  bool is_partial_ = false;
  double share_ = 0.25;  // of the rows off the margin that are followed
  index_t n_steps_ = 0;  // since the start
  double mean_step_ = 0;

  std::vector<index_t> watched_;
  std::vector<index_t> place_;  // among those, -1 if there is none
  std::vector<index_t> far_;
  index_t capacity_ = 0;
  std::vector<std::vector<double>> pack_;  // kernel values of moving rows with those watched
  std::vector<index_t> slot_;              // of a moving row in it, -1
  std::vector<index_t> free_slots_;
  std::vector<index_t> packed_;  // rows with a slot
  bool is_full_ = false;         // no room for another watched row

  std::vector<index_t> anchors_;
  double lam_ = 0;
  double a0_ = 0;
  double offset_slope_ = 0;
  std::vector<double> beta_;
  std::vector<double> score_;
  std::vector<double> speed_;
  std::vector<double> slope_;  // u, 0 of rows that did not move
  std::vector<index_t> changed_;
  std::vector<char> is_changed_;
  double reach_ = 0;    // the largest |e| that is allowed
  double horizon_ = 0;  // the longest way
  double largest_ = 0;  // score
  std::vector<double> distance_;
  std::vector<double> ratio_;
  std::vector<double> sums_;
  std::vector<const double*> pointers_;
};

}  // namespace fastpu::detail
