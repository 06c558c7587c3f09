// How the members of a fit on several machines put together what each of them has found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace fastpu {

// Each member holds some of the rows. All of them make the same calls in the same order: each gives its own numbers,
// and all get the same answer. A member without rows, which only follows the others, gives nothing and gets the answer
// too.
class MemberExchange {
 public:
  MemberExchange() = default;
  MemberExchange(const MemberExchange&) = delete;
  MemberExchange& operator=(const MemberExchange&) = delete;
  virtual ~MemberExchange() = default;

  // Replaces the numbers by their sums over the members.
  virtual void add(std::span<std::int64_t> numbers) = 0;
  // Replaces the numbers by the largest that a member has.
  virtual void take_largest(std::span<double> numbers) = 0;
  // Returns the bytes of one member after the other, in the order of the members.
  virtual std::string join(std::span<const std::byte> bytes) = 0;

  // Returns the records of all members, in the order of the members.
  template <class Record>
  std::vector<Record> join_records(const std::vector<Record>& own) {
    const std::string bytes = join(std::as_bytes(std::span(own)));
    std::vector<Record> records(bytes.size() / sizeof(Record));
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
    return records;
  }
};

}  // namespace fastpu
