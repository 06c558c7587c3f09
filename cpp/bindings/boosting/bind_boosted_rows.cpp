#include "boosting/bind_boosted_rows.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boosting/boosted_crossing.hpp"
#include "common/bind_isa.hpp"
#include "common/interrupts.hpp"
#include "data/bind_binned_features.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

// ---- The driver's side ----

class PythonRows final : public BoostedRows {
 public:
  PythonRows(const py::object& rows, const BinnedFeatures& features, TreeLossOptions loss)
      : rows_(rows),
        features_(features),
        loss_(std::move(loss)),
        most_rows_ahead_(rows.attr("most_rows_ahead").cast<index_t>()) {}

  BoostedRowCounts counts() override {
    const py::gil_scoped_acquire gil;
    const auto counts = ask<py::tuple>("counts");
    return {counts[0].cast<index_t>(), counts[1].cast<index_t>(), counts[2].cast<double>(), counts[3].cast<double>()};
  }

  void draw(std::uint64_t seed, index_t n) override {
    const py::gil_scoped_acquire gil;
    rows_.attr("draw")(seed, n);
  }

  std::vector<index_t> count_entries(bool of_drawn, const CountUnit& unit) override {
    const py::gil_scoped_acquire gil;
    return vector_from<index_t>(ask("count_entries", of_drawn, unit.scale, unit.enough), "counts",
                                features_.n_features);
  }

  TreeLossTops tops(bool of_drawn) override {
    if (known_tops_ && !of_drawn) return *known_tops_;
    const py::gil_scoped_acquire gil;
    return unpack_tops(ask("tops", of_drawn));
  }

  TreeLossSums sums(bool of_drawn, const TreeLossTops& tops) override {
    const py::gil_scoped_acquire gil;
    return unpack_sums(ask("sums", of_drawn, to_array(tops.values)));
  }

  TreeRoot start(const TreeStart& tree, std::uint64_t* histogram) override {
    const py::gil_scoped_acquire gil;
    known_splits_.clear();
    known_leaves_.clear();
    halvings_ = tree.halvings;
    const auto answer = ask<py::tuple>("start", tree.of_drawn, to_array(tree.tops.values), to_array(tree.sums.values),
                                       tree.g_scale, tree.h_scale, tree.halvings, tree.repeated, tree.unit.scale,
                                       tree.unit.enough, to_array(tree.features), histogram != nullptr);
    copy_histogram(answer[2], histogram);
    TreeRoot root{*view_1d<index_t>(answer[0], "the number of rows", 1), 0};
    copy_words(view_words(answer[1], "the sum", 1), 1, halvings_, &root.sum);
    return root;
  }

  SplitRows split(std::uint32_t node, std::uint32_t left, const NodeSplit& split, std::uint64_t* histogram) override {
    auto known = known_splits_.find(node);
    if (known == known_splits_.end() || (histogram != nullptr && known->second.histogram.empty())) {
      ask_ahead({{node, left, split, histogram != nullptr}}, {});
      known = known_splits_.find(node);
    }
    if (histogram != nullptr) std::ranges::copy(known->second.histogram, histogram);
    const SplitRows made = known->second.rows;
    known_splits_.erase(known);
    return made;
  }

  index_t most_rows_ahead() const override { return most_rows_ahead_; }

