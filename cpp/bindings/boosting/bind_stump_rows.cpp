#include "boosting/bind_stump_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/bind_isa.hpp"
#include "data/bind_binned_features.hpp"

namespace fastpu {

namespace {

// ---- What the driver and the workers send each other, as NumPy arrays ----

using NumbersOfChange = std::array<double, 14>;  // the fields of StumpChange::rows

py::tuple pack(const StumpChange& change) {
  const StumpBoundary& boundary = change.boundary;
  return py::make_tuple(boundary.feature, boundary.cut, boundary.by_categories, to_array(boundary.codes.words),
                        change.is_above, to_array(std::bit_cast<NumbersOfChange>(change.rows)));
}

// Copies an array of exactly as many numbers.
template <class T, std::size_t n>
void copy_numbers(const py::handle& array, const char* name, std::array<T, n>& numbers) {
  std::copy_n(view_1d<T>(array, name, static_cast<index_t>(n)), n, numbers.begin());
}

StumpChange unpack_change(const py::tuple& packed, const BinnedFeatures& features) {
  if (packed.size() != 6) throw py::value_error("a change must have 6 parts");
  StumpChange change;
  StumpBoundary& boundary = change.boundary;
  boundary.feature = packed[0].cast<index_t>();
  boundary.cut = packed[1].cast<index_t>();
  boundary.by_categories = packed[2].cast<bool>();
  if (boundary.feature >= features.n_features) {
    throw py::value_error("there is no feature " + std::to_string(boundary.feature));
  }
  if (boundary.feature >= 0 && (boundary.cut < 0 || boundary.cut >= features.n_bins(boundary.feature))) {
    throw py::value_error("there is no cut " + std::to_string(boundary.cut));
  }
  if (boundary.by_categories && (features.is_sparse() || features.n_bins(boundary.feature) > 256)) {
    throw py::value_error("feature " + std::to_string(boundary.feature) + " has no categories");
  }
  copy_numbers(packed[3], "codes", boundary.codes.words);
  change.is_above = packed[4].cast<bool>();
  NumbersOfChange numbers{};
  copy_numbers(packed[5], "numbers", numbers);
  change.rows = std::bit_cast<decltype(change.rows)>(numbers);
  return change;
}

PerSlot unpack_slots(const py::handle& array) {
  PerSlot tops{};
  copy_numbers(array, "tops", tops);
  return tops;
}

std::size_t bytes_of_row(const BinnedFeatures& features) {
  return static_cast<std::size_t>(features.row_stride) * (features.width == CodeWidth::one_byte ? 1 : 2);
}

// ---- The driver's side ----

class PythonStumpRows final : public StumpRows {
 public:
  PythonStumpRows(const py::object& rows, const BinnedFeatures& features)
      : rows_(rows), features_(features), layout_(features) {}

  StumpGroups groups() override {
    const py::gil_scoped_acquire gil;
    const auto answer = rows_.attr("groups")().cast<py::tuple>();
    StumpGroups groups;
    copy_numbers(answer[0], "counts", groups.n_rows);
    const double* weight = view_1d<double>(answer[1], "weights", 3);
    groups.weight = {weight[2], weight[1], weight[0]};
    return groups;
  }

  void start(bool use_unlabelled) override {
    const StumpGroups all = groups();
    n_active_ = all.n_rows[0] + (use_unlabelled ? all.n_rows[1] : 0) + all.n_rows[2];
    const py::gil_scoped_acquire gil;
    const py::object counts = rows_.attr("start")(use_unlabelled);
    const index_t* first = view_1d<index_t>(counts, "counts", features_.total_bins());
    bins_.assign(first, first + features_.total_bins());
  }

  // Answers from the numbers of rows in every bin, which start() has asked for.
  index_t count_above(const StumpBoundary& boundary) override {
    const index_t* counts = bins_.data() + features_.first_bin(boundary.feature);
    const index_t n_bins = features_.n_bins(boundary.feature);
    const bool has_zeros = features_.is_sparse();
    const index_t zero = has_zeros ? features_.zero_code[static_cast<std::size_t>(boundary.feature)] : 0;
    index_t n_above = 0;
    for (index_t b = 0; b < n_bins; ++b) {
      const bool is_above =
          boundary.by_categories ? boundary.codes.has(static_cast<std::uint32_t>(b)) : b > boundary.cut;
      if (!is_above) continue;
      n_above += has_zeros && b == zero ? n_active_ - std::accumulate(counts, counts + n_bins, index_t{0}) : counts[b];
    }
    return n_above;
  }

