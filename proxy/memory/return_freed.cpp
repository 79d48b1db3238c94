#include "proxy/memory/return_freed.hpp"

#include <cstddef>

// Not from jemalloc's header: a weak symbol is null in a program without jemalloc.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, std::size_t* old_size,
                                     void* new_value, std::size_t new_size) noexcept;

namespace proxy::memory {

void return_freed() {
  if (mallctl == nullptr) return;
  mallctl("arena.4096.decay", nullptr, nullptr, nullptr, 0);  // 4096: all (MALLCTL_ARENAS_ALL)
}

}  // namespace proxy::memory
