#include "proxy/net/frames.hpp"

namespace proxy::net {

constinit thread_local FrameMemory::Lists FrameMemory::lists_;

struct FrameMemory::AtThreadsEnd {
  // Keeps nothing from now on.
  ~AtThreadsEnd() {
    lists_.room = 0;
    for (Free*& list : lists_.of_size) {
      while (list) ::operator delete(std::exchange(list, list->next));
    }
  }
  void exist() const {}
};

void FrameMemory::give_back_slowly(void* memory, std::size_t size) noexcept {
  // A thread that frees nothing never gets here, so it needs no destructor at its end.
  static thread_local const AtThreadsEnd at_threads_end;
  if (kKeeps && !lists_.begun) {
    lists_.begun = true;
    lists_.room = kKept;
    at_threads_end.exist();
  }
  if (!kKeeps || size > lists_.room || size > kLargest) return ::operator delete(memory);
  keep(memory, size);
}

std::size_t FrameMemory::kept() {
  return lists_.begun ? kKept - lists_.room : 0;
}

}  // namespace proxy::net
