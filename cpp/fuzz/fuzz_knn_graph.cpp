// Nearest neighbours by every method against all pairs.
#include <algorithm>
#include <utility>

#include "fastpu/knn/knn_graph.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::KnnMethod;
using fastpu::KnnOptions;
using fastpu::Team;

// In the order of additions that the header promises.
template <class T>
double squared_distance(const T* a, const T* b, index_t d) {
  double s[8] = {};
  for (index_t f = 0; f < d; ++f) {
    const double difference = static_cast<double>(a[f]) - static_cast<double>(b[f]);
    s[f % 8] += difference * difference;
  }
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

struct Found {
  std::vector<index_t> indices;
  std::vector<double> squared;
  bool is_there = false;

  bool operator==(const Found& other) const {
    return is_there == other.is_there && indices == other.indices && same_bits(squared, other.squared);
  }
};

template <class View>
Found search(const View& view, const KnnOptions& options, Team& team) {
  Found found;
  const auto size = at(std::max<index_t>(view.n_rows * options.n_neighbors, 0));
  found.indices.resize(size);
  found.squared.resize(size);
  found.is_there = accepted([&] { knn_search(view, options, team, found.indices.data(), found.squared.data()); });
  return found;
}

template <class T>
Found by_all_pairs(const Matrix<T>& x, index_t n_neighbors) {
  Found found;
  found.is_there = true;
  for (index_t i = 0; i < x.n; ++i) {
    std::vector<std::pair<double, index_t>> others;
    for (index_t j = 0; j < x.n; ++j) {
      if (j != i) others.emplace_back(squared_distance(x.dense.data() + i * x.d, x.dense.data() + j * x.d, x.d), j);
    }
    std::ranges::sort(others);
    for (index_t k = 0; k < n_neighbors; ++k) {
      found.squared.push_back(others[at(k)].first);
      found.indices.push_back(others[at(k)].second);
    }
  }
  return found;
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(0);
  const Matrix<T> x(input, n, input.between(0, 10));
  KnnOptions options;
  options.n_neighbors =
      input.rarely(32) ? static_cast<std::int8_t>(input.byte()) : input.below(std::max<index_t>(n, 1));
  const fastpu::Isa isa = input.isa();
  Team team(input.n_threads(), {}, isa);
  const Found found = search(x.dense_view(), options, team);
  options.method = KnnMethod::tree;
  FUZZ_CHECK(search(x.dense_view(), options, team) == found);
  options.method = KnnMethod::blocks;
  Team plain(1, {}, fastpu::Isa::baseline);
  FUZZ_CHECK(search(x.dense_view(), options, plain) == found);
  const Found sparse = search(x.csr_view(), options, team);
  if (found.is_there && sparse.is_there) FUZZ_CHECK(sparse == found);
  if (!found.is_there) return;
  FUZZ_CHECK(by_all_pairs(x, options.n_neighbors) == found);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