  PerSlot tops() override {
    const py::gil_scoped_acquire gil;
    return unpack_slots(rows_.attr("tops")());
  }

  WeightSums weigh(const PerSlot& tops) override {
    const py::gil_scoped_acquire gil;
    const py::object answer = rows_.attr("weigh")(to_array(tops));
    const std::int64_t* digits = view_1d<std::int64_t>(answer, "sums", 2 * kSlots);
    WeightSums sums;
    std::copy_n(digits, kSlots, sums.first.begin());
    std::copy_n(digits + kSlots, kSlots, sums.second.begin());
    return sums;
  }

  AddedRows add(const StumpChange& change) override {
    const py::gil_scoped_acquire gil;
    const auto answer = rows_.attr("add")(pack(change)).cast<py::tuple>();
    histogram_.resize(static_cast<std::size_t>(layout_.size));
    std::copy_n(view_1d<std::int64_t>(answer[0], "histogram", layout_.size), layout_.size, histogram_.begin());
    const std::int64_t* sums = view_1d<std::int64_t>(answer[1], "sums", kSlots);
    return {{histogram_.data()}, {PairSums{sums[0], sums[1]}, PairSums{sums[2], sums[3]}}};
  }

  std::array<ListedRows, 2> list(const StumpChange& change) override {
    const py::gil_scoped_acquire gil;
    const auto answer = rows_.attr("list")(pack(change)).cast<py::tuple>();
    const auto n = static_cast<index_t>(py::len(answer[0]));
    const auto* is_labelled = view_1d<std::uint8_t>(answer[0], "kinds", n);
    const auto n_bytes = static_cast<index_t>(bytes_of_row(features_)) * n;
    codes_.resize(static_cast<std::size_t>(n_bytes));
    std::copy_n(view_1d<std::uint8_t>(answer[1], "codes", n_bytes), n_bytes, codes_.begin());
    const double* weights = view_1d<double>(answer[2], "weights", 2 * n);
    states_.resize(static_cast<std::size_t>(n));
    for (std::vector<std::uint32_t>& numbers : numbers_) numbers.clear();
    for (index_t i = 0; i < n; ++i) {
      states_[static_cast<std::size_t>(i)] = {weights[2 * i], weights[2 * i + 1], 0, 0};
      numbers_[is_labelled[i] != 0 ? 1 : 0].push_back(static_cast<std::uint32_t>(i));
    }
    std::array<ListedRows, 2> listed;
    for (std::size_t kind = 0; kind < 2; ++kind) {
      listed[kind] = {codes_.data(), states_.data(), numbers_[kind].data(),
                      static_cast<index_t>(numbers_[kind].size())};
    }
    return listed;
  }

  void move(const StumpChange& change) override {
    const py::gil_scoped_acquire gil;
    rows_.attr("move")(pack(change));
  }

 private:
  const py::object& rows_;
  const BinnedFeatures& features_;
  StumpHistogram layout_;
  index_t n_active_ = 0;
  std::vector<index_t> bins_;
  std::vector<std::int64_t> histogram_;
  std::vector<std::uint8_t> codes_;
  std::vector<RowState> states_;
  std::array<std::vector<std::uint32_t>, 2> numbers_;
};

// ---- A worker's side ----

// A shard, and the Python objects whose memory it reads.
class StumpShard {
 public:
  StumpShard(std::shared_ptr<BinnedFeatures> features, py::object labels, py::object sample_weight, int n_threads)
      : features_(std::move(features)),
        arrays_{std::move(labels), std::move(sample_weight)},
        team_(n_threads, {}, isa_of_call()),
        layout_(*features_) {
    train_.features = features_.get();
    train_.labels = view_1d<std::int8_t>(arrays_[0], "labels", features_->n_rows);
    train_.sample_weight = view_or_null<double>(arrays_[1], "sample_weight", features_->n_rows);
    const py::gil_scoped_release nogil;
    rows_ = make_stump_rows(train_, team_);
  }

  py::tuple groups() {
    const StumpGroups groups = rows_->groups();
    const double weights[] = {groups.weight.negative, groups.weight.unlabelled, groups.weight.positive};
    return py::make_tuple(to_array(groups.n_rows), to_array(weights, 3));
  }

