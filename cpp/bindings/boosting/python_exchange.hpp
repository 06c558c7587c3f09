// The exchange between the members of a fit by a function of Python.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "common/arguments.hpp"
#include "fastpu/boosting/member_exchange.hpp"

namespace fastpu {

class PythonExchange final : public MemberExchange {
 public:
  // exchange(operation, own) takes the bytes of this member's numbers, none if it has no rows, and returns the bytes of
  // the answer: the sums of all 64-bit integers for "add", the largest of all doubles for "largest", and the bytes of
  // one member after the other for "join". The GIL is taken for every call.
  PythonExchange(py::object exchange, bool has_rows) : exchange_(std::move(exchange)), has_rows_(has_rows) {}

  void add(std::span<std::int64_t> numbers) override { replace("add", numbers); }
  void take_largest(std::span<double> numbers) override { replace("largest", numbers); }
  std::string join(std::span<const std::byte> bytes) override { return call("join", bytes); }

 private:
  template <class Number>
  void replace(const char* operation, std::span<Number> numbers) {
    const std::string answer = call(operation, has_rows_ ? std::as_bytes(numbers) : std::span<const std::byte>());
    if (answer.size() != numbers.size_bytes()) throw py::value_error("the members of a fit are not at the same call");
    std::memcpy(numbers.data(), answer.data(), answer.size());
  }

  std::string call(const char* operation, std::span<const std::byte> own) {
    const py::gil_scoped_acquire gil;
    const py::bytes bytes(reinterpret_cast<const char*>(own.data()), own.size());
    return exchange_(operation, bytes).template cast<std::string>();
  }

  py::object exchange_;
  bool has_rows_;
};

}  // namespace fastpu
