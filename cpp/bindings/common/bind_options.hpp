// How the core's Options structs cross from Python: bound as they are, so that a parameter has one name in Python and
// one in C++. _core.ForestOptions(n_trees=3, loss="gini") sets these fields and leaves the others at their defaults; a
// name that is no field raises AttributeError.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

namespace fastpu {

namespace py = pybind11;

template <class Options>
class OptionsBinding {
 public:
  OptionsBinding(py::module_& module, const char* name) : class_(module, name) {
    class_.def(py::init([](const py::kwargs& fields) {
      auto options = std::make_unique<Options>();
      const py::object self = py::cast(options.get(), py::return_value_policy::reference);
      for (const auto& [field, value] : fields) py::setattr(self, field, value);
      return options;
    }));
  }

  // A number or a truth value.
  template <class Base, class Value>
  OptionsBinding& field(const char* name, Value Base::* member) {
    class_.def_readwrite(name, member);
    return *this;
  }

  // A value of an enumeration, which Python names by a word.
  template <class Base, class Value>
  OptionsBinding& choice(const char* name, Value Base::* member,
                         std::initializer_list<std::pair<const char*, Value>> words) {
    const std::vector<std::pair<std::string, Value>> table(words.begin(), words.end());
    class_.def_property(
        name,
        [member, table](const Options& options) {
          for (const auto& [word, value] : table) {
            if (value == options.*member) return word;
          }
          throw py::value_error("a value without a word");
        },
        [member, table, name = std::string(name)](Options& options, const std::string& given) {
          for (const auto& [word, value] : table) {
            if (word == given) {
              options.*member = value;
              return;
            }
          }
          throw py::value_error(name + " has no value '" + given + "'");
        });
    return *this;
  }

 private:
  py::class_<Options> class_;
};

}  // namespace fastpu