  void ask_ahead(const std::vector<SplitOrder>& splits, const std::vector<std::uint32_t>& leaves) override {
    const py::gil_scoped_acquire gil;
    py::list packed;
    index_t n_bins = 0;
    for (const SplitOrder& order : splits) {
      packed.append(py::make_tuple(order.node, order.left, pack(order.split), order.wants_histogram));
      n_bins += order.wants_histogram ? histogram_size(features_) : 0;
    }
    const auto answer = ask<py::tuple>("split", packed, to_array(leaves));
    const auto* counts = view_1d<index_t>(answer[0], "the counts of splits", 4 * std::ssize(splits));
    const std::uint64_t* bins = view_words(answer[1], "histograms", n_bins);
    for (const SplitOrder& order : splits) {
      KnownSplit& known = known_splits_[order.node];
      known.rows = {{counts[0], counts[1]}, counts[2], counts[3], true};
      counts += 4;
      known.histogram.resize(order.wants_histogram ? at(histogram_size(features_)) : 0);
      copy_words(bins, std::ssize(known.histogram), halvings_, known.histogram.data());
      bins += words_to_cross(std::ssize(known.histogram));
    }
    known_leaves_ = leaves;
    known_sums_ = unpack_leaf_sums(answer[2], leaves.size());
    known_scores_ = vector_from<double>(answer[3], "the scores of leaves",
                                        py::len(answer[3]) == 0 ? 0 : kScoresOfLeaf * std::ssize(leaves));
  }

  void set_histogram(std::uint32_t node, std::uint64_t* histogram) override {
    const py::gil_scoped_acquire gil;
    copy_histogram(ask("histogram", node), histogram);
  }

  SideCounts count_sides(std::uint32_t node, const NodeSplit& split) override {
    const py::gil_scoped_acquire gil;
    const py::object both = ask("count_sides", node, pack(split));
    const auto* counts = view_1d<index_t>(both, "counts", 2);
    return {counts[0], counts[1]};
  }

  void count_codes(std::uint32_t node, std::uint32_t feature, std::vector<index_t>& counts) override {
    const py::gil_scoped_acquire gil;
    counts = vector_from<index_t>(ask("count_codes", node, feature), "counts", features_.n_bins(feature));
  }

  std::vector<LeafSums> leaf_sums(const std::vector<std::uint32_t>& leaves) override {
    if (leaves != known_leaves_) ask_ahead({}, leaves);
    return known_sums_;
  }

  void add(const std::vector<std::uint32_t>& leaves, const std::vector<double>& values) override {
    known_tops_.reset();
    if (leaves == known_leaves_ && !known_scores_.empty()) known_tops_ = tops_after(values);
    const py::gil_scoped_acquire gil;
    rows_.attr("add")(to_array(leaves), to_array(values));
  }

 private:
  // The tops after these values are added to the leaves. They are those of the rows with the least and the greatest
  // scores of each group and leaf, as all rows of a leaf move by the same value.
  TreeLossTops tops_after(const std::vector<double>& values) const {
    std::vector<double> scores;
    std::vector<std::int8_t> labels;
    for (std::size_t k = 0; k < known_scores_.size(); ++k) {
      if (std::isinf(known_scores_[k])) continue;
      const std::size_t of_leaf = k % kScoresOfLeaf;
      scores.push_back((of_leaf < 3 ? -known_scores_[k] : known_scores_[k]) + values[k / kScoresOfLeaf]);
      labels.push_back(static_cast<std::int8_t>(of_leaf % 3) - 1);
    }
    Team team(1);
    const auto n = std::ssize(scores);
    return make_tree_loss({labels.data(), nullptr, n}, loss_, team)->tops({.scores = scores.data()}, team);
  }

  struct KnownSplit {
    SplitRows rows;
    std::vector<std::uint64_t> histogram;  // of the left child; or empty
  };

  template <class Answer = py::object, class... Args>
  Answer ask(const char* method, Args&&... args) const {
    return rows_.attr(method)(std::forward<Args>(args)...).template cast<Answer>();
  }

  void copy_histogram(const py::handle& array, std::uint64_t* histogram) const {
    if (histogram == nullptr) return;
    const index_t n = histogram_size(features_);
    copy_words(view_words(array, "histogram", n), n, halvings_, histogram);
  }

  index_t words_to_cross(index_t n) const { return halvings_ == 0 ? n : 2 * n; }
  const std::uint64_t* view_words(const py::handle& array, const char* name, index_t n) const {
    return view_1d<std::uint64_t>(array, name, words_to_cross(n));
  }

