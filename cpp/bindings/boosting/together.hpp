// What the members of a fit on several machines tell each other.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/arguments.hpp"

namespace fastpu {

// Every member makes the same calls in the same order; each brings its part, and all get the whole. A member without
// rows brings nothing. The GIL is taken for every call.
class Together {
 public:
  // bring(how, part) is a function of Python that returns bytes: the sums of all 64-bit integers ("add"), the largest
  // of all doubles ("max"), or the parts one after the other ("join"), in the order of the members.
  Together(py::object bring, bool has_rows) : bring_(std::move(bring)), has_rows_(has_rows) {}

  void add(std::span<std::int64_t> numbers) const { exchange("add", numbers); }
  void take_largest(std::span<double> numbers) const { exchange("max", numbers); }

  template <class T>
  std::vector<T> join(const std::vector<T>& own) const {
    const std::string all = call("join", std::as_bytes(std::span(own)));
    std::vector<T> joined(all.size() / sizeof(T));
    std::memcpy(joined.data(), all.data(), joined.size() * sizeof(T));
    return joined;
  }

 private:
  template <class T>
  void exchange(const char* how, std::span<T> numbers) const {
    const std::string all = call(how, has_rows_ ? std::as_bytes(numbers) : std::span<const std::byte>());
    if (all.size() != numbers.size_bytes()) throw py::value_error("the members of a fit are not at the same call");
    std::memcpy(numbers.data(), all.data(), all.size());
  }

  std::string call(const char* how, std::span<const std::byte> part) const {
    const py::gil_scoped_acquire gil;
    return bring_(how, py::bytes(reinterpret_cast<const char*>(part.data()), part.size())).template cast<std::string>();
  }

  py::object bring_;
  bool has_rows_;
};

}  // namespace fastpu
