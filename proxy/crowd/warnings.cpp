#include "proxy/crowd/warnings.hpp"

#include <spdlog/spdlog.h>

namespace proxy::crowd {

namespace {

struct Words {
  std::string_view word;
  std::string_view begins;  // what happens, and what helps
  std::string_view ends;
};
// In the order of the enum. An operator reads these beside the access log, so each names the mark
// by which the log shows whom it hit.
constexpr std::array<Words, kShortages.size()> kWords{{
    {"memory",
     "memory for responses on their way is short: those that clients do not read are cut "
     "(in the access log: _STALLED)",
     "memory for responses on their way has sufficed for a minute"},
    {"heads",
     "heads of requests that arrive slowly, or are large and wait for an answer, fill "
     "limits.heads: the oldest are cut (in the access log: _HEADS)",
     "limits.heads has sufficed for the heads of requests for a minute"},
    {"connections",
     "client connections have reached limits.connections or .connections_per_client: idle "
     "ones are closed (in the access log: _CROWDED), and new ones refused where none is",
     "client connections have stayed below their limits for a minute"},
    {"descriptors",
     "the file descriptors of this process are running out: idle client connections are "
     "closed, and new ones refused where none is, as are requests that need an origin (503); "
     "allow more (ulimit -n, or LimitNOFILE of the service) or set limits.connections lower",
     "the file descriptors of this process have sufficed for a minute"},
}};

const Words& words_of(Shortage what) {
  return kWords[static_cast<std::size_t>(what)];
}

}  // namespace

std::string_view word(Shortage what) {
  return words_of(what).word;
}

std::string_view text(Shortage what) {
  return words_of(what).begins;
}

void Warnings::warn(Shortage what, Time now) {
  const auto at = static_cast<std::size_t>(what);
  short_[at].record(now);
  goes_on_[at].store(true, std::memory_order_relaxed);
  if (warned_[at].within(kLately, now)) return;
  warned_[at].record(now);
  spdlog::warn("{}", text(what));
}

std::vector<Shortage> Warnings::ended(Time now) {
  std::vector<Shortage> all;
  for (const auto what : kShortages) {
    auto& goes_on = goes_on_[static_cast<std::size_t>(what)];
    if (!goes_on.load(std::memory_order_relaxed) || lately(what, now)) continue;
    if (goes_on.exchange(false, std::memory_order_relaxed)) all.push_back(what);
  }
  return all;
}

void Warnings::say_ended(Time now) {
  for (const auto what : ended(now)) spdlog::info("{}", words_of(what).ends);
}

}  // namespace proxy::crowd
