// Boosted stumps of members that each hold some of the rows: the bits of one holder of all rows.
#include <barrier>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "boosting_data.hpp"
#include "check.hpp"
#include "fastpu/boosting/stump_boost.hpp"

namespace {

using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::BoostTrainingSet;
using fastpu::index_t;
using fastpu::StumpBoostOptions;
using fastpu::StumpBoostResult;
using fastpu::Team;

// Where members in threads of one process put their bytes together.
class Table {
 public:
  explicit Table(std::size_t n_members) : bytes_(n_members), all_wait_(static_cast<std::ptrdiff_t>(n_members)) {}

  // Returns the bytes of all members.
  std::vector<std::string> put(std::size_t member, std::span<const std::byte> own) {
    bytes_[member].assign(reinterpret_cast<const char*>(own.data()), own.size());
    all_wait_.arrive_and_wait();
    std::vector<std::string> all = bytes_;
    all_wait_.arrive_and_wait();
    return all;
  }

 private:
  std::vector<std::string> bytes_;
  std::barrier<> all_wait_;
};

class TableExchange final : public fastpu::MemberExchange {
 public:
  TableExchange(Table& table, std::size_t member) : table_(table), member_(member) {}

  void add(std::span<std::int64_t> numbers) override {
    merge(numbers, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void take_largest(std::span<double> numbers) override {
    merge(numbers, [](double a, double b) { return a < b ? b : a; });
  }
  std::string join(std::span<const std::byte> bytes) override {
    std::string joined;
    for (const std::string& of_member : table_.put(member_, bytes)) joined += of_member;
    return joined;
  }

 private:
  template <class Number, class Merge>
  void merge(std::span<Number> numbers, Merge&& of_two) {
    const std::vector<std::string> all = table_.put(member_, std::as_bytes(numbers));
    std::memcpy(numbers.data(), all[0].data(), numbers.size_bytes());
    for (std::size_t k = 1; k < all.size(); ++k) {
      CHECK(all[k].size() == numbers.size_bytes());  // the members are at the same call
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        Number other;
        std::memcpy(&other, all[k].data() + i * sizeof(Number), sizeof other);
        numbers[i] = of_two(numbers[i], other);
      }
    }
  }

  Table& table_;
  std::size_t member_;
};

bool same_stumps(const StumpBoostResult& a, const StumpBoostResult& b) {
  return a.features == b.features && a.thresholds == b.thresholds && a.polarity == b.polarity && a.alphas == b.alphas &&
         a.deltas == b.deltas && a.z == b.z && a.objective == b.objective && a.status == b.status;
}

}  // namespace

CASE("members in threads make the stumps of one holder of all rows, bit by bit") {
  const BoostingData data = boosting_data(700, 4, 11);
  Team team(2);
  for (const bool weighted : {false, true}) {
    BinOptions bins;
    bins.max_bins = 30;
    bins.sample_weight = weighted ? data.weight.data() : nullptr;
    const BinnedFeatures all = bin_features(data.dense(), bins, team);
    const double* const weight = weighted ? data.weight.data() : nullptr;
    BoostTrainingSet whole;
    whole.features = &all;
    whole.labels = data.y.data();
    whole.sample_weight = weight;
    StumpBoostOptions options;
    options.n_rounds = 60;
    const StumpBoostResult expected = stump_boost(whole, nullptr, options, {}, team);
    CHECK(expected.features.size() == 60);

    // Two members hold rows, and the third one follows them without any.
    constexpr index_t kFirst[] = {0, 250, 700};
    std::vector<index_t> rows(static_cast<std::size_t>(data.n));
    std::iota(rows.begin(), rows.end(), index_t{0});
    Table table(3);
    std::vector<StumpBoostResult> found(3);
    std::vector<std::thread> members;
    members.reserve(3);
    for (std::size_t k = 0; k < 3; ++k) {
      members.emplace_back([&, k] {
        Team own_team(1);
        TableExchange exchange(table, k);
        const index_t first = k < 2 ? kFirst[k] : 0;
        const index_t n = k < 2 ? kFirst[k + 1] - first : 1;
        const BinnedFeatures own_features = take_rows(all, rows.data() + first, n, own_team);
        BoostTrainingSet own;
        own.features = &own_features;
        if (k < 2) {
          own.labels = data.y.data() + first;
          own.sample_weight = weight == nullptr ? nullptr : weight + first;
        }
        found[k] = stump_boost_as_member(own, exchange, nullptr, options, {}, own_team);
      });
    }
    for (std::thread& member : members) member.join();
    for (const StumpBoostResult& of_member : found) CHECK(same_stumps(of_member, expected));
  }
}
