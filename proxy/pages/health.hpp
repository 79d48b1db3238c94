// Whether the proxy can do all that its settings ask for, and what it cannot.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/pages/own_pages.hpp"

namespace proxy::pages {

// One thing that does not work. The proxy answers nevertheless.
struct Trouble {
  std::string_view what;   // for programs, one of kTroubles
  std::string which;       // the neighbour, origin or thread; empty: there is only one
  std::string text;        // for a person
  std::size_t number = 1;  // of the things that this stands for
  // When the trouble began. Nothing: when it was first seen, and it lasts until now.
  std::optional<std::chrono::steady_clock::time_point> since = {};
  std::optional<std::chrono::steady_clock::time_point> last = {};
  // `which` is an origin that only clients name, or an address of a client: for admins.
  bool which_is_private = false;

  // The name by which FirstSeen knows the trouble.
  [[nodiscard]] std::string name() const { return std::string(what) + ' ' + which; }
};

inline constexpr std::string_view kTroubles[] = {
    "disk", "peer",  "dns",    "origin", "line",        "offline",     "settings",
    "log",  "clock", "memory", "heads",  "connections", "descriptors", "thread"};

// The text about a cache that keeps `bytes` in memory in place of `wanted`, because allocations
// failed.
std::string text_of_reduced(std::uint64_t bytes, std::uint64_t wanted);

// Names at most kMostOrigins of the origins that fail. One more Trouble stands for the others.
// Pure.
inline constexpr std::size_t kMostOrigins = 20;
std::vector<Trouble> origin_troubles(const std::vector<upstream::OriginHealth::Failing>& failing,
                                     std::chrono::steady_clock::time_point now);

// All that does not work at `now`, each with `since` and `last`. Any thread.
std::vector<Trouble> troubles_of(const PagesAccess& pages, const policy::Policy& policy,
                                 std::chrono::steady_clock::time_point now);

// The page /health: {"status": "ok", "degraded" or "draining", "reasons": [...], "disk": {...}}. A
// reason has `since` and `last_seen` (RFC 3339), and if it stands for several things, their
// `number`. `readers`: admins, or monitors, to whom kForAdmins stands for what is private.
inline constexpr std::string_view kForAdmins = "(administrators see which)";
std::string health_json(const PagesAccess& pages, const std::vector<Trouble>& troubles,
                        Audience readers);

}  // namespace proxy::pages
