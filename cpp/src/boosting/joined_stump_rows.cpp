// The rows that stumps are boosted on, where each member of a fit holds some of them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fastpu/boosting/stump_rows.hpp"

namespace fastpu {

namespace {

// Answers with the sums over all members.
class JoinedStumpRows final : public StumpRows {
 public:
  JoinedStumpRows(std::unique_ptr<StumpRows> own, const BinnedFeatures& features, MemberExchange& exchange)
      : own_(std::move(own)), n_numbers_(at(StumpHistogram(features).size)), exchange_(exchange) {}

  StumpGroups groups() override {
    StumpGroups sum;
    std::vector<StumpGroups> own;
    if (own_) own.push_back(own_->groups());
    for (const StumpGroups& of_member : exchange_.join_records(own)) {
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
    exchange_.add({&n, 1});
    return n;
  }

  PerSlot tops() override {
    PerSlot tops;
    tops.fill(-kInfinity);
    if (own_) tops = own_->tops();
    exchange_.take_largest(tops);
    return tops;
  }

  WeightSums weigh(const PerSlot& tops) override {
    WeightSums sums;
    if (own_) sums = own_->weigh(tops);
    exchange_.add(sums.first);
    exchange_.add(sums.second);
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
    exchange_.add(histogram_);
    return {{histogram_.data()}, {PairSums{sums[0], sums[1]}, PairSums{sums[2], sums[3]}}};
  }

 private:
  std::unique_ptr<StumpRows> own_;
  std::size_t n_numbers_;  // of a histogram
  MemberExchange& exchange_;
  std::vector<std::int64_t> histogram_;
};

}  // namespace

std::unique_ptr<StumpRows> join_stump_rows(std::unique_ptr<StumpRows> own, const BinnedFeatures& features,
                                           MemberExchange& exchange) {
  return std::make_unique<JoinedStumpRows>(std::move(own), features, exchange);
}

}  // namespace fastpu
