// Kernel values against their formulas, and the cache of kernel rows against the kernel.
#include <algorithm>
#include <numeric>

#include "fastpu/kernels/kernel_cache.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::Kernel;
using fastpu::KernelKind;
using fastpu::KernelParams;
using fastpu::Team;

template <class T>
std::vector<T> whole_matrix(const Kernel<T>& kernel, Team& team) {
  const index_t n = kernel.n_rows();
  std::vector<index_t> rows(at(n));
  std::iota(rows.begin(), rows.end(), index_t{0});
  const auto columns = kernel.pack(rows.data(), n, team);
  const index_t stride = fastpu::count_blocks(n, fastpu::kKernelPanel) * fastpu::kKernelPanel;
  std::vector<T> values(at(n * stride));
  std::vector<T*> out;
  for (index_t i = 0; i < n; ++i) out.push_back(values.data() + i * stride);
  kernel.fill(rows.data(), n, *columns, 0, n, out.data());
  std::vector<T> matrix;
  for (index_t i = 0; i < n; ++i) matrix.insert(matrix.end(), out[at(i)], out[at(i)] + n);
  return matrix;
}

template <class T>
long double exact(const KernelParams& params, const T* x, const T* z, index_t d) {
  long double product = 0;
  long double squares = 0;
  for (index_t e = 0; e < d; ++e) {
    const long double difference = static_cast<long double>(x[e]) - static_cast<long double>(z[e]);
    product += static_cast<long double>(x[e]) * static_cast<long double>(z[e]);
    squares += difference * difference;
  }
  const long double inside = params.gamma * product + params.coef0;
  switch (params.kind) {
    case KernelKind::linear:
      return product;
    case KernelKind::poly:
      return params.degree == 0 ? 1.0L : std::pow(inside, params.degree);
    case KernelKind::rbf:
      return std::exp(-params.gamma * squares);
    default:
      return std::tanh(inside);
  }
}

// Rows in any order through a cache of any size, its columns chosen anew now and then.
template <class T>
void check_cache(Input& input, const Kernel<T>& kernel, const std::vector<T>& matrix, Team& team) {
  const index_t n = kernel.n_rows();
  fastpu::KernelCache<T> cache(kernel, input.one_of<index_t, 4>({0, 2000, 8000, 1 << 20}));
  std::vector<index_t> numbers(at(n));
  std::iota(numbers.begin(), numbers.end(), index_t{0});
  const auto drawn = [&](index_t most) {
    const index_t count = input.between(1, most);
    for (index_t k = 0; k < count; ++k) std::swap(numbers[at(k)], numbers[at(k + input.below(n - k))]);
    return count;
  };
  for (index_t k = input.between(1, 4); k > 0; --k) {
    cache.set_columns(numbers.data(), drawn(n), team);
    for (index_t j = input.below(6); j >= 0; --j) {
      const index_t n_rows = drawn(std::min(n, cache.capacity()));
      std::vector<const T*> values(at(n_rows));
      cache.get(numbers.data(), n_rows, values.data(), team);
      for (index_t r = 0; r < n_rows; ++r) {
        const T* const found = cache.find(numbers[at(r)]);
        FUZZ_CHECK(found == values[at(r)] && cache.holds(numbers[at(r)]));
        for (std::size_t c = 0; c < cache.columns().size(); ++c) {
          const T want = matrix[at(numbers[at(r)] * n + cache.columns()[c])];
          FUZZ_CHECK(std::memcmp(&found[c], &want, sizeof(T)) == 0 || (std::isnan(found[c]) && std::isnan(want)));
        }
      }
    }
  }
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(1);
  const Matrix<T> x(input, n, input.between(0, 9));
  KernelParams params;
  params.kind =
      input.one_of<KernelKind, 4>({KernelKind::linear, KernelKind::rbf, KernelKind::poly, KernelKind::sigmoid});
  params.gamma = input.positive();
  params.degree = static_cast<int>(input.below(6));
  params.coef0 = input.real();
  const int n_threads = input.n_threads();
  Team team(n_threads);
  accepted([&] {
    const bool is_dense = input.flag();
    const auto make = [&](fastpu::Isa isa) {
      const Team at_level(n_threads, {}, isa);
      return is_dense ? make_kernel(x.dense_view(), params, at_level) : make_kernel(x.csr_view(), params, at_level);
    };
    const auto kernel = make(fastpu::Isa::baseline);
    const std::vector<T> matrix = whole_matrix(*kernel, team);
    for (index_t i = 0; i < n; ++i) {
      const double diagonal = kernel->diagonal(i);
      FUZZ_CHECK(static_cast<T>(diagonal) == matrix[at(i * n + i)] || std::isnan(diagonal));
      for (index_t j = 0; j < n; ++j) {
        const T value = matrix[at(i * n + j)];
        const T mirrored = matrix[at(j * n + i)];
        FUZZ_CHECK(value == mirrored || (std::isnan(value) && std::isnan(mirrored)));
        if (!input.is_plain()) continue;
        const auto want = static_cast<double>(exact(params, x.dense.data() + i * x.d, x.dense.data() + j * x.d, x.d));
        const double scale =
            1 + std::fabs(want) + std::pow(params.gamma * 144 + std::fabs(params.coef0), params.degree);
        FUZZ_CHECK(std::fabs(static_cast<double>(value) - want) <= (std::is_same_v<T, float> ? 1e-3 : 1e-10) * scale);
      }
    }
    const auto other = whole_matrix(*make(fastpu::best_isa()), team);
    for (std::size_t k = 0; k < matrix.size(); ++k) {
      FUZZ_CHECK(matrix[k] == other[k] || (std::isnan(matrix[k]) && std::isnan(other[k])));
    }
    check_cache(input, *kernel, matrix, team);
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.tame(Range::finite);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
