// Kernel values of every kind and form against their formulas, and the promises of kernel.hpp: bits that depend neither
// on the level nor on the order of a pair, and whole panels.
#include "fastpu/kernels/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "svm_data.hpp"

namespace {

using fastpu::index_t;
using fastpu::Isa;
using fastpu::Kernel;
using fastpu::KernelKind;
using fastpu::KernelParams;
using fastpu::kKernelPanel;
using fastpu::Team;

// What out[k] holds before fill: no kernel value.
constexpr double kUntouched = -12345.0;

index_t whole_panels(index_t n) { return fastpu::round_up(n, kKernelPanel); }

std::vector<KernelParams> all_params() {
  return {{KernelKind::linear, 1.0, 3, 0.0},  {KernelKind::rbf, 0.3, 3, 0.0},    {KernelKind::rbf, 40.0, 3, 0.0},
          {KernelKind::poly, 0.25, 3, 1.0},   {KernelKind::poly, 0.5, 2, -0.75}, {KernelKind::poly, 1.0, 1, 0.0},
          {KernelKind::poly, 0.125, 7, 0.5},  {KernelKind::poly, 2.0, 0, 3.0},   {KernelKind::sigmoid, 0.1, 3, -0.5},
          {KernelKind::sigmoid, 3.0, 3, 0.25}};
}

// Rows against columns, a row of whole panels each, with a guard panel behind that must stay as it is.
template <class T>
std::vector<T> values_of(const Kernel<T>& kernel, const std::vector<index_t>& rows, const std::vector<index_t>& columns,
                         Team& team, index_t first = 0, index_t last = -1) {
  const auto n_columns = static_cast<index_t>(columns.size());
  const auto packed = kernel.pack(columns.data(), n_columns, team);
  if (last < 0) last = n_columns;
  const index_t width = whole_panels(last - first);
  const index_t stride = width + kKernelPanel;
  std::vector<T> buffer(rows.size() * at(stride), static_cast<T>(kUntouched));
  std::vector<T*> out(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) out[k] = buffer.data() + k * at(stride);
  kernel.fill(rows.data(), static_cast<index_t>(rows.size()), *packed, first, last, out.data());
  std::vector<T> values;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    values.insert(values.end(), out[k], out[k] + width);
    CHECK(std::all_of(out[k] + width, out[k] + stride, [](T v) { return v == static_cast<T>(kUntouched); }));
  }
  return values;
}

bool has_bits_of(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }
bool has_bits_of(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// The first n of a row of whole panels, for each row.
template <class T>
std::vector<T> without_padding(const std::vector<T>& values, index_t n_columns) {
  std::vector<T> out;
  for (std::size_t start = 0; start < values.size(); start += at(whole_panels(n_columns))) {
    out.insert(out.end(), values.begin() + static_cast<std::ptrdiff_t>(start),
               values.begin() + static_cast<std::ptrdiff_t>(start + at(n_columns)));
  }
  return out;
}

// How far rounding may take a value of T from the formula: that of a sum over d products, through the outer function.
template <class T>
long double rounding(const KernelParams& params, const T* x, const T* z, index_t d, bool is_sparse) {
  const long double eps = std::numeric_limits<T>::epsilon();
  long double products = 0;
  long double squares = 0;
  long double norms = 0;
  for (index_t e = 0; e < d; ++e) {
    const auto a = static_cast<long double>(x[e]);
    const auto b = static_cast<long double>(z[e]);
    products += std::abs(a * b);
    squares += (a - b) * (a - b);
    norms += a * a + b * b;
  }
  const long double sum = eps * static_cast<long double>(d + 2);
  const long double exact = exact_kernel(params, x, z, d);
  const long double inside =
      params.gamma * sum * products + 2 * eps * (params.gamma * products + std::abs(params.coef0));
  // Sparse rows are summed in double, but by their norms.
  const long double double_eps = std::numeric_limits<double>::epsilon();
  const long double of_norms = is_sparse ? double_eps * static_cast<long double>(d + 2) * 2 * norms : 0;
  const long double of_squares = of_norms + (sum + 2 * eps) * squares;
  switch (params.kind) {
    case KernelKind::linear:
      return sum * products;
    case KernelKind::squared_distance:
      return of_squares;
    case KernelKind::rbf:
      return exact * (params.gamma * of_squares + 4 * eps) + 2 * std::numeric_limits<T>::min();
    case KernelKind::poly: {
      const long double base = params.gamma * products + std::abs(params.coef0);
      return params.degree == 0 ? 0
                                : params.degree * std::pow(base + inside, params.degree - 1) * inside +
                                      2 * params.degree * eps * std::abs(exact);
    }
    case KernelKind::sigmoid:
      return inside + 2 * eps;
  }
  return 0;
}

template <class T>
void check_values(const std::vector<T>& values, const KernelParams& params, const Points<T>& points,
                  const std::vector<index_t>& rows, const std::vector<index_t>& columns, bool is_sparse) {
  const index_t width = whole_panels(static_cast<index_t>(columns.size()));
  bool is_close = true;
  bool is_finite = true;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const T* x = points.row(rows[k]);
    for (index_t c = 0; c < width; ++c) {
      const T value = values[k * at(width) + at(c)];
      is_finite = is_finite && std::isfinite(value) && value != static_cast<T>(kUntouched);
      if (c >= static_cast<index_t>(columns.size())) continue;
      const T* z = points.row(columns[at(c)]);
      const long double error = std::abs(static_cast<long double>(value) - exact_kernel(params, x, z, points.d));
      is_close = is_close && error <= rounding(params, x, z, points.d, is_sparse);
    }
  }
  CHECK(is_close);
  CHECK(is_finite);  // the rest of the last panel as well
}

