#include "proxy/machine/return_freed.hpp"

#include <cstddef>

// Not from jemalloc's header: a weak symbol is null in a program without jemalloc.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, std::size_t* old_size,
                                     void* new_value, std::size_t new_size) noexcept;

namespace proxy::memory {

namespace {

// 4096: of all arenas (MALLCTL_ARENAS_ALL).
void order(const char* what) {
  if (mallctl != nullptr) mallctl(what, nullptr, nullptr, nullptr, 0);
}

}  // namespace

void return_freed() {
  order("arena.4096.decay");
}

void return_all_freed() {
  order("arena.4096.purge");
}

}  // namespace proxy::memory
