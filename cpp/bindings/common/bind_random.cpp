#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/arguments.hpp"
#include "fastpu/common/random.hpp"

namespace fastpu {

namespace {

py::array_t<std::uint64_t> mix(const py::object& values) {
  const auto n = static_cast<index_t>(py::len(values));
  const auto* from = view_1d<std::uint64_t>(values, "values", n);
  return to_array(unlocked([&] {
    std::vector<std::uint64_t> mixed(at(n));
    std::transform(from, from + n, mixed.begin(), Random::mixed);
    return mixed;
  }));
}

py::array_t<std::uint64_t> derive(std::uint64_t seed, const py::object& numbers) {
  const auto n = static_cast<index_t>(py::len(numbers));
  const auto* from = view_1d<index_t>(numbers, "numbers", n);
  return to_array(unlocked([&] {
    std::vector<std::uint64_t> derived(at(n));
    std::transform(from, from + n, derived.begin(),
                   [seed](index_t k) { return Random::derived(seed, static_cast<std::uint64_t>(k)); });
    return derived;
  }));
}

}  // namespace

void bind_random(py::module_& module) {
  module.def("mixed_bits", &mix, py::arg("values"));
  module.def("derived_numbers", &derive, py::arg("seed"), py::arg("numbers"));
}

}  // namespace fastpu