template <class T>
void check_against_formulas(index_t n, index_t d) {
  const Points<T> points(n, d, static_cast<unsigned>(100 * n + d));
  Team team(2);
  const std::vector<index_t> columns = some_of(n, n);
  const std::vector<index_t> rows = some_of(n, std::min<index_t>(n, 21));  // fours, sixteens and what is left
  for (const KernelParams& params : all_params()) {
    const Team plain(1, {}, Isa::baseline);
    const auto dense = make_kernel(points.dense(), params, plain);
    const auto sparse = make_kernel(points.sparse(), params, plain);
    const std::vector<T> of_dense = values_of(*dense, rows, columns, team);
    const std::vector<T> of_sparse = values_of(*sparse, rows, columns, team);
    check_values(of_dense, params, points, rows, columns, false);
    check_values(of_sparse, params, points, rows, columns, true);
    for (const Isa isa : all_levels()) {
      const Team at_level(1, {}, isa);
      CHECK(same_bits(values_of(*make_kernel(points.dense(), params, at_level), rows, columns, team), of_dense));
      CHECK(same_bits(values_of(*make_kernel(points.sparse(), params, at_level), rows, columns, team), of_sparse));
    }
  }
}

template <class T>
void check_pair_numbers(const Kernel<T>& kernel, const std::vector<index_t>& rows,
                        const std::vector<index_t>& columns) {
  Team team(1);
  const index_t n = static_cast<index_t>(columns.size());
  for (const index_t first : {index_t{0}, kKernelPanel}) {
    if (first >= n) continue;
    const std::vector<T> values = values_of(kernel, rows, columns, team, first, n);
    const index_t width = whole_panels(n - first);
    bool is_right = true;
    bool is_whole = true;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (index_t c = 0; c < width; ++c) {
        const T value = values[k * at(width) + at(c)];
        is_whole = is_whole && value != static_cast<T>(kUntouched) && std::isfinite(value);
        if (first + c < n) {
          is_right = is_right && value == static_cast<T>(pair_number(rows[k], columns[at(first + c)]));
        }
      }
    }
    CHECK(is_right);
    CHECK(is_whole);  // "what lies beyond last in the last one is overwritten"
  }
}

}  // namespace

CASE("values of every kind are those of the formulas, of dense and of sparse data, with the same bits at all levels") {
  for (const index_t d : {1, 2, 3, 7, 16, 33}) {
    for (const index_t n : {1, 5, 63, 64, 65, 130}) {
      check_against_formulas<float>(n, d);
      check_against_formulas<double>(n, d);
    }
  }
}

CASE("K(x, z) has the bits of K(z, x)") {
  const auto check = []<class T>(const Points<T>& points) {
    Team team(1);
    const std::vector<index_t> all = all_rows(points.n);
    for (const KernelParams& params : all_params()) {
      for (const bool is_sparse : {false, true}) {
        const auto kernel =
            is_sparse ? make_kernel(points.sparse(), params, team) : make_kernel(points.dense(), params, team);
        const std::vector<T> k = without_padding(values_of(*kernel, all, all, team), points.n);
        bool is_symmetric = true;
        for (index_t i = 0; i < points.n; ++i) {
          for (index_t j = 0; j < i; ++j) {
            is_symmetric = is_symmetric && has_bits_of(k[at(i * points.n + j)], k[at(j * points.n + i)]);
          }
        }
        CHECK(is_symmetric);
      }
    }
  };
  check(Points<float>(70, 9, 1));
  check(Points<double>(70, 9, 2));
  check(Points<float>(70, 3, 3, 1e4));
}

