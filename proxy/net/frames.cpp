#include "proxy/net/frames.hpp"

#include <array>
#include <new>

namespace proxy::net {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

constexpr std::size_t kStep = 64;       // sizes are rounded up to a multiple
constexpr std::size_t kLargest = 8192;  // a larger frame is never kept

struct Free {
  Free* next;
};

// Lists of free memory by size.
class FreeLists {
 public:
  FreeLists() = default;
  ~FreeLists() {
    for (Free* list : lists_) {
      while (list) ::operator delete(std::exchange(list, list->next));
    }
    lists_ = {};
    kept_ = FrameMemory::kKept;  // a coroutine that ends after this keeps nothing
  }
  FreeLists(const FreeLists&) = delete;
  FreeLists& operator=(const FreeLists&) = delete;

  void* take(std::size_t size) {
    Free*& list = lists_[size / kStep];
    if (!list) return nullptr;
    kept_ -= size;
    return std::exchange(list, list->next);
  }

  [[nodiscard]] std::size_t kept() const { return kept_; }

  bool keep(void* memory, std::size_t size) {
    if (kept_ + size > FrameMemory::kKept) return false;
    Free*& list = lists_[size / kStep];
    list = new (memory) Free{list};
    kept_ += size;
    return true;
  }

 private:
  std::array<Free*, kLargest / kStep + 1> lists_{};
  std::size_t kept_ = 0;
};

thread_local FreeLists free_lists;

constexpr std::size_t rounded(std::size_t size) {
  return (size + kStep - 1) / kStep * kStep;
}

}  // namespace

void* FrameMemory::take(std::size_t size) {
  size = rounded(size);
  if (kKeeps && size <= kLargest) {
    if (void* const memory = free_lists.take(size)) return memory;
  }
  return ::operator new(size);
}

void FrameMemory::give_back(void* memory, std::size_t size) noexcept {
  size = rounded(size);
  if (kKeeps && size <= kLargest && free_lists.keep(memory, size)) return;
  ::operator delete(memory);
}

std::size_t FrameMemory::kept() {
  return free_lists.kept();
}

}  // namespace proxy::net
