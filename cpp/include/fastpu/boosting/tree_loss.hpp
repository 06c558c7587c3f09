// The losses that trees are boosted for. F are the scores of the rows, l(z) = log(1 + e^-z), n is the sum of the
// weights of the rows that take part, and mean_G is the weighted mean over the rows of group G that take part:
//
//     pnu_auc   log R,  R = gamma A_P B_N + (1 - gamma)/2 (A_P B_U + A_U B_N),  A_G = mean_G e^-F,  B_G = mean_G e^F;
//               where a group is missing, the pair of the other two alone, with weight 1
//     logistic  mean_P l(F) + mean_U l(-F)
//     upu       prior mean_P (-F) + mean_U l(-F)
//
// g and h are n times the first and second derivatives by the F of each row, so that limits of sums of h mean the same
// for any number of rows. For pnu_auc, h is n times the second derivative of R, over R. So h >= 0 always.
//
// A loss is a function of a few sums over all rows, which several holders (machines, processes) may share. It is
// computed in three steps, each a pass over the rows of a holder:
//
//     tops    bounds of what is summed, so that nothing overflows; TreeLossTops::extend merges those of all holders
//     sums    relative to these tops, in whole numbers; TreeLossSums::add merges those of all holders
//     derive  g and h of the holder's own rows; objective() gives the loss without a pass
//
// Sums of whole numbers have the same bits in any order, so the result depends neither on the number of threads nor on
// how the rows are shared out. A row of weight 2 counts as two rows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fastpu/boosting/tree_loss_terms.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

// The rows of one holder. All pointers are to n_rows values that outlive the loss.
struct TreeLossRows {
  const std::int8_t* labels = nullptr;    // +1 (P), 0 (U), -1 (N, where the loss takes them)
  const double* sample_weight = nullptr;  // finite and >= 0, or null for 1
  index_t n_rows = 0;
};

// The scores of all rows of a holder.
struct TreeLossScores {
  const double* scores = nullptr;
  const std::uint8_t* takes_part = nullptr;  // 1 for the rows that take part, 0 for the others; null: all do
  const float* narrow = nullptr;             // the scores in single precision, read if `scores` is null
};

class TreeLoss {
 public:
  TreeLoss(const TreeLoss&) = delete;
  TreeLoss& operator=(const TreeLoss&) = delete;
  virtual ~TreeLoss() = default;

  // Throws std::invalid_argument for a score that is not finite.
  virtual TreeLossTops tops(const TreeLossScores& scores, Team& team) const = 0;
  virtual TreeLossSums sums(const TreeLossScores& scores, const TreeLossTops& tops, Team& team) const = 0;

  // These three throw std::invalid_argument if no row takes part of a group that the loss needs. The first two do not
  // depend on the rows of the holder.
  virtual double objective(const TreeLossTops& tops, const TreeLossSums& sums) const = 0;
  virtual TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& sums) const = 0;
  // Writes g and h of all rows, 0 for those that do not take part. Throws std::invalid_argument for a score that is not
  // finite.
  virtual void derive(const TreeLossScores& scores, const TreeLossTops& tops, const TreeLossSums& sums, double* g,
                      double* h, Team& team) const = 0;
  // A function that does so for n rows from number `first` on, as long as scores and loss live.
  using Derivatives = std::function<void(index_t first, index_t n, double* g, double* h)>;
  virtual Derivatives derivatives(const TreeLossScores& scores, const TreeLossTops& tops,
                                  const TreeLossSums& sums) const = 0;

  // All steps at once, if this holder has all rows: the g and h of tops, sums and derive, to the bit, in as few passes
  // over the rows as the loss needs.
  virtual void derive_alone(const TreeLossScores& scores, double* g, double* h, Team& team) const = 0;

 protected:
  TreeLoss() = default;
};

// All losses, in the order of their list in src/boosting/tree_losses.hpp.
std::vector<TreeLossInfo> tree_losses();
// Throws std::invalid_argument for an unknown name.
TreeLossInfo tree_loss_info(const std::string& name);

// Throws std::invalid_argument for an unknown name, a parameter out of range, and labels or weights that the loss does
// not take.
std::unique_ptr<TreeLoss> make_tree_loss(const TreeLossRows& rows, const TreeLossOptions& options, Team& team);

}  // namespace fastpu
