// The rows that stumps are boosted on, where each member of a fit holds some of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "boosting/together.hpp"
#include "fastpu/boosting/stump_rows.hpp"

namespace fastpu {

// Answers with the sums over all members. Each of them calls stump_boost on rows like these, and makes the same stumps.
class JoinedStumpRows final : public StumpRows {
 public:
  // `own` are the rows of this member, or null for none; `bring` is that of Together.
  JoinedStumpRows(std::unique_ptr<StumpRows> own, const BinnedFeatures& features, const py::object& bring)
      : own_(std::move(own)), n_numbers_(at(StumpHistogram(features).size)), all_(bring, own_ != nullptr) {}

  StumpGroups groups() override {
    StumpGroups sum;
    std::vector<StumpGroups> own;
    if (own_) own.push_back(own_->groups());
    for (const StumpGroups& of_member : all_.join(own)) {
      for (std::size_t g = 0; g < 3; ++g) sum.n_rows[g] += of_member.n_rows[g];
      sum.weight.positive += of_member.weight.positive;
      sum.weight.unlabelled += of_member.weight.unlabelled;
      sum.weight.negative += of_member.weight.negative;
    }
    return sum;
  }

  void start(bool use_unlabelled) override {
    if (own_) own_->start(use_unlabelled);
  }

  index_t count_above(const StumpBoundary& boundary) override {
    index_t n = own_ ? own_->count_above(boundary) : 0;
    all_.add({&n, 1});
    return n;
  }

  PerSlot tops() override {
    PerSlot tops;
    tops.fill(-kInfinity);
    if (own_) tops = own_->tops();
    all_.take_largest(tops);
    return tops;
  }

  WeightSums weigh(const PerSlot& tops) override {
    WeightSums sums;
    if (own_) sums = own_->weigh(tops);
    all_.add(sums.first);
    all_.add(sums.second);
    return sums;
  }

  AddedRows add(const StumpChange& change) override {
    histogram_.assign(n_numbers_ + kSlots, 0);  // the sums stand behind the bins
    std::int64_t* sums = histogram_.data() + n_numbers_;
    if (own_) {
      const AddedRows added = own_->add(change);
      for (std::int64_t* from : added.histograms) {
        for (std::size_t i = 0; i < n_numbers_; ++i) histogram_[i] += std::exchange(from[i], 0);
      }
      const auto& [unlabelled, labelled] = added.sums;
      std::ranges::copy(std::array{unlabelled.minus, unlabelled.plus, labelled.minus, labelled.plus}, sums);
    }
    all_.add(histogram_);
    return {{histogram_.data()}, {PairSums{sums[0], sums[1]}, PairSums{sums[2], sums[3]}}};
  }

 private:
  std::unique_ptr<StumpRows> own_;
  std::size_t n_numbers_;  // of a histogram
  Together all_;
  std::vector<std::int64_t> histogram_;
};

}  // namespace fastpu