  const py::object& rows_;
  const BinnedFeatures& features_;
  TreeLossOptions loss_;
  index_t most_rows_ahead_;
  int halvings_ = 0;  // of the tree
  // Answers about the current tree that were asked ahead: splits by their node, and the sums and scores of leaves.
  std::map<std::uint32_t, KnownSplit> known_splits_;
  std::vector<std::uint32_t> known_leaves_;
  std::vector<LeafSums> known_sums_;
  std::vector<double> known_scores_;
  std::optional<TreeLossTops> known_tops_;  // at the scores after the last tree
};

// ---- A worker's side ----

// A shard, and the Python objects whose memory it reads.
class BoostedShard {
 public:
  BoostedShard(std::shared_ptr<BinnedFeatures> features, py::object labels, py::object sample_weight,
               py::object categorical, const std::string& loss, double gamma, double prior,
               const py::object& init_nodes, const py::object& init_starts, const py::object& init_sets,
               index_t n_unlabelled, py::object numbers, int n_threads)
      : features_(std::move(features)),
        arrays_{std::move(labels), std::move(sample_weight), std::move(categorical), std::move(numbers)},
        team_(n_threads, {}, isa_of_call()) {
    train_ = view_training_set<BoostedTreesTrainingSet>(*features_, arrays_[0], arrays_[1], arrays_[2]);
    place_.n_unlabelled = n_unlabelled;
    if (!arrays_[3].is_none()) place_.numbers = checked_numbers();
    const TreeLossOptions options{loss, gamma, prior};
    std::optional<TreesView> init;
    if (!init_nodes.is_none()) init = view_trees(init_nodes, init_starts, init_sets, features_->n_features);
    const py::gil_scoped_release nogil;
    rows_ = make_boosted_rows(train_, options, init ? &*init : nullptr, &place_, team_, team_.n_threads());
  }

  py::tuple counts() {
    const BoostedRowCounts counts = rows_->counts();
    return py::make_tuple(counts.n_rows, counts.n_unlabelled, counts.weight, counts.unit);
  }

  void draw(std::uint64_t seed, index_t n) {
    if (place_.numbers == nullptr) throw py::value_error("a shard without numbers of its rows cannot draw any");
    if (n > place_.n_unlabelled) throw py::value_error("a shard cannot draw more rows than there are");
    const py::gil_scoped_release nogil;
    rows_->draw(seed, n);
  }

  py::array count_entries(bool of_drawn, double scale, index_t enough) {
    if (!features_->is_sparse()) throw py::value_error("dense features have an entry in every row");
    return to_array(unlocked([&] { return rows_->count_entries(of_drawn, {scale, enough}); }));
  }

  py::array tops(bool of_drawn) {
    return to_array(unlocked([&] { return rows_->tops(of_drawn); }).values);
  }

  py::array sums(bool of_drawn, const py::object& tops) {
    const TreeLossTops all = unpack_tops(tops);
    return to_array(unlocked([&] { return rows_->sums(of_drawn, all); }).values);
  }

  py::tuple start(bool of_drawn, const py::object& tops, const py::object& sums, double g_scale, double h_scale,
                  int halvings, double repeated, double scale, index_t enough, const py::object& features,
                  bool histogram) {
    TreeStart tree;
    tree.of_drawn = of_drawn;
    tree.tops = unpack_tops(tops);
    tree.sums = unpack_sums(sums);
    tree.g_scale = g_scale;
    tree.h_scale = h_scale;
    if (halvings < 0 || halvings > 31) throw py::value_error("halvings must be between 0 and 31");
    tree.halvings = halvings_ = halvings;
    if (!(repeated >= 0)) throw py::value_error("repeated must be at least 0");
    tree.repeated = repeated;
    tree.unit = {scale, enough};
    tree.features = vector_from<std::uint32_t>(features, "features");
    for (const std::uint32_t feature : tree.features) check_feature(feature);
    n_nodes_ = 1;
    py::array_t<std::uint64_t> bins = make_histograms(histogram ? 1 : 0);
    std::uint64_t* to = histogram ? bins.mutable_data() : nullptr;
    const TreeRoot root = unlocked([&] { return rows_->start(tree, to); });
    py::array_t<std::uint64_t> sum(1);
    *sum.mutable_data() = root.sum;
    return py::make_tuple(to_array(&root.n_rows, 1), crossing(sum, halvings_), crossing(bins, halvings_));
  }

