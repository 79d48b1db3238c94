#include "proxy/net/frames.hpp"

#include <array>
#include <new>

namespace proxy::net {
namespace {

constexpr std::size_t kStep = 64;       // sizes are rounded up to a multiple
constexpr std::size_t kLargest = 8192;  // a larger frame is never kept

struct Free {
  Free* next;
};

// Lists of free memory by size. They have no destructor, so they stay usable until their thread's
// end.
class FreeLists {
 public:
  void* take(std::size_t size) {
    Free*& list = lists_[size / kStep];
    if (!list) return nullptr;
    kept_ -= size;
    return std::exchange(list, list->next);
  }

  bool keep(void* memory, std::size_t size) {
    if (kept_ + size > FrameMemory::kKept) return false;
    Free*& list = lists_[size / kStep];
    list = new (memory) Free{list};
    kept_ += size;
    return true;
  }

  [[nodiscard]] std::size_t kept() const { return kept_; }

  // Keeps nothing from now on.
  void end() {
    for (Free*& list : lists_) {
      while (list) ::operator delete(std::exchange(list, list->next));
    }
    kept_ = FrameMemory::kKept;
  }

 private:
  std::array<Free*, kLargest / kStep + 1> lists_{};
  std::size_t kept_ = 0;
};

constinit thread_local FreeLists free_lists;

struct AtThreadsEnd {
  ~AtThreadsEnd() { free_lists.end(); }
  void exist() const {}
};
thread_local const AtThreadsEnd at_threads_end;

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
  if (kKeeps && size <= kLargest) {
    if (free_lists.kept() == 0) at_threads_end.exist();  // from its first use on
    if (free_lists.keep(memory, size)) return;
  }
  ::operator delete(memory);
}

std::size_t FrameMemory::kept() {
  return free_lists.kept();
}

}  // namespace proxy::net
