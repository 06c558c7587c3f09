// An owned array of plain values on a cache-line boundary. std::vector would neither align nor leave
// large arrays uninitialised, and would not say how many bytes could not be had.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "fastpu/types.hpp"

namespace fastpu {

// Memory that could not be had; what() says how much was wanted and for what.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(const std::string& what_for, unsigned long long bytes)
      : message_("cannot allocate " + std::to_string(bytes) + " bytes for " + what_for) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

namespace detail {

// Asks for large pages under a large array whose rows are visited out of order: with small ones, address translation
// costs more than the memory itself. A hint; nothing depends on its being followed.
inline void prefer_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  if (bytes < 2 * kHugePage) return;
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(data) + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kHugePage * kHugePage;
  if (first < end) static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
#endif
}

}  // namespace detail

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line

  AlignedBuffer() = default;
  // Uninitialised; `what_for` names the array in the error when the memory cannot be had.
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
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer() { ::operator delete(data_, std::align_val_t{kAlignment}); }

  // The same, every byte zero.
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
