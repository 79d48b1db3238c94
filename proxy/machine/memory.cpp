#include "proxy/machine/memory.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <new>

// Not from jemalloc's header: a weak symbol is null in a program without jemalloc.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, std::size_t* old_size,
                                     void* new_value, std::size_t new_size) noexcept;

namespace proxy::machine::memory {
namespace {

constexpr std::size_t kBytes = std::size_t{16} << 20;

std::atomic<Reserve*> the_reserve = nullptr;

void order(const char* what) {
  if (mallctl != nullptr) mallctl(what, nullptr, nullptr, nullptr, 0);
}

}  // namespace

Reserve::Reserve() {
  refill();
  the_reserve = this;
  std::set_new_handler(on_failure);
}

Reserve::~Reserve() {
  std::set_new_handler(nullptr);
  the_reserve = nullptr;
  if (void* const held = held_.exchange(nullptr)) ::munmap(held, kBytes);
}

void Reserve::refill() {
  if (held_) return;
  // Address space alone: pages that nobody touches take no memory (MAP_NORESERVE).
  void* const fresh = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return;
  if (void* const before = held_.exchange(fresh)) ::munmap(before, kBytes);
}

// The caller may hold any lock, so memory is given up elsewhere. operator new tries again if this
// returns.
void Reserve::on_failure() {
  Reserve* const reserve = the_reserve;
  if (!reserve) throw std::bad_alloc();
  reserve->failed_.ring();
  void* const held = reserve->held_.exchange(nullptr);
  if (!held) throw std::bad_alloc();
  ::munmap(held, kBytes);
}

// 4096: of all arenas (MALLCTL_ARENAS_ALL).
void return_freed() {
  order("arena.4096.decay");
}
void return_all_freed() {
  order("arena.4096.purge");
}

}  // namespace proxy::machine::memory
