#include "tree/draw_bag.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/check_option.hpp"
#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu::detail {

namespace {

constexpr const char* kRowsOfGroup = "the rows of a group";
constexpr const char* kRowsOfBag = "the rows of a bag";

}  // namespace

void check_bag_options(const BagOptions& options) {
  check_at_least("repeats_pos", options.repeats_pos, 1);
  if (options.bag_unl.empty()) throw std::invalid_argument("bag_unl must have a number, got none");
  for (const index_t draws : options.bag_unl) check_at_least("bag_unl", draws, 1);
}

DrawnGroup::DrawnGroup(std::vector<std::uint32_t> rows, const double* sample_weight)
    : rows_(std::move(rows)), sample_weight_(sample_weight) {
  if (sample_weight == nullptr) return;
  std::erase_if(rows_, [&](std::uint32_t row) { return !(sample_weight[row] > 0); });
  if (rows_.empty()) return;
  const double first = sample_weight[rows_.front()];
  if (std::ranges::all_of(rows_, [&](std::uint32_t row) { return sample_weight[row] == first; })) return;
  weight_ = reserve_vector<double>(size(), kRowsOfGroup);
  cumulative_ = reserve_vector<double>(size(), kRowsOfGroup);
  double sum = 0;
  for (const std::uint32_t row : rows_) {
    sum += sample_weight[row];
    weight_.push_back(sample_weight[row]);
    cumulative_.push_back(sum);
  }
}

void DrawnGroup::draw_with_replacement(index_t n, Random& random, std::vector<std::uint32_t>& drawn) const {
  reserve_more(drawn, n, kRowsOfBag);
  if (weight_.empty()) {
    const auto n_rows = static_cast<std::uint32_t>(rows_.size());
    for (index_t i = 0; i < n; ++i) drawn.push_back(rows_[random.scaled(n_rows)]);
    return;
  }
  for (index_t i = 0; i < n; ++i) {
    const auto sum = std::ranges::upper_bound(cumulative_, random.unit() * cumulative_.back());
    drawn.push_back(rows_[std::min(static_cast<std::size_t>(sum - cumulative_.begin()), rows_.size() - 1)]);
  }
}

void DrawnGroup::draw_pos(index_t n, const BagOptions& options, Random& random,
                          std::vector<std::uint32_t>& drawn) const {
  const std::size_t first = drawn.size();
  draw_with_replacement(n, random, drawn);
  const index_t n_more = n * (options.repeats_pos - 1);
  reserve_more(drawn, n_more, kRowsOfBag);
  for (index_t i = 0; i < n_more; ++i) drawn.push_back(drawn[first + at(i)]);
}

void DrawnGroup::draw(index_t n, bool replaces, Random& random, std::vector<std::uint32_t>& places,
                      std::vector<std::uint32_t>& drawn) const {
  if (replaces) return draw_with_replacement(n, random, drawn);
  n = std::min(n, size());
  reserve_more(drawn, n, kRowsOfBag);
  if (places.empty()) {
    places = make_vector<std::uint32_t>(size(), kRowsOfGroup);
    std::iota(places.begin(), places.end(), 0U);
  }
  if (weight_.empty()) {
    auto other = make_vector<std::uint32_t>(n, kRowsOfBag);
    for (index_t i = 0; i < n; ++i) {
      other[at(i)] = static_cast<std::uint32_t>(i) + random.scaled(static_cast<std::uint32_t>(size() - i));
      std::swap(places[at(i)], places[other[at(i)]]);
      drawn.push_back(rows_[places[at(i)]]);
    }
    for (index_t i = n - 1; i >= 0; --i) std::swap(places[at(i)], places[other[at(i)]]);
    return;
  }
  auto keys = reserve_vector<std::pair<double, std::uint32_t>>(size(), kRowsOfGroup);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    keys.emplace_back(-std::log(1.0 - random.unit()) / weight_[i], static_cast<std::uint32_t>(i));
  }
  std::ranges::nth_element(keys, keys.begin() + n - 1);
  for (index_t i = 0; i < n; ++i) drawn.push_back(rows_[keys[at(i)].second]);
}

