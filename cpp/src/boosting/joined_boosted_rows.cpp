// The rows that trees are boosted on, where each member of a fit holds some of them.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "boosting/common_divisor.hpp"
#include "fastpu/boosting/boosted_rows.hpp"

namespace fastpu {

namespace {

// Answers with the sums over all members.
class JoinedBoostedRows final : public BoostedRows {
 public:
  JoinedBoostedRows(std::unique_ptr<BoostedRows> own, const BinnedFeatures& features, MemberExchange& exchange)
      : own_(std::move(own)), features_(features), exchange_(exchange) {}

  BoostedRowCounts counts() override {
    BoostedRowCounts sum;
    std::vector<BoostedRowCounts> own;
    if (own_) own.push_back(own_->counts());
    for (const BoostedRowCounts& of_member : exchange_.join_records(own)) {
      sum.n_rows += of_member.n_rows;
      sum.n_unlabelled += of_member.n_unlabelled;
      sum.weight += of_member.weight;
      sum.unit = detail::common_divisor(sum.unit, of_member.unit);
    }
    return sum;
  }

  void draw(std::uint64_t seed, index_t n) override {
    if (own_) own_->draw(seed, n);
  }

  std::vector<index_t> count_entries(bool of_drawn, const CountUnit& unit) override {
    std::vector<index_t> counts(at(features_.n_features));
    if (own_) counts = own_->count_entries(of_drawn, unit);
    exchange_.add(counts);
    return counts;
  }

  TreeLossTops tops(bool of_drawn) override {
    TreeLossTops tops;
    if (own_) tops = own_->tops(of_drawn);
    exchange_.take_largest(tops.values);
    return tops;
  }

  TreeLossSums sums(bool of_drawn, const TreeLossTops& tops) override {
    TreeLossSums sums;
    if (own_) sums = own_->sums(of_drawn, tops);
    exchange_.add(sums.values);
    return sums;
  }

  TreeRoot start(const TreeStart& tree, std::uint64_t* histogram) override {
    halvings_ = tree.halvings;
    const Words words = cleared(histogram);
    TreeRoot root;
    if (own_) root = own_->start(tree, histogram);
    add_words({&root.n_rows, 1}, {Words(&root.sum, 1), words});
    return root;
  }

  SplitRows split(std::uint32_t node, std::uint32_t left, const NodeSplit& split, std::uint64_t* histogram) override {
    const Words words = cleared(histogram);
    SplitRows made;
    if (own_) made = own_->split(node, left, split, histogram);
    index_t counts[] = {made.counts.left, made.counts.right, made.n_left, made.n_right};
    add_words(counts, {words});
    return {{counts[0], counts[1]}, counts[2], counts[3], true};
  }

  void set_histogram(std::uint32_t node, std::uint64_t* histogram) override {
    const Words words = cleared(histogram);
    if (own_) own_->set_histogram(node, histogram);
    add_words({}, {words});
  }

  SideCounts count_sides(std::uint32_t node, const NodeSplit& split) override {
    SideCounts sides;
    if (own_) sides = own_->count_sides(node, split);
    index_t counts[] = {sides.left, sides.right};
    exchange_.add(counts);
    return {counts[0], counts[1]};
  }

  void count_codes(std::uint32_t node, std::uint32_t feature, std::vector<index_t>& counts) override {
    counts.assign(at(features_.n_bins(feature)), 0);
    if (own_) own_->count_codes(node, feature, counts);
    exchange_.add(counts);
  }

  std::vector<LeafSums> leaf_sums(const std::vector<std::uint32_t>& leaves) override {
    std::vector<LeafSums> sums(leaves.size());
    if (own_) sums = own_->leaf_sums(leaves);
    std::vector<std::int64_t> numbers;
    for (const LeafSums& of_leaf : sums) numbers.insert(numbers.end(), {of_leaf.g, of_leaf.h});
    exchange_.add(numbers);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = {numbers[2 * k], numbers[2 * k + 1]};
    return sums;
  }

  void add(const std::vector<std::uint32_t>& leaves, const std::vector<double>& values) override {
    if (own_) own_->add(leaves, values);
  }

 private:
  using Words = std::span<std::uint64_t>;

  Words cleared(std::uint64_t* histogram) const {
    if (histogram == nullptr) return {};
    const Words words(histogram, at(HistogramLayout(features_).size()));
    std::ranges::fill(words, std::uint64_t{0});
    return words;
  }

  // Adds up counts and words in one call. Where all members together have more rows than a word can sum, the sums of g
  // and of h cross apart, and are halved so many times before they are words again.
  void add_words(std::span<index_t> counts, std::initializer_list<Words> words) {
    std::vector<std::int64_t> numbers(counts.begin(), counts.end());
    for (const Words own : words) {
      for (const std::uint64_t word : own) {
        numbers.push_back(halvings_ == 0 ? std::bit_cast<std::int64_t>(word) : static_cast<std::int32_t>(word >> 32U));
        if (halvings_ > 0) numbers.push_back(static_cast<std::int64_t>(word & 0xffffffffU));
      }
    }
    exchange_.add(numbers);
    const std::int64_t* from = numbers.data();
    for (index_t& count : counts) count = *from++;
    for (const Words own : words) {
      for (std::uint64_t& word : own) {
        word = static_cast<std::uint64_t>(*from++ >> halvings_);
        if (halvings_ > 0) word = (word << 32U) | static_cast<std::uint64_t>(*from++ >> halvings_);
      }
    }
  }

  std::unique_ptr<BoostedRows> own_;
  const BinnedFeatures& features_;
  MemberExchange& exchange_;
  int halvings_ = 0;  // of the tree
};

}  // namespace

std::unique_ptr<BoostedRows> join_boosted_rows(std::unique_ptr<BoostedRows> own, const BinnedFeatures& features,
                                               MemberExchange& exchange) {
  return std::make_unique<JoinedBoostedRows>(std::move(own), features, exchange);
}

}  // namespace fastpu
