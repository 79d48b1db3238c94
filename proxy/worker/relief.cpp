#include "proxy/worker/relief.hpp"

#include <algorithm>
#include <vector>

#include "proxy/worker/worker.hpp"

namespace proxy {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kFull = 1s;      // how long a cache that had no room counts as full
constexpr auto kFresh = 500ms;  // how old what other threads have counted may be

struct Candidates {
  std::vector<SessionList::Item*> items;
  std::vector<Holder> holders;
  std::uint64_t freed = 0;

  void add(SessionList::Item& item, const Unread& unread) {
    if (unread.bytes == 0) return;
    items.push_back(&item);
    holders.push_back({.client = &item.guest().share(), .unread = unread});
    freed += unread.freed;
  }
};

Candidates responses_of(SessionList& sessions) {
  Candidates found;
  for (auto& item : sessions.items()) found.add(item, item.count_unread());
  for (auto& holder : found.holders) {
    holder.client_bytes = holder.client->unread_bytes;
    holder.client_freed = holder.client->transit_bytes;
  }
  return found;
}

Candidates heads_of(SessionList& sessions) {
  Candidates found;
  for (auto& item : sessions.items()) found.add(item, item.held_head());
  for (auto& holder : found.holders) holder.client_freed = holder.client->head_bytes;
  return found;
}

// This thread's part of `excess`, which is as large as its part of what all threads could free.
std::uint64_t part_of(std::uint64_t excess, const Candidates& here, std::uint64_t everywhere) {
  if (here.freed == 0) return 0;
  const auto part =
      static_cast<double>(here.freed) / static_cast<double>(std::max(here.freed, everywhere));
  return static_cast<std::uint64_t>(static_cast<double>(excess) * part) + 1;
}

bool is_short(const Process& process, Clock::time_point now) {
  return pressure_on(process.transit) != Pressure::none ||
         process.cache.found_no_room.within(kFull, now);
}

Need need_of(const Worker& worker, const Candidates& here) {
  auto& process = worker.process;
  const auto pressure = pressure_on(process.transit);
  Need need{.per_client = worker.policy()->settings.bytes_per_client().value};
  if (pressure < Pressure::critical) return need;
  const auto wanted = process.transit.limit() / 4 * 5 + process.leaving_bytes;
  const auto used = process.transit.used();
  if (used > wanted) need.freed = part_of(used - wanted, here, process.unread_in_transit);
  need.most = process.clients.most_of_one(&ClientShare::transit_bytes);
  need.patience = pressure == Pressure::full ? 0s : 1s;
  need.patience_with_sources = pressure == Pressure::full ? 1s : Need::kStalled;
  return need;
}

}  // namespace

Relief::Relief(Worker& worker) : Watched(worker.deadlines), worker_(worker) {}

bool Relief::Pause::is_over() {
  const auto now = Clock::now();
  if (now < since + kPause) return false;
  since = now;
  return true;
}

void Relief::start() {
  expires_after(Clock::duration::zero());
}

void Relief::on_expiry() {
  look();
  cut_heads();
  start();
}

void Relief::look_everywhere() {
  look();
  const auto& everywhere = worker_.process.on_each_worker;
  if (everywhere && look_elsewhere_.is_over())
    everywhere([](Worker& worker) { worker.relief.look(); });
}

void Relief::cut_heads_everywhere() {
  cut_heads();
  const auto& everywhere = worker_.process.on_each_worker;
  if (everywhere && cut_heads_elsewhere_.is_over())
    everywhere([](Worker& worker) { worker.relief.cut_heads(); });
}

void Relief::look() {
  const auto now = Clock::now();
  const bool others_have_counted = now < look_.since + kFresh;
  if (!is_short(worker_.process, now) || !look_.is_over()) return;
  const auto here = responses_of(worker_.sessions);
  if (!others_have_counted) return;
  const auto cut = whom_to_cut(here.holders, need_of(worker_, here), now);
  for (const auto index : cut) here.items[index]->cut(Cut::stalled);
  if (!cut.empty()) worker_.process.warnings.warn(Shortage::memory, now);
}

// Goes a little below the limit, so that not each further piece begins a search.
void Relief::cut_heads() {
  const auto limit = worker_.policy()->settings.limits.heads.value;
  const auto used = worker_.process.head_bytes.load();
  if (used <= limit || !cut_heads_.is_over()) return;
  const auto here = heads_of(worker_.sessions);
  const Need need{.per_client = ~std::uint64_t{0},
                  .freed = part_of(used - limit + limit / 16, here, used),
                  .most = worker_.process.clients.most_of_one(&ClientShare::head_bytes),
                  .patience = 0s,
                  .patience_with_sources = 0s};
  const auto now = Clock::now();
  const auto cut = whom_to_cut(here.holders, need, now);
  for (const auto index : cut) here.items[index]->cut(Cut::heads);
  if (!cut.empty()) worker_.process.warnings.warn(Shortage::heads, now);
}

}  // namespace proxy
