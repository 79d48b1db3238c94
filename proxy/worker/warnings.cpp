#include "proxy/worker/warnings.hpp"

#include <spdlog/spdlog.h>

namespace proxy {
std::string_view word(Shortage what) {
  switch (what) {
    case Shortage::memory:
      return "memory";
    case Shortage::heads:
      return "heads";
    case Shortage::connections:
      return "connections";
    case Shortage::descriptors:
      return "descriptors";
  }
  return {};
}

std::string_view text(Shortage what) {
  switch (what) {
    case Shortage::memory:
      return "memory for responses on their way is short: those that clients do not read are cut "
             "(in the access log: _STALLED)";
    case Shortage::heads:
      return "heads of requests that arrive slowly, or are large and wait for an answer, fill "
             "limits.heads: the oldest are cut (in the access log: _HEADS)";
    case Shortage::connections:
      return "client connections have reached limits.connections or .connections_per_client: idle "
             "ones are closed (in the access log: _CROWDED), and new ones refused where none is";
    case Shortage::descriptors:
      return "the file descriptors of this process are running out: idle client connections are "
             "closed, and new ones refused where none is, as are requests that need an origin "
             "(503); "
             "allow more (ulimit -n, or LimitNOFILE of the service) or set limits.connections "
             "lower";
  }
  return {};
}

void Warnings::warn(Shortage what) {
  auto& warned = warned_[static_cast<std::size_t>(what)];
  const auto now = LastTime::Clock::now();
  short_[static_cast<std::size_t>(what)].note(now);
  if (warned.within(kLately, now)) return;
  warned.note(now);
  spdlog::warn("{}", text(what));
}

}  // namespace proxy
