// The losses that trees are boosted for, in one list: boosted trees, objectives and the tests take them from here.
#pragma once

#include "boosting/pnu_auc_loss.hpp"
#include "boosting/softplus_losses.hpp"

namespace fastpu::detail {

template <class... Losses>
struct LossList {};

using TreeLosses = LossList<PnuAucLoss,    // log of the AUC's exponential risk
                            LogisticLoss,  // logistic loss of P against U
                            UpuLoss>;      // unbiased risk of a classifier, with a prior

}  // namespace fastpu::detail
