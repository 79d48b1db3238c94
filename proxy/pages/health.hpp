// Whether the proxy can do all that its settings ask for, and what it cannot.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/policy.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

// One thing that does not work. The proxy answers nevertheless.
struct Trouble {
  std::string_view what;   // for programs, one of kTroubles
  std::string which;       // the neighbour, origin or thread; empty: there is only one
  std::string text;        // for a person
  std::size_t number = 1;  // of the things that this stands for
};

inline constexpr std::string_view kTroubles[] = {
    "disk", "peer", "origin", "clock", "memory", "heads", "connections", "descriptors", "thread"};

// The text about a cache that keeps `bytes` in memory in place of `wanted`, because allocations
// failed.
std::string text_of_reduced(std::uint64_t bytes, std::uint64_t wanted);

// Names at most kMostOrigins of the origins that fail. One more Trouble stands for the others.
// Pure.
inline constexpr std::size_t kMostOrigins = 20;
std::vector<Trouble> origin_troubles(const std::vector<upstream::OriginHealth::Failing>& failing,
                                     std::chrono::steady_clock::time_point now);

// All that does not work at `now`. Any thread.
std::vector<Trouble> troubles_of(const Process& process, const Policy& policy,
                                 std::chrono::steady_clock::time_point now);

// The page /health: {"status": "ok", "degraded" or "draining", "reasons": [...], "disk": {...}}. A
// reason that stands for several things has their `number`.
std::string health_json(const Process& process, const std::vector<Trouble>& troubles);

}  // namespace proxy
