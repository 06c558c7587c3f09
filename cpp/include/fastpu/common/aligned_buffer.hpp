// An owned array of plain values on a cache-line boundary. Unlike std::vector it is aligned, leaves large arrays
// uninitialised, and says how many bytes could not be allocated.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

// Memory could not be allocated; what() says how much and for what.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(const char* what_for, unsigned long long bytes) noexcept {
    std::array<char, 24> number{};
    std::to_chars(number.data(), number.data() + number.size() - 1, bytes);
    for (const char* const part :
         {"cannot allocate ", static_cast<const char*>(number.data()), " bytes for ", what_for})
      append(part);
  }
  const char* what() const noexcept override { return message_.data(); }

 private:
  // Text that does not fit is cut off: there may be no memory for a string of any length either.
  void append(const char* part) noexcept {
    const std::size_t n = std::min(std::strlen(part), message_.size() - 1 - size_);
    std::memcpy(message_.data() + size_, part, n);
    size_ += n;
  }

  std::array<char, 160> message_{};
  std::size_t size_ = 0;
};

namespace detail {

// Asks for large pages under a large array whose rows are visited out of order: with small ones, address translation
// costs more than the memory itself. A hint; nothing depends on its being followed.
void prefer_huge_pages(void* data, std::size_t bytes) noexcept;

}  // namespace detail

// Returns allocate(n), which makes or grows a container of n values of T. If there is no memory, throws OutOfMemory in
// place of a bare std::bad_alloc. For containers whose size depends on the data.
template <class T, class Allocate>
auto or_out_of_memory(index_t n, const char* what_for, Allocate&& allocate) {
  const auto bytes = static_cast<unsigned long long>(n) * sizeof(T);
  try {
    return allocate(static_cast<std::size_t>(n));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(what_for, bytes);
  } catch (const std::length_error&) {
    throw OutOfMemory(what_for, bytes);
  }
}

// A vector of n values T().
template <class T>
std::vector<T> make_vector(index_t n, const char* what_for) {
  return or_out_of_memory<T>(n, what_for, [](std::size_t size) { return std::vector<T>(size); });
}

// An empty vector with room for n values.
template <class T>
std::vector<T> reserve_vector(index_t n, const char* what_for) {
  return or_out_of_memory<T>(n, what_for, [](std::size_t size) {
    std::vector<T> values;
    values.reserve(size);
    return values;
  });
}

// Makes room for n more values, and for twice as many as before, so that adding few at a time does not copy too often.
template <class T>
void reserve_more(std::vector<T>& values, index_t n, const char* what_for) {
  const std::size_t wanted = values.size() + static_cast<std::size_t>(n);
  if (wanted <= values.capacity()) return;
  or_out_of_memory<T>(static_cast<index_t>(std::max(wanted, 2 * values.capacity())), what_for,
                      [&](std::size_t size) { values.reserve(size); });
}

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line

  AlignedBuffer() = default;
  // Uninitialised; `what_for` names the array in the error if there is no memory for it.
  AlignedBuffer(index_t size, const char* what_for) : size_(size) {
    if (size_ == 0) return;
    const auto count = static_cast<unsigned long long>(size_);
    if (size_ < 0 || count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) {
      throw OutOfMemory(what_for, count * sizeof(T));
    }
    data_ = static_cast<T*>(
        ::operator new(static_cast<std::size_t>(count) * sizeof(T), std::align_val_t{kAlignment}, std::nothrow));
    if (data_ == nullptr) throw OutOfMemory(what_for, count * sizeof(T));
    detail::prefer_huge_pages(data_, bytes());
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBuffer() { ::operator delete(data_, std::align_val_t{kAlignment}); }

  // A buffer whose bytes are all zero.
  static AlignedBuffer zeros(index_t size, const char* what_for) {
    AlignedBuffer buffer(size, what_for);
    buffer.clear();
    return buffer;
  }
  void clear() {
    if (size_ > 0) std::memset(static_cast<void*>(data_), 0, bytes());
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  index_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  bool empty() const { return size_ == 0; }
  T& operator[](index_t i) {
    assert(i >= 0 && i < size_);
    return data_[i];
  }
  const T& operator[](index_t i) const {
    assert(i >= 0 && i < size_);
    return data_[i];
  }

 private:
  T* data_ = nullptr;
  index_t size_ = 0;
};

}  // namespace fastpu
