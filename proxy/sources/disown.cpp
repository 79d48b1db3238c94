#include "proxy/sources/disown.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "config/counted.hpp"
#include "proxy/cache/purge_pattern.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

using net::Task;

Task<std::string> purge_given(SourceAccess& access, const peers::Peer& peer) {
  const PurgePattern all_of_it(cache::Giver{peer.tag});
  const auto forgotten = co_await forget(access.cache, all_of_it);  // never refused
  const auto [dropped, owed] = forgotten.value();
  const auto* const on_disk = owed ? "; those on disk may come back after a crash" : "";
  co_return fmt::format("{} dropped from memory{}",
                        config::counted(dropped, "unconfirmed response of it was",
                                        "unconfirmed responses of it were"),
                        on_disk);
}

namespace {

Task<void> purge_and_say(SourceAccess& access, peers::PeerRef peer) {
  try {
    const auto purged = co_await purge_given(access, *peer);
    spdlog::warn(
        "peer {}: what answers at {} is not this neighbour: it named neither the epoch nor "
        "the proxy that our polls have found there; {}",
        peer->name, peer->url, purged);
  } catch (const std::exception& bug) {
    spdlog::error("a purge of what {} gave failed inside this proxy: {}", peer->name, bug.what());
  }
}

}  // namespace

void disown(SourceAccess& access, const peers::PeerRef& peer) {
  net::spawn(access.executor, purge_and_say(access, peer));
}

}  // namespace proxy
