#include "proxy/server/giving_way.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "proxy/machine/limits.hpp"
#include "proxy/machine/memory.hpp"
#include "proxy/pages/health.hpp"

namespace proxy::server {
namespace {

constexpr std::uint64_t kLeast = std::uint64_t{16} << 20;
constexpr std::chrono::minutes kCalm{10};
constexpr std::uint64_t kSteps = 16;  // back to the full size

}  // namespace

// The descriptor is a copy, since asio closes what it is given, and the reserve uses its own.
GivingWay::GivingWay(net::asio::io_context& aside, Storage& storage, tiers::Tiers& tiers)
    : storage_(storage),
      tiers_(tiers),
      failed_(aside, ::dup(reserve_.failed().descriptor())),
      calm_(aside.get_executor()) {}

void GivingWay::start() {
  reserve_.failed().set();
  await_failure();
}

void GivingWay::await_failure() {
  failed_.async_wait(net::asio::posix::descriptor_base::wait_read, [this](net::error_code error) {
    if (error) return;
    try {
      if (reserve_.failed().rang()) give_way();
    } catch (const std::bad_alloc&) {
      // The next allocation that fails rings again.
    }
    reserve_.failed().set();
    await_failure();
  });
}

void GivingWay::give_way() {
  auto& budget = storage_.budget;
  auto& full = tiers_.reduced_from;
  if (full == 0) full = budget.limit();
  // An eighth of what is held, not of the limit: only memory in use can be given up.
  const auto held = std::min(budget.used(), budget.limit());
  const auto limit = std::min(budget.limit(), std::max(kLeast, held - held / 8));
  storage_.limit_memory(limit);
  // To the system, or the allocator keeps it for itself and the next large allocation fails, too.
  machine::memory::return_all_freed();
  reserve_.refill();
  spdlog::error("memory: {}", pages::text_of_reduced(limit, full));
  grow_later();
}

void GivingWay::grow_later() {
  // Under a limit of the process itself the memory would run out again.
  if (machine::is_address_space_limited()) return;
  calm_.expires_after(kCalm);
  calm_.async_wait([this](net::error_code error) {
    if (!error) grow();
  });
}

void GivingWay::grow() {
  const std::uint64_t full = tiers_.reduced_from;
  if (full == 0) return;
  // In small steps: what took the memory before may still take it.
  const auto limit = std::min(full, storage_.budget.limit() + full / kSteps);
  storage_.limit_memory(limit);
  reserve_.refill();
  if (limit < full) return grow_later();
  begin_anew();
  spdlog::info("memory: the cache may take {} MiB again", limit >> 20);
}

void GivingWay::begin_anew() {
  tiers_.reduced_from = 0;
  calm_.cancel();
}

}  // namespace proxy::server
