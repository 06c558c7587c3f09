// How the core's structs cross to and from Python: as they are, so that a field has one name in Python and one in C++.
//
//     FASTPU_WORDS(ConvexPuLoss, "logistic", "squared")
//     FASTPU_FIELDS(UpuOptions, loss, prior, lam, tol, max_iter)
//
// A value of an enumeration is a word in Python, and a vector of numbers an array.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/arguments.hpp"

namespace fastpu {

// NOLINTBEGIN(bugprone-macro-parentheses): Enum and Struct are types

// The words for the values of an enumeration, in their order.
template <class Enum>
inline constexpr int kWords = 0;
#define FASTPU_WORDS(Enum, ...) \
  template <>                   \
  inline constexpr auto kWords<Enum> = std::to_array<const char*>({__VA_ARGS__});

// A struct with those of its fields that Python knows.
template <class Struct>
struct Fields;
#define FASTPU_FIELDS(Struct, ...)                      \
  template <>                                           \
  struct Fields<Struct> : Struct {                      \
    static constexpr const char* kNames = #__VA_ARGS__; \
    auto values() { return std::tie(__VA_ARGS__); }     \
  };

// NOLINTEND(bugprone-macro-parentheses)

template <std::size_t k>
using Place = std::integral_constant<std::size_t, k>;

// Calls visit(name, Place<k>()) for every field, where std::get<k>(values()) is the field.
template <class Struct, class Visit>
void for_fields(Visit&& visit) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> split;
    std::istringstream list(Fields<Struct>::kNames);
    for (std::string name; std::getline(list >> std::ws, name, ',');) split.push_back(name);
    return split;
  }();
  using Values = decltype(std::declval<Fields<Struct>>().values());
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (visit(names[k], Place<k>()), ...);
  }(std::make_index_sequence<std::tuple_size_v<Values>>());
}

template <class Enum>
const char* word_of(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

// The value of a word; `name` says in the message what the word is.
template <class Enum>
Enum value_of(const std::string& word, const std::string& name) {
  for (std::size_t k = 0; k < kWords<Enum>.size(); ++k) {
    if (word == kWords<Enum>[k]) return static_cast<Enum>(k);
  }
  throw py::value_error(name + " has no value '" + word + "'");
}

template <class Value>
py::object to_python(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return py::str(word_of(value));
  } else {
    return py::cast(value);
  }
}

template <class Value>
py::object to_python(const std::vector<Value>& values) {
  if constexpr (std::is_enum_v<Value>) {
    py::list words;
    for (const Value value : values) words.append(word_of(value));
    return words;
  } else {
    return to_array(values);
  }
}

// Options(field=value, ...) sets these fields and leaves the others at their defaults; every field is a property. The
// stub, _core.pyi, lists the fields with their types, and stubtest compares it with the properties.
template <class Options>
void bind_options(const py::module_& module, const char* name) {
  py::class_<Options> bound(module, name);
  bound.def(py::init([name](const py::kwargs& passed) {
    Fields<Options> options{};
    std::size_t n_set = 0;
    for_fields<Options>([&]<std::size_t k>(const std::string& field, Place<k>) {
      if (!passed.contains(field)) return;
      auto& value = std::get<k>(options.values());
      using Value = std::remove_reference_t<decltype(value)>;
      const py::object from = passed[field.c_str()];
      if constexpr (std::is_enum_v<Value>) {
        value = value_of<Value>(from.cast<std::string>(), field);
      } else {
        value = from.cast<Value>();
      }
      ++n_set;
    });
    if (n_set < passed.size()) {
      throw py::type_error(std::string(name) + " has the fields " + Fields<Options>::kNames + ", got " +
                           py::repr(passed).cast<std::string>());
    }
    return Options(std::move(options));
  }));
  for_fields<Options>([&]<std::size_t k>(const std::string& field, Place<k>) {
    bound.def_property_readonly(field.c_str(), [](const Options& options) {
      Fields<Options> fields{{options}};
      return to_python(std::get<k>(fields.values()));
    });
  });
}

// A result as a class with a property for each field; what is returned to Python is a Fields<Result>.
template <class Result>
py::class_<Fields<Result>> bind_result(const py::module_& module, const char* name) {
  py::class_<Fields<Result>> bound(module, name);
  for_fields<Result>([&]<std::size_t k>(const std::string& field, Place<k>) {
    bound.def_property_readonly(field.c_str(),
                                [](Fields<Result>& result) { return to_python(std::get<k>(result.values())); });
  });
  return bound;
}

// A function that calls Python with what a round or a step came to, and returns whether the fit is to end; empty for
// None. `callback` must outlive it.
template <class Round>
std::function<bool(const Round&)> callback_of(const py::object& callback) {
  if (callback.is_none()) return {};
  return [&callback](const Round& round) {
    const py::gil_scoped_acquire gil;
    return std::apply(callback, Fields<Round>{{round}}.values()).template cast<bool>();
  };
}

}  // namespace fastpu