CASE("the diagonal has the bits of the values, and that of rbf is exactly 1, as is the value of equal rows") {
  const auto check = []<class T>(const Points<T>& points) {
    Team team(1);
    const std::vector<index_t> all = all_rows(points.n);
    for (const KernelParams& params : all_params()) {
      for (const bool is_sparse : {false, true}) {
        const auto kernel =
            is_sparse ? make_kernel(points.sparse(), params, team) : make_kernel(points.dense(), params, team);
        CHECK(kernel->n_rows() == points.n);
        CHECK(!kernel->is_serial());
        const std::vector<T> k = without_padding(values_of(*kernel, all, all, team), points.n);
        bool is_equal = true;
        for (index_t i = 0; i < points.n; ++i) {
          is_equal = is_equal && kernel->diagonal(i) == static_cast<double>(k[at(i * points.n + i)]);
        }
        CHECK(is_equal);
        if (params.kind != KernelKind::rbf) continue;
        CHECK(kernel->diagonal(0) == 1);
        CHECK(k[at(points.n - 1)] == T{1});  // the last row is the first one
      }
    }
  };
  check(Points<float>(50, 6, 11));
  check(Points<double>(50, 6, 12));
  check(Points<float>(40, 5, 13, 1e5));
  check(Points<double>(40, 5, 14, 1e5));
}

CASE("any part of the columns gives the same bits as all of them") {
  const auto check = []<class T>(const Points<T>& points) {
    Team team(3);
    const std::vector<index_t> all = all_rows(points.n);
    const std::vector<index_t> rows = some_of(points.n, 19);
    for (const KernelKind kind : {KernelKind::linear, KernelKind::poly, KernelKind::rbf, KernelKind::sigmoid}) {
      for (const bool is_sparse : {false, true}) {
        const KernelParams params{kind, 0.2, 3, 0.5};
        const auto kernel =
            is_sparse ? make_kernel(points.sparse(), params, team) : make_kernel(points.dense(), params, team);
        const std::vector<T> whole = without_padding(values_of(*kernel, rows, all, team), points.n);
        for (index_t first = 0; first < points.n; first += kKernelPanel) {
          for (const index_t last : {first + 1, first + kKernelPanel, first + 2 * kKernelPanel, points.n}) {
            if (last > points.n) continue;
            const std::vector<T> part = without_padding(values_of(*kernel, rows, all, team, first, last), last - first);
            bool is_same = true;
            for (std::size_t k = 0; k < rows.size(); ++k) {
              is_same =
                  is_same && std::memcmp(part.data() + k * at(last - first), whole.data() + k * at(points.n) + first,
                                         at(last - first) * sizeof(T)) == 0;
            }
            CHECK(is_same);
          }
        }
        // One row at a time, against one column.
        const std::vector<T> one = values_of(*kernel, {rows[0]}, {rows[1]}, team);
        CHECK(one[0] == whole[at(rows[1])]);
      }
    }
  };
  check(Points<float>(200, 11, 21));
  check(Points<double>(200, 11, 22));
}

CASE("many columns are packed by several threads, with the same bits") {
  const Points<float> points(3000, 40, 31);
  Team one(1);
  const auto kernel = make_kernel(points.dense(), {KernelKind::rbf, 0.01, 3, 0}, one);
  const std::vector<index_t> all = all_rows(points.n);
  const std::vector<float> expected = values_of(*kernel, {0, 17, 2999}, all, one);
  for (const int n_threads : {2, 3, 7}) {
    Team team(n_threads);
    CHECK(same_bits(values_of(*kernel, {0, 17, 2999}, all, team), expected));
  }
}

CASE("rows without features are at 0, and no pointer leaves an empty array") {
  const std::vector<double> none;
  const std::vector<index_t> rows = {0, 1, 2, 3, 4};
  Team team(1);
  for (const KernelParams& params : all_params()) {
    const auto kernel = make_kernel(fastpu::DenseView<double>{none.data(), 5, 0}, params, team);
    const auto values = without_padding(values_of(*kernel, rows, rows, team), 5);
    for (const double value : values) CHECK(has_bits_of(value, kernel->diagonal(0)));
    if (params.kind == KernelKind::rbf) CHECK(values[0] == 1);
  }
}

