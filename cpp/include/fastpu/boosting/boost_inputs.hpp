// What boosting is given: the options of its loss, the rows to learn from, the rows to be judged by.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

enum class BoostStep : std::uint8_t {
  jensen,       // the minimiser of an upper bound of the objective along the stump, in closed form
  line_search,  // the minimiser of the objective itself along the stump (loss "auc" only)
};

// The loss by its name, and its parameters. Each loss states its formula in a file of its own
// (src/boosting/*_loss.cpp).
struct BoostLossOptions {
  std::string name = "auc";
  double gamma = 0.5;  // in [0, 1]: weight of the labelled pairs ("auc"), of U against N ("ada")
  double rho = 0.01;   // in [0, 1): L1 penalty on alpha ("auc")
  BoostStep step = BoostStep::jensen;
};

// What is learned from. All pointers are to n_rows values.
struct BoostTrainingSet {
  const BinnedFeatures* features = nullptr;
  const FeatureOrder* order = nullptr;  // searches every boundary of the features in it; null: cuts only
  std::function<double(index_t row, index_t feature)> value;  // of the matrix behind `order`
  const std::int8_t* labels = nullptr;                        // +1, 0, -1
  const double* sample_weight = nullptr;                      // or null for 1
  const std::uint8_t* categorical = nullptr;  // for every feature whether it is categorical (binned as such), or null
};

using EvalFeatures =
    std::variant<DenseView<float>, DenseView<double>, CsrView<float>, CsrView<double>, const BinnedFeatures*>;

// Judged by the AUC after each round: +1 against -1, or against 0 where there is no -1.
struct BoostEvalSet {
  EvalFeatures features;  // binned features need the cuts of the training features, categorical ones a dense matrix
  const std::int8_t* labels = nullptr;
  const double* sample_weight = nullptr;  // or null for 1; rows of weight 0 are not judged
};

}  // namespace fastpu
