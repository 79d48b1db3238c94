#include "proxy/machine/reserve.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace proxy::memory {
namespace {

constexpr std::size_t kBytes = std::size_t{16} << 20;

std::atomic<Reserve*> the_reserve = nullptr;

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

}  // namespace proxy::memory