CASE("a column may be there twice, and a row as well") {
  const Points<double> points(20, 4, 32);
  Team team(1);
  const auto kernel = make_kernel(points.sparse(), {KernelKind::rbf, 0.5, 3, 0}, team);
  const std::vector<double> values = values_of(*kernel, {4, 4, 5}, {7, 7, 8}, team);
  const index_t width = whole_panels(3);
  CHECK(values[0] == values[1]);
  CHECK(values[at(width)] == values[0]);
  CHECK(values[at(2 * width)] != values[0]);
}

CASE("sparse rows far from the origin have the distances of dense ones, and K(x, z) the bits of K(z, x)") {
  const auto check = []<class T>(T offset) {
    Points<T> points(24, 3, 33);
    // So that every difference is exact; a third of the rows stay near 0, the first row is there twice.
    for (index_t i = 0; i < points.n; ++i) {
      for (index_t f = 0; f < points.d; ++f) {
        T& value = points.x[at(i * points.d + f)];
        value = std::round(value * 4) / 4 + (f == 1 && i % 3 > 0 ? offset : T{0});
      }
    }
    std::copy_n(points.x.begin() + points.d, points.d, points.x.begin() + 4 * points.d);
    points.make_sparse();
    Team team(1);
    const KernelParams params{KernelKind::rbf, 0.25, 3, 0};
    const auto kernel = make_kernel(points.sparse(), params, team);
    const auto dense = make_kernel(points.dense(), params, team);
    const auto all = all_rows(points.n);
    const std::vector<T> values = without_padding(values_of(*kernel, all, all, team), points.n);
    const std::vector<T> expected = without_padding(values_of(*dense, all, all, team), points.n);
    for (index_t i = 0; i < points.n; ++i) {
      for (index_t j = 0; j < points.n; ++j) {
        const T value = values[at(i * points.n + j)];
        CHECK(has_bits_of(value, values[at(j * points.n + i)]));
        CHECK(has_bits_of(value, expected[at(i * points.n + j)]));
      }
    }
    CHECK(values[at(points.n + 4)] == 1);
  };
  check(0x1p20F);
  check(0x1p27 + 0.25);
}

CASE("the exponential is right to a few units in the last place from 0 to where normal numbers end, then it is 0") {
  const auto check = []<class T>(T largest) {
    Team team(1);
    constexpr index_t kPoints = 2048;
    std::vector<T> x(at(kPoints));  // of so few bits that squares are exact
    for (index_t i = 0; i < kPoints; ++i) x[at(i)] = static_cast<T>(i % 2 == 0 ? i / 2 : -(i / 2)) / T{64};
    const fastpu::DenseView<T> view{x.data(), kPoints, 1};
    const auto kernel = make_kernel(view, {KernelKind::rbf, 1.0, 3, 0}, team);
    const std::vector<T> values = values_of(*kernel, {0}, all_rows(kPoints), team);
    bool is_close = true;
    bool is_zero = true;
    for (index_t i = 0; i < kPoints; ++i) {
      const T squared = x[at(i)] * x[at(i)];
      const long double exact = std::exp(-static_cast<long double>(squared));
      if (squared <= largest) {
        is_close = is_close && std::abs(static_cast<long double>(values[at(i)]) - exact) <=
                                   2 * std::numeric_limits<T>::epsilon() * exact;
      } else {
        is_zero = is_zero && values[at(i)] == 0;
      }
    }
    CHECK(is_close);
    CHECK(is_zero);
  };
  check(87.0F);
  check(708.0);
}

CASE("distances at the ends of the range give 0 and 1, never NaN") {
  const auto check = []<class T>(T largest) {
    Team team(1);
    const T huge = std::sqrt(largest);
    const std::vector<T> x = {T{},
                              std::numeric_limits<T>::denorm_min(),
                              std::numeric_limits<T>::min(),
                              huge / 4,
                              -huge / 4,
                              huge * 2,
                              -huge * 2,
                              largest / 4};
    std::vector<std::int32_t> columns(x.size(), 0);
    std::vector<index_t> row_start = all_rows(static_cast<index_t>(x.size()) + 1);
    for (const bool is_sparse : {false, true}) {
      // Sparse rows have to be squared, in double: the last three are refused if they are doubles.
      const auto n = static_cast<index_t>(x.size()) - (is_sparse && sizeof(T) == sizeof(double) ? 3 : 0);
      for (const double gamma : {1e-3, 1.0, 1e3}) {
        const KernelParams params{KernelKind::rbf, gamma, 3, 0};
        const auto kernel =
            is_sparse ? make_kernel(fastpu::CsrView<T>{x.data(), columns.data(), row_start.data(), n, 1}, params, team)
                      : make_kernel(fastpu::DenseView<T>{x.data(), n, 1}, params, team);
        const std::vector<T> k = without_padding(values_of(*kernel, all_rows(n), all_rows(n), team), n);
        for (index_t i = 0; i < n; ++i) {
          for (index_t j = 0; j < n; ++j) {
            CHECK(k[at(i * n + j)] == ((i < 3 && j < 3) || i == j ? T{1} : T{0}));
          }
        }
      }
    }
  };
  check(std::numeric_limits<float>::max());
  check(std::numeric_limits<double>::max());
}