  py::array start(bool use_unlabelled) {
    rows_->start(use_unlabelled);
    return to_array(count_bins(train_, use_unlabelled));
  }

  py::array tops() {
    return to_array(unlocked([&] { return rows_->tops(); }));
  }

  py::array weigh(const py::object& tops) {
    const PerSlot all = unpack_slots(tops);
    const WeightSums sums = unlocked([&] { return rows_->weigh(all); });
    std::vector<std::int64_t> digits(sums.first.begin(), sums.first.end());
    digits.insert(digits.end(), sums.second.begin(), sums.second.end());
    return to_array(digits);
  }

  py::tuple add(const py::tuple& packed) {
    const StumpChange change = unpack_change(packed, *features_);
    py::array_t<std::int64_t> histogram(static_cast<py::ssize_t>(layout_.size));
    std::int64_t* to = histogram.mutable_data();
    const std::array<PairSums, 2> sums = unlocked([&] {
      const AddedRows added = rows_->add(change);
      std::fill_n(to, layout_.size, std::int64_t{0});
      for (const std::int64_t* from : added.histograms) {
        for (index_t i = 0; i < layout_.size; ++i) to[i] += from[i];
      }
      clear(added);
      return added.sums;
    });
    const std::int64_t all[] = {sums[0].minus, sums[0].plus, sums[1].minus, sums[1].plus};
    return py::make_tuple(histogram, to_array(all, kSlots));
  }

  // The numbers of the rows in the shard, whether they are labelled, their codes and their weights, a row each.
  py::tuple list(const py::tuple& packed) {
    const StumpChange change = unpack_change(packed, *features_);
    if (features_->is_sparse()) throw py::value_error("rows of sparse features are not listed");
    const std::size_t n_bytes = bytes_of_row(*features_);
    std::vector<std::uint32_t> numbers;
    std::vector<std::uint8_t> kinds;
    std::vector<std::uint8_t> codes;
    std::vector<double> weights;
    const std::array<ListedRows, 2> listed = rows_->list(change);
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const ListedRows& rows = listed[kind];
      for (index_t i = 0; i < rows.n; ++i) {
        const std::uint32_t row = rows.numbers[i];
        const RowState& state = rows.states[row];
        numbers.push_back(row);
        kinds.push_back(static_cast<std::uint8_t>(kind));
        codes.insert(codes.end(), rows.codes + row * n_bytes, rows.codes + (row + 1) * n_bytes);
        weights.insert(weights.end(), {state.minus, state.plus});
      }
    }
    clear(rows_->add(change));
    const auto n = static_cast<py::ssize_t>(numbers.size());
    return py::make_tuple(to_array(numbers), to_array(kinds),
                          to_array(codes).reshape({n, static_cast<py::ssize_t>(n_bytes)}),
                          to_array(weights).reshape({n, py::ssize_t{2}}));
  }

  void move(const py::tuple& packed) {
    const StumpChange change = unpack_change(packed, *features_);
    unlocked([&] { rows_->move(change); });
  }

 private:
  void clear(const AddedRows& added) const {
    for (std::int64_t* histogram : added.histograms) std::fill_n(histogram, layout_.size, std::int64_t{0});
  }

  std::shared_ptr<BinnedFeatures> features_;
  std::vector<py::object> arrays_;  // their memory is read
  Team team_;
  StumpHistogram layout_;
  BoostTrainingSet train_;
  std::unique_ptr<StumpRows> rows_;
};

}  // namespace

std::unique_ptr<StumpRows> stump_rows_of_python(const py::object& rows, const BinnedFeatures& features) {
  return std::make_unique<PythonStumpRows>(rows, features);
}

void bind_stump_rows(const py::module_& module) {
  using Shard = StumpShard;  // whose methods are called with arguments by position
  py::class_<Shard>(module, "StumpShard")
      .def(py::init<std::shared_ptr<BinnedFeatures>, py::object, py::object, int>(), py::arg("features").none(false),
           py::arg("labels"), py::arg("sample_weight"), py::kw_only(), py::arg("n_threads"))
      .def("groups", &Shard::groups)
      .def("start", &Shard::start)
      .def("tops", &Shard::tops)
      .def("weigh", &Shard::weigh)
      .def("add", &Shard::add)
      .def("list", &Shard::list)
      .def("move", &Shard::move);
}

}  // namespace fastpu
