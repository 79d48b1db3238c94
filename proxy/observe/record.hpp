// What is remembered of one answered request, for the access log and the counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

// How a request was answered; Squid's result tags.
enum class Tag : std::uint8_t {
  none,  // a refusal or an error of ours
  mem_hit,
  disk_hit,
  conditional_hit,  // a 304 from what we hold
  miss,
  client_refresh,      // the client asked for a fresh copy
  refresh_unmodified,  // ours was stale and still good
  refresh_modified,    // ours was stale and is replaced
  stale_hit,           // ours was stale, and the origin failed
  denied,
  tunnel,
  own_page,
  purge,
};
inline constexpr std::size_t kTags = 13;
std::string_view squid_tag(Tag tag);   // "TCP_MEM_HIT"
std::string_view metric_tag(Tag tag);  // "hit"

// Where the bytes came from; Squid's hierarchy codes.
enum class Hierarchy : std::uint8_t { none, direct, sibling };
inline constexpr std::size_t kHierarchies = 3;
std::string_view squid_code(Hierarchy hierarchy);  // "CD_SIBLING_HIT"

struct RequestRecord {
  std::chrono::steady_clock::time_point begun{};
  Tag tag = Tag::none;
  Hierarchy hierarchy = Hierarchy::none;
  bool collapsed = false;  // read from a fill that another request began
  bool from_disk = false;  // what is served was read from there for this request
  bool aborted = false;    // the client did not get all of it
  bool routine = false;    // a neighbour's poll, each second: counted, not logged
  unsigned status = 0;
  std::uint64_t bytes = 0;    // sent to the client, heads included
  std::string upstream_host;  // empty: none
  std::string_view rule;      // the site's, as Cache-Status tells it; empty: none
  std::string content_type;
};

}  // namespace proxy
