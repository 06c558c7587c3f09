// What boosting of stumps is given: the options of its loss, the training set and the evaluation set. Boosted trees
// take the same evaluation set.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

enum class BoostStep : std::uint8_t {
  jensen,       // the minimiser of an upper bound of the objective along the stump, in closed form
  line_search,  // the minimiser of the objective itself along the stump (loss auc only)
};

struct BoostLossOptions {
  std::string loss = "auc";  // the name of one of stump_losses()
  double gamma = 0.5;        // in [0, 1]: weight of the labelled pairs ("auc"), of U against N ("ada")
  double rho = 0.01;         // in [0, 1): L1 penalty on alpha, for a loss that only ranks
  BoostStep step = BoostStep::jensen;
};

// What callers know of a loss of stumps. The formulas of the losses are in src/boosting/boost_loss.hpp.
struct StumpLossInfo {
  const char* name;
  double low;       // the vote of a stump where it does not fire
  bool only_ranks;  // adding a constant to all scores changes nothing; such a loss has the penalty rho
};

// All losses, in the order of their list in src/boosting/boost_loss.cpp.
std::vector<StumpLossInfo> stump_losses();

// Pointers are to one value a row, but for that of `categorical`.
struct BoostTrainingSet {
  const BinnedFeatures* features = nullptr;
  const FeatureOrder* order = nullptr;  // features that are searched at every boundary; null: all at their cuts alone
  std::function<double(index_t row, index_t feature)> value;  // an entry of the matrix that `order` was made of
  const std::int8_t* labels = nullptr;                        // +1, 0, -1
  const double* sample_weight = nullptr;                      // or null for 1
  const std::uint8_t* categorical = nullptr;  // for every feature whether it is categorical (binned as such), or null
};

using EvalFeatures =
    std::variant<DenseView<float>, DenseView<double>, CsrView<float>, CsrView<double>, const BinnedFeatures*>;

// Returns body(x) for the matrix or the BinnedFeatures x.
template <class Body>
auto visit_features(const EvalFeatures& features, Body&& body) {
  return std::visit(
      [&](const auto& x) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(x)>>) {
          return body(*x);
        } else {
          return body(x);
        }
      },
      features);
}

// Rows whose AUC is computed after each round, of +1 against -1, or against 0 where there is no -1.
struct BoostEvalSet {
  EvalFeatures features;  // binned features must have the cuts of the training features, categorical ones be dense
  const std::int8_t* labels = nullptr;
  const double* sample_weight = nullptr;  // or null for 1; rows of weight 0 do not count
};

}  // namespace fastpu
