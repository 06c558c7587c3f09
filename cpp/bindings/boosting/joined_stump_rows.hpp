// The rows that stumps are boosted on, where each member of a fit holds some of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "boosting/together.hpp"
#include "fastpu/boosting/stump_rows.hpp"

namespace fastpu {

// Where some rows of a member are: from `first` on they are those from `number` on among all rows.
struct PlaceOfRows {
  index_t first = 0;
  index_t number = 0;
};

// Answers with the sums over all members. Each of them calls stump_boost on rows like these, and makes the same stumps.
class JoinedStumpRows final : public StumpRows {
 public:
  // `own` are the rows of this member, in their places, or null for none. `features`, of which the cuts are read, must
  // outlive this.
  JoinedStumpRows(std::unique_ptr<StumpRows> own, std::vector<PlaceOfRows> places, const BinnedFeatures& features,
                  Together all)
      : own_(std::move(own)),
        places_(std::move(places)),
        layout_(features),
        bytes_of_codes_(at(features.row_stride) * (features.width == CodeWidth::one_byte ? 1 : 2)),
        all_(std::move(all)) {}

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
    const auto n_bins = at(layout_.size);
    histogram_.assign(n_bins + kSlots, 0);  // the sums stand behind the bins
    std::int64_t* sums = histogram_.data() + n_bins;
    if (own_) {
      const AddedRows added = own_->add(change);
      for (const std::int64_t* from : added.histograms) {
        for (std::size_t i = 0; i < n_bins; ++i) histogram_[i] += from[i];
      }
      clear(added);
      const auto& [unlabelled, labelled] = added.sums;
      std::ranges::copy(std::array{unlabelled.minus, unlabelled.plus, labelled.minus, labelled.plus}, sums);
    }
    all_.add(histogram_);
    return {{histogram_.data()}, {PairSums{sums[0], sums[1]}, PairSums{sums[2], sums[3]}}};
  }

  std::array<ListedRows, 2> list(const StumpChange& change) override {
    const std::vector<std::uint8_t> rows = all_.join(own_ ? own_records(change) : std::vector<std::uint8_t>());
    const std::size_t size = sizeof(Record) + bytes_of_codes_;
    std::vector<std::pair<Record, const std::uint8_t*>> listed(rows.size() / size);
    for (std::size_t k = 0; k < listed.size(); ++k) {
      std::memcpy(&listed[k].first, rows.data() + k * size, sizeof(Record));
      listed[k].second = rows.data() + k * size + sizeof(Record);
    }
    std::ranges::sort(listed, {}, [](const auto& row) { return row.first.number; });
    codes_.clear();
    states_.clear();
    for (auto& numbers : numbers_) numbers.clear();
    for (const auto& [row, codes] : listed) {
      numbers_[at(row.kind)].push_back(static_cast<std::uint32_t>(states_.size()));
      states_.push_back({row.minus, row.plus, 0, 0});
      codes_.insert(codes_.end(), codes, codes + bytes_of_codes_);
    }
    const auto of_kind = [&](const std::vector<std::uint32_t>& numbers) {
      return ListedRows{codes_.data(), states_.data(), numbers.data(), static_cast<index_t>(numbers.size())};
    };
    return {of_kind(numbers_[0]), of_kind(numbers_[1])};
  }

 private:
  // What the members tell of a row that is listed, before its codes.
  struct Record {
    index_t number = 0;  // among all rows
    index_t kind = 0;    // whether it is labelled
    double minus = 0;
    double plus = 0;
  };

  index_t number_of(std::uint32_t row) const {
    const auto after = std::ranges::upper_bound(places_, index_t{row}, {}, &PlaceOfRows::first);
    return (after - 1)->number + row - (after - 1)->first;
  }

  // The records of the own rows that a change is made to, and their codes. Then the change is made.
  std::vector<std::uint8_t> own_records(const StumpChange& change) {
    std::vector<std::uint8_t> records;
    const std::array<ListedRows, 2> listed = own_->list(change);
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const ListedRows& rows = listed[kind];
      for (index_t i = 0; i < rows.n; ++i) {
        const std::uint32_t row = rows.numbers[i];
        const Record record{number_of(row), static_cast<index_t>(kind), rows.states[row].minus, rows.states[row].plus};
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
        records.insert(records.end(), bytes, bytes + sizeof(Record));
        const std::uint8_t* codes = rows.codes + row * bytes_of_codes_;
        records.insert(records.end(), codes, codes + bytes_of_codes_);
      }
    }
    clear(own_->add(change));
    return records;
  }

  void clear(const AddedRows& added) const {
    for (std::int64_t* histogram : added.histograms) std::fill_n(histogram, layout_.size, std::int64_t{0});
  }

  std::unique_ptr<StumpRows> own_;
  std::vector<PlaceOfRows> places_;
  StumpHistogram layout_;
  std::size_t bytes_of_codes_;
  Together all_;
  std::vector<std::int64_t> histogram_;
  std::vector<std::uint8_t> codes_;  // of the rows that were listed last
  std::vector<RowState> states_;
  std::array<std::vector<std::uint32_t>, 2> numbers_;
};

}  // namespace fastpu
