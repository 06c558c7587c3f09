#include "svm/working_kernel.hpp"

#include <algorithm>
#include <utility>

#include "kernels/svm_kernels.hpp"

namespace fastpu::detail {

template <class T>
WorkingKernel<T>::WorkingKernel(const Kernel<T>& kernel, const std::vector<index_t>& rows, index_t capacity)
    : kernel_(kernel),
      rows_(rows),
      stride_(round_up(capacity, kKernelPanel) + kSmoLane),  // no power of two: entries of a column share no cache set
      values_(AlignedBuffer<T>::zeros(capacity * stride_, "the kernel matrix of a working set")),
      variables_(at(capacity), -1),
      places_(rows.size(), -1),
      fresh_(kRowsAtOnce * stride_, "the kernel matrix of a working set") {}

template <class T>
void WorkingKernel<T>::hold(const std::vector<index_t>& variables, Team& team) {
  std::vector<index_t> arriving;
  for (const index_t i : variables) {
    if (places_[at(i)] < 0) arriving.push_back(i);
  }
  const std::vector<index_t> before = std::exchange(variables_, std::vector<index_t>(variables_.size(), -1));
  for (const index_t i : variables) {
    if (places_[at(i)] >= 0) variables_[at(places_[at(i)])] = i;
  }
  auto next = variables_.begin();
  for (const index_t i : arriving) {
    next = std::find(next, variables_.end(), -1);
    *next = i;
  }
  for (const index_t i : before) {
    if (i >= 0) places_[at(i)] = -1;
  }
  n_used_ = 0;
  for (index_t place = 0; place < capacity(); ++place) {
    if (variable(place) < 0) continue;
    places_[at(variable(place))] = place;
    n_used_ = place + 1;
  }
  if (!arriving.empty()) compute(arriving, team);
}

// Computes the rows and columns of variables that had no place.
template <class T>
void WorkingKernel<T>::compute(const std::vector<index_t>& arriving, Team& team) {
  std::vector<index_t> places;  // in use
  std::vector<index_t> columns;
  for (index_t place = 0; place < n_used_; ++place) {
    if (variable(place) < 0) continue;
    places.push_back(place);
    columns.push_back(rows_[at(variable(place))]);
  }
  const auto n = static_cast<index_t>(columns.size());
  const auto packed = kernel_.pack(columns.data(), n, team);
  const auto n_arriving = static_cast<index_t>(arriving.size());
  for (index_t first = 0; first < n_arriving; first += kRowsAtOnce) {
    const index_t n_now = std::min(kRowsAtOnce, n_arriving - first);
    index_t numbers[kRowsAtOnce];
    T* out[kRowsAtOnce];
    for (index_t r = 0; r < n_now; ++r) {
      numbers[r] = rows_[at(arriving[at(first + r)])];
      out[r] = fresh_.data() + r * stride_;
    }
    kernel_.fill(numbers, n_now, *packed, 0, n, out, 0);
    index_t places_of_fresh[kRowsAtOnce];
    for (index_t r = 0; r < n_now; ++r) {
      places_of_fresh[r] = places_[at(arriving[at(first + r)])];
      T* row = values_.data() + places_of_fresh[r] * stride_;
      for (index_t c = 0; c < n; ++c) row[places[at(c)]] = out[r][c];
    }
    // The columns of all these rows in one pass, since the entries of one column lie far from each other.
    for (index_t c = 0; c < n; ++c) {
      T* row = values_.data() + places[at(c)] * stride_;
      for (index_t r = 0; r < n_now; ++r) row[places_of_fresh[r]] = out[r][c];
    }
  }
}

template class WorkingKernel<float>;
template class WorkingKernel<double>;

}  // namespace fastpu::detail