  // Splits one node after the other, and then sums the leaves. Of the answers of several shards the first three parts
  // are added up, and of the last one the largest numbers are taken.
  py::tuple split(const py::list& orders, const py::object& leaves) {
    std::vector<SplitOrder> splits;
    index_t n_histograms = 0;
    for (const py::handle& packed : orders) {
      splits.push_back(checked_order(packed.cast<py::tuple>()));
      n_histograms += splits.back().wants_histogram ? 1 : 0;
    }
    const std::vector<std::uint32_t> summed = checked_leaves(leaves);
    py::array_t<std::uint64_t> bins = make_histograms(n_histograms);
    std::uint64_t* to = bins.mutable_data();
    std::vector<index_t> counts;
    std::vector<std::int64_t> sums;
    std::vector<double> scores;
    unlocked([&] {
      for (const SplitOrder& order : splits) {
        const SplitRows made = rows_->split(order.node, order.left, order.split, order.wants_histogram ? to : nullptr);
        if (order.wants_histogram) to += histogram_size(*features_);
        counts.insert(counts.end(), {made.counts.left, made.counts.right, made.n_left, made.n_right});
      }
      if (summed.empty()) return;
      append(rows_->leaf_sums(summed), sums);
      append(rows_->leaf_scores(), scores);
    });
    return py::make_tuple(to_array(counts), crossing(bins, halvings_), to_array(sums), to_array(scores));
  }

  py::array histogram(std::uint32_t node) {
    check_node(node);
    py::array_t<std::uint64_t> bins = make_histograms(1);
    std::uint64_t* to = bins.mutable_data();
    unlocked([&] { rows_->set_histogram(node, to); });
    return crossing(bins, halvings_);
  }

  py::array count_sides(std::uint32_t node, const py::tuple& packed) {
    const NodeSplit split = checked_split(node, packed);
    const SideCounts counts = unlocked([&] { return rows_->count_sides(node, split); });
    const index_t both[] = {counts.left, counts.right};
    return to_array(both, 2);
  }

  py::array count_codes(std::uint32_t node, std::uint32_t feature) {
    check_node(node);
    check_feature(feature);
    std::vector<index_t> counts;
    unlocked([&] { rows_->count_codes(node, feature, counts); });
    return to_array(counts);
  }

  void add(const py::object& leaves, const py::object& values) {
    const std::vector<std::uint32_t> numbers = checked_leaves(leaves);
    const auto added = vector_from<double>(values, "values", static_cast<index_t>(numbers.size()));
    unlocked([&] { rows_->add(numbers, added); });
  }

