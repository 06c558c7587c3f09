// A test program in one header: CASE("name") { CHECK(...); } in any number of .cpp files, no library to fetch.
//
// CHECK reports and goes on; REQUIRE ends the case. CHECK_THROWS(type, expression, "part of the message").
// A program takes part of a case's name as argument to run only the cases that contain it.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace check {

struct Case {
  const char* name;
  std::function<void()> run;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
inline std::atomic<int>& n_failures() {  // checks may run in any thread
  static std::atomic<int> count{0};
  return count;
}

struct Register {
  Register(const char* name, std::function<void()> run) { cases().push_back({name, std::move(run)}); }
};

struct CaseEnded {};

inline bool report(bool holds, const char* file, int line, const std::string& text) {
  if (!holds) {
    ++n_failures();
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text.c_str());
  }
  return holds;
}

template <class Exception, class Function>
void throws(Function function, const std::string& part, const char* file, int line, const std::string& text) {
  try {
    function();
  } catch (const Exception& error) {
    const std::string message = error.what();
    report(message.find(part) != std::string::npos, file, line,
           text + " says \"" + message + "\", not \"" + part + "\"");
    return;
  } catch (...) {
    report(false, file, line, text + " throws something else");
    return;
  }
  report(false, file, line, text + " does not throw");
}

inline bool close(double a, double b, double relative) {
  return a == b || std::abs(a - b) <= relative * std::fmax(1.0, std::fmax(std::abs(a), std::abs(b)));
}

inline int run_all(std::string_view wanted) {
  int n_run = 0;
  for (const Case& item : cases()) {
    if (std::string_view(item.name).find(wanted) == std::string_view::npos) continue;
    ++n_run;
    const int before = n_failures();
    try {
      item.run();
    } catch (const CaseEnded&) {  // NOLINT(bugprone-empty-catch): REQUIRE has reported
    } catch (const std::exception& error) {
      report(false, item.name, 0, std::string("exception: ") + error.what());
    }
    if (n_failures() != before) std::fprintf(stderr, "FAILED  %s\n", item.name);
  }
  std::printf("%d cases, %d failures\n", n_run, n_failures().load());
  return n_failures() == 0 && n_run > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)
#define CASE_NAMED_(name, function)                                     \
  static void function();                                               \
  static const check::Register CHECK_JOIN(function, _)(name, function); \
  static void function()
#define CASE(name) CASE_NAMED_(name, CHECK_JOIN(case_at_line_, __LINE__))
#define CHECK(condition) check::report(static_cast<bool>(condition), __FILE__, __LINE__, #condition)
#define REQUIRE(condition)                        \
  if (!CHECK(condition)) throw check::CaseEnded { \
    }
#define CHECK_THROWS(type, expression, part) \
  check::throws<type>([&] { static_cast<void>(expression); }, part, __FILE__, __LINE__, #expression)

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language says so
  return check::run_all(argc > 1 ? argv[1] : "");
}