PuBags::PuBags(DrawnGroup positive, DrawnGroup unlabelled, const std::int32_t* clusters, index_t n_rows,
               index_t n_clusters)
    : positive_(std::move(positive)),
      unlabelled_(std::move(unlabelled)),
      clusters_(clusters),
      n_rows_(n_rows),
      n_clusters_(n_clusters) {
  if (clusters == nullptr) return;
  const index_t end = n_clusters > 0 ? n_clusters : n_rows;
  for (index_t i = 0; i < n_rows; ++i) {
    if (clusters[i] < 0 || clusters[i] >= end) {
      throw std::invalid_argument("clusters must be from 0 to " + std::to_string(end - 1) + ", got " +
                                  std::to_string(clusters[i]) + " for row " + std::to_string(i));
    }
    n_clusters_ = std::max<index_t>(n_clusters_, clusters[i] + 1);
  }
}

std::vector<bool> PuBags::draw_clusters(Random& random) const {
  std::vector<bool> is_drawn(at(n_clusters_));
  for (index_t i = 0; i < n_clusters_; ++i) is_drawn[random.scaled(static_cast<std::uint32_t>(n_clusters_))] = true;
  for (const DrawnGroup* group : {&positive_, &unlabelled_}) {
    const std::vector<std::uint32_t>& rows = group->rows();
    if (rows.empty()) continue;
    const std::uint32_t spare = rows[random.scaled(static_cast<std::uint32_t>(rows.size()))];
    const auto is_in = [&](std::uint32_t row) { return is_drawn[at(clusters_[row])]; };
    if (std::ranges::none_of(rows, is_in)) is_drawn[at(clusters_[spare])] = true;
  }
  return is_drawn;
}

index_t PuBags::draw(const BagOptions& options, index_t number, Random& random, std::vector<std::uint32_t>& places,
                     std::vector<std::uint32_t>& drawn) const {
  const auto n_before = static_cast<index_t>(drawn.size());
  const auto draw_from = [&](const DrawnGroup& positive, const DrawnGroup& unlabelled,
                             std::vector<std::uint32_t>& scratch) {
    if (positive.size() > 0) positive.draw_pos(n_positive(), options, random, drawn);
    const index_t n_pos = static_cast<index_t>(drawn.size()) - n_before;
    if (unlabelled.size() > 0) {
      unlabelled.draw(draws_of_bag(options, number), options.replace_unl, random, scratch, drawn);
    }
    return n_pos;
  };
  if (clusters_ == nullptr) return draw_from(positive_, unlabelled_, places);
  const std::vector<bool> is_drawn = draw_clusters(random);
  const auto is_in = [&](std::uint32_t row) { return is_drawn[at(clusters_[row])]; };
  std::vector<std::uint32_t> own_places;
  return draw_from(positive_.only(is_in), unlabelled_.only(is_in), own_places);
}

RowSet PuBags::in_bag(const std::vector<std::uint32_t>& drawn) const {
  RowSet rows(n_rows_);
  if (clusters_ == nullptr) {
    for (const std::uint32_t row : drawn) rows.add(row);
    return rows;
  }
  std::vector<bool> is_in(at(n_clusters_));
  for (const std::uint32_t row : drawn) is_in[at(clusters_[row])] = true;
  for (index_t i = 0; i < n_rows_; ++i) {
    if (is_in[at(clusters_[i])]) rows.add(static_cast<std::uint32_t>(i));
  }
  return rows;
}

void draw_places(index_t size, index_t n, Random& random, std::vector<std::uint32_t>& drawn) {
  n = std::min(n, size);
  std::unordered_map<std::uint32_t, std::uint32_t> swapped;  // what lies at the places that were swapped
  swapped.reserve(at(2 * n));
  const auto lies_at = [&](std::uint32_t place) {
    const auto entry = swapped.find(place);
    return entry == swapped.end() ? place : entry->second;
  };
  for (index_t i = 0; i < n; ++i) {
    const auto first = static_cast<std::uint32_t>(i);
    const std::uint32_t other = first + random.scaled(static_cast<std::uint32_t>(size - i));
    drawn.push_back(lies_at(other));
    swapped[other] = lies_at(first);
  }
}

}  // namespace fastpu::detail