CASE("dense rbf does not cancel far from the origin") {
  const auto check = []<class T>(T far) {
    Points<T> points(30, 4, 41);
    for (T& value : points.x) value = std::round(value * 8) / 8;  // sums with `far` are exact
    Points<T> moved = points;
    for (T& value : moved.x) value += far;
    Team team(1);
    const KernelParams params{KernelKind::rbf, 0.5, 3, 0};
    const std::vector<index_t> all = all_rows(points.n);
    const auto near = make_kernel(points.dense(), params, team);
    const auto away = make_kernel(moved.dense(), params, team);
    CHECK(same_bits(without_padding(values_of(*near, all, all, team), points.n),
                    without_padding(values_of(*away, all, all, team), points.n)));
  };
  check(float{1 << 20});
  check(double{1LL << 48});
}

CASE("a precomputed matrix and a function give what they are given, and whole panels") {
  constexpr index_t kRows = 150;
  std::vector<double> f64;
  std::vector<float> f32;
  for (index_t i = 0; i < kRows; ++i) {
    for (index_t j = 0; j < kRows; ++j) {
      f64.push_back(pair_number(i, j));
      f32.push_back(static_cast<float>(pair_number(i, j)));
    }
  }
  const auto of_f64 = fastpu::make_precomputed_kernel(fastpu::DenseView<double>{f64.data(), kRows, kRows});
  const auto of_f32 = fastpu::make_precomputed_kernel(fastpu::DenseView<float>{f32.data(), kRows, kRows});
  const auto of_function = pair_kernel(kRows);
  CHECK_THROWS(std::invalid_argument, fastpu::make_precomputed_kernel(fastpu::DenseView<float>{f32.data(), 2, kRows}),
               "a precomputed kernel must be square");
  CHECK(of_f64->n_rows() == kRows);
  CHECK(of_function->n_rows() == kRows);
  CHECK(!of_f64->is_serial());
  CHECK(of_function->is_serial());
  CHECK(of_f64->diagonal(7) == pair_number(7, 7));
  CHECK(of_f32->diagonal(149) == pair_number(149, 149));
  CHECK(of_function->diagonal(3) == pair_number(3, 3));
  for (const index_t n : {1, 64, 67, 150}) {
    const std::vector<index_t> columns = some_of(kRows, n);
    for (const index_t n_rows : {1, 18}) {
      check_pair_numbers(*of_f64, some_of(kRows, n_rows), columns);
      check_pair_numbers(*of_f32, some_of(kRows, n_rows), columns);
      check_pair_numbers(*of_function, some_of(kRows, n_rows), columns);
    }
  }
}

CASE("an exception of a kernel function comes through") {
  const auto kernel = fastpu::make_function_kernel(
      5, [](const index_t*, index_t, const index_t*, index_t, double*) { throw std::runtime_error("not today"); });
  Team team(1);
  CHECK_THROWS(std::runtime_error, kernel->diagonal(0), "not today");
  CHECK_THROWS(std::runtime_error, values_of(*kernel, {0, 1}, {2, 3}, team), "not today");
}

CASE("values of a function that are not finite are refused with the rows") {
  Team team(1);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    const auto kernel = fastpu::make_function_kernel(
        9, [bad](const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out) {
          for (index_t k = 0; k < n_rows; ++k) {
            for (index_t c = 0; c < n_columns; ++c) out[k * n_columns + c] = rows[k] == 3 && columns[c] == 5 ? bad : 1;
          }
        });
    CHECK_THROWS(std::invalid_argument, values_of(*kernel, {0, 3}, {2, 5, 8}, team), "the kernel of rows 3 and 5 is ");
    CHECK(values_of(*kernel, {0, 4}, {2, 5, 8}, team)[0] == 1);
  }
}