 private:
  void check_node(std::uint32_t node) const {
    if (node >= n_nodes_) throw py::value_error("there is no node " + std::to_string(node));
  }
  void check_feature(std::uint32_t feature) const {
    if (index_t{feature} >= features_->n_features)
      throw py::value_error("there is no feature " + std::to_string(feature));
  }
  NodeSplit checked_split(std::uint32_t node, const py::tuple& packed) const {
    check_node(node);
    const NodeSplit split = unpack_split(packed);
    check_feature(split.feature);
    return split;
  }
  SplitOrder checked_order(const py::tuple& packed) {
    if (packed.size() != 4) throw py::value_error("the order of a split must have 4 parts");
    SplitOrder order;
    order.node = packed[0].cast<std::uint32_t>();
    order.left = packed[1].cast<std::uint32_t>();
    order.split = checked_split(order.node, packed[2].cast<py::tuple>());
    order.wants_histogram = packed[3].cast<bool>();
    if (order.left == 0 || order.left > n_nodes_)
      throw py::value_error("a child must be the next node, or one that was made before");
    n_nodes_ = std::max(n_nodes_, order.left + 2);
    return order;
  }
  std::vector<std::uint32_t> checked_leaves(const py::object& leaves) const {
    auto numbers = vector_from<std::uint32_t>(leaves, "leaves");
    for (const std::uint32_t leaf : numbers) check_node(leaf);
    return numbers;
  }

  py::array_t<std::uint64_t> make_histograms(index_t n_wanted) const {
    const index_t n = n_wanted * histogram_size(*features_);
    py::array_t<std::uint64_t> bins(static_cast<py::ssize_t>(n));
    std::fill_n(bins.mutable_data(), n, std::uint64_t{0});
    return bins;
  }

  const std::uint32_t* checked_numbers() const {
    const auto n = static_cast<index_t>(py::len(arrays_[3]));
    const auto* numbers = view_1d<std::uint32_t>(arrays_[3], "numbers", n);
    index_t n_own = 0;
    for (index_t i = 0; i < features_->n_rows; ++i) {
      const bool counts = train_.sample_weight == nullptr || train_.sample_weight[i] > 0;
      if (counts && train_.labels[i] == 0) ++n_own;
    }
    if (n != n_own) throw py::value_error("numbers must be as many as unlabelled rows of positive weight");
    for (index_t i = 0; i < n; ++i) {
      if (static_cast<index_t>(numbers[i]) >= place_.n_unlabelled) throw py::value_error("numbers are out of range");
    }
    return numbers;
  }

  std::shared_ptr<BinnedFeatures> features_;
  std::vector<py::object> arrays_;  // their memory is read
  Team team_;
  BoostedTreesTrainingSet train_;
  ShardPlace place_;
  std::unique_ptr<BoostedRows> rows_;
  std::uint32_t n_nodes_ = 0;  // of the current tree
  int halvings_ = 0;           // of the sums of its words
};

}  // namespace

std::unique_ptr<BoostedRows> rows_of_python(const py::object& rows, const BinnedFeatures& features,
                                            const TreeLossOptions& loss) {
  return std::make_unique<PythonRows>(rows, features, loss);
}

void bind_boosted_rows(py::module_& module) {
  module.def("common_divisor", &common_divisor, py::arg("a"), py::arg("b"));
  using Shard = BoostedShard;  // whose methods are called with arguments by position
  py::class_<Shard>(module, "BoostedShard")
      .def(py::init<std::shared_ptr<BinnedFeatures>, py::object, py::object, py::object, const std::string&, double,
                    double, const py::object&, const py::object&, const py::object&, index_t, py::object, int>(),
           py::arg("features").none(false), py::arg("labels").none(false), py::arg("sample_weight"), py::kw_only(),
           py::arg("categorical"), py::arg("loss"), py::arg("gamma"), py::arg("prior"), py::arg("init_nodes"),
           py::arg("init_starts"), py::arg("init_sets"), py::arg("n_unlabelled"), py::arg("numbers"),
           py::arg("n_threads"))
      .def("counts", &Shard::counts)
      .def("draw", &Shard::draw)
      .def("count_entries", &Shard::count_entries)
      .def("tops", &Shard::tops)
      .def("sums", &Shard::sums)
      .def("start", &Shard::start)
      .def("split", &Shard::split)
      .def("histogram", &Shard::histogram)
      .def("count_sides", &Shard::count_sides)
      .def("count_codes", &Shard::count_codes)
      .def("add", &Shard::add);
}

}  // namespace fastpu
