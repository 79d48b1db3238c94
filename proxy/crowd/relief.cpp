#include "proxy/crowd/relief.hpp"

#include <algorithm>
#include <vector>

#include "proxy/crowd/crowd.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy::crowd {
namespace {

using Steady = machine::Clock::SteadyTime;
using namespace std::chrono_literals;

constexpr auto kFull = 1s;      // how long a cache that had no room counts as full
constexpr auto kFresh = 500ms;  // how old what other threads have counted may be
// A thread looks so seldom only while less than this part of the memory is used. Then a burst at
// 1 Gbit/s needs longer than the pause to fill the rest of the default limits.
constexpr auto kPauseIfFar = 500ms;
constexpr int kFarBelow = 8;
// How long a request waits for room, and how often it looks whether there is some.
constexpr auto kLongestWait = 1s;
constexpr auto kBetweenLooks = 4ms;

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
  // One byte at least, since rounding down would let every thread off.
  return static_cast<std::uint64_t>(static_cast<double>(excess) * part) + 1;
}

bool is_short(const Relief::Needs& needs, Steady now) {
  return pressure_on(needs.transit) != Pressure::none || needs.found_no_room.within(kFull, now);
}

Need need_of(const Relief::Needs& needs, Crowd& crowd, const Candidates& here) {
  const auto pressure = pressure_on(needs.transit);
  Need need{.per_client = needs.policy->settings.bytes_per_client().value};
  if (pressure < Pressure::critical) return need;
  // A quarter above the limit: so low that the next body does not begin this again. Below that, the
  // small windows of scarce memory (window_at()) suffice without a cut.
  const auto wanted = needs.transit.limit() / 4 * 5 + crowd.leaving_bytes;
  const auto used = needs.transit.used();
  if (used > wanted) need.freed = part_of(used - wanted, here, crowd.unread_in_transit);
  need.most = crowd.clients.most_of_one(&ClientShare::transit_bytes);
  need.patience = pressure == Pressure::full ? 0s : 1s;
  need.patience_with_sources = pressure == Pressure::full ? 1s : Need::kStalled;
  return need;
}

}  // namespace

Relief::Relief(CrowdOfThread& crowd, const Needs& needs)
    : Watched(needs.deadlines), crowd_(crowd), needs_(needs) {}

bool Relief::Pause::is_over(Time now) {
  if (now < since + kPause) return false;
  since = now;
  return true;
}

void Relief::start() {
  expires_after(0s);
}

// A thread that is idle is not woken at each tick.
void Relief::on_expiry() {
  look();
  cut_heads();
  const bool is_far =
      !is_short(needs_, needs_.clock.steady()) &&
      needs_.transit.used() < needs_.transit.limit() / kFarBelow &&
      crowd_.all.head_bytes.load() < needs_.policy->settings.limits.heads.value / kFarBelow;
  expires_after(is_far ? kPauseIfFar : 0ms);
}

net::Task<bool> Relief::await_room(net::Executor executor) {
  const auto until = needs_.clock.steady() + kLongestWait;
  const net::Wakeup pause(executor);
  for (;;) {
    look_everywhere();
    if (pressure_on(needs_.transit) != Pressure::full) co_return true;
    if (needs_.clock.steady() >= until) co_return false;
    // The request looks again by itself. The time for which a client or a source has been silent
    // decides who is cut, so a call at each release of memory would not replace these looks.
    co_await pause.wait(kBetweenLooks);
  }
}

void Relief::look_everywhere() {
  look();
  const auto& everywhere = crowd_.all.on_each_thread;
  if (everywhere && look_elsewhere_.is_over(needs_.clock.steady()))
    everywhere([](CrowdOfThread& crowd) { crowd.relief.look(); });
}

void Relief::cut_heads_everywhere() {
  cut_heads();
  const auto& everywhere = crowd_.all.on_each_thread;
  if (everywhere && cut_heads_elsewhere_.is_over(needs_.clock.steady()))
    everywhere([](CrowdOfThread& crowd) { crowd.relief.cut_heads(); });
}

void Relief::look() {
  const auto now = needs_.clock.steady();
  const bool others_have_counted = now < look_.since + kFresh;
  if (!is_short(needs_, now) || !look_.is_over(now)) return;
  const auto here = responses_of(crowd_.sessions);
  // After a quiet time nobody has counted, and a part of an unknown whole cannot be told. This look
  // has begun the count; the next one cuts.
  if (!others_have_counted) return;
  const auto cut = whom_to_cut(here.holders, need_of(needs_, crowd_.all, here), now);
  for (const auto index : cut) here.items[index]->cut(observe::Cut::stalled);
  if (!cut.empty()) crowd_.all.warnings.warn(Shortage::memory, now);
}

// Goes a little below the limit, so that not each further piece begins a search.
void Relief::cut_heads() {
  const auto limit = needs_.policy->settings.limits.heads.value;
  const auto used = crowd_.all.head_bytes.load();
  if (used <= limit) return;
  const auto now = needs_.clock.steady();
  if (!cut_heads_.is_over(now)) return;
  const auto here = heads_of(crowd_.sessions);
  const Need need{.per_client = ~std::uint64_t{0},
                  .freed = part_of(used - limit + limit / 16, here, used),
                  .most = crowd_.all.clients.most_of_one(&ClientShare::head_bytes),
                  .patience = 0s,
                  .patience_with_sources = 0s};
  const auto cut = whom_to_cut(here.holders, need, now);
  for (const auto index : cut) here.items[index]->cut(observe::Cut::heads);
  if (!cut.empty()) crowd_.all.warnings.warn(Shortage::heads, now);
}

}  // namespace proxy::crowd
