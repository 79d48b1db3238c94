// How one request was answered, for the access log and the counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/cache/storability.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy::observe {

// A question to one source.
struct Inquiry {
  std::string source;                  // the neighbour's name, or kOrigin
  std::string_view result;             // "answered", or why it was of no use; a literal
  std::string_view cause;              // of a false hit, as /digest spells it; a literal, or empty
  std::chrono::microseconds waited{};  // until the head of the answer, or until it was given up
};
inline constexpr std::string_view kOrigin = "origin";

// Whether the digest of any neighbour claimed what was asked for.
enum class Claimed : std::uint8_t { unknown, by_nobody, by_some };  // unknown: none was consulted

// All questions so far. A value.
struct Inquiries {
  Claimed claimed = Claimed::unknown;
  std::string detail = {};  // words for Cache-Status
  bool listed = false;      // whether `list` is kept: only the access log as JSON needs it
  std::vector<Inquiry> list = {};

  void add(Inquiry inquiry) {
    if (listed) list.push_back(std::move(inquiry));
  }
};

// How a request was answered; Squid's result tags.
enum class Tag : std::uint8_t {
  none,  // a refusal or an error of ours
  mem_hit,
  disk_hit,
  conditional_hit,  // a 304 from a stored response
  miss,
  failed,              // nobody could answer it
  client_refresh,      // the client asked for a fresh copy
  refresh_unmodified,  // a stale entry was validated
  refresh_modified,    // a stale entry was replaced
  stale_hit,           // a stale entry stands in for an origin that failed
  denied,
  tunnel,
  own_page,
  purge,
  site_question,  // a neighbour asked for what is stored or being fetched here, and nothing is
};
inline constexpr std::size_t kTags = 15;
std::string_view squid_tag(Tag tag);   // "TCP_MEM_HIT"
std::string_view metric_tag(Tag tag);  // "hit"

// The source of the bytes; Squid's hierarchy codes.
enum class Hierarchy : std::uint8_t {
  none,
  direct,
  sibling,     // a sibling's store
  parent_hit,  // a parent's store: its digest claimed the URL
  parent,      // a parent that fetched from the origin, or may have
};
inline constexpr std::size_t kHierarchies = 5;
std::string_view squid_code(Hierarchy hierarchy);  // "CD_SIBLING_HIT"

// Why the proxy ended a connection, though the client did nothing wrong but take long.
enum class Cut : std::uint8_t {
  none,
  stalled,  // the client did not read its response while memory was short
  crowded,  // the connection waited for a request while there were too many connections
  heads,    // the request's head took memory while heads had too little
  slow,     // the request came too slowly
};
inline constexpr std::size_t kCuts = 5;
std::string_view word(Cut why);  // "stalled"; empty for `none`

// Who answered, for the histograms of times.
enum class RequestOutcome : std::uint8_t {
  hit,  // memory
  disk_hit,
  neighbour,  // from its store
  parent,
  origin,
  failed,  // nobody could answer
};
inline constexpr std::size_t kRequestOutcomes = 6;
std::string_view word(RequestOutcome outcome);  // "disk_hit"

// Who asked, and by which rules.
struct AskerFigures {
  bool routine = false;   // a neighbour's poll, each second: counted, not logged
  bool by_proxy = false;  // the request, or its client's address, says that the client is a proxy
  // A neighbour asked for what we hold, and got no answer: is in no class of responses.
  bool question = false;
  bool by_old_tag = false;     // its registry is away: what a tag named before answers
  std::string_view rule;       // the site's rule, as a word for Cache-Status; empty: none
  std::string_view recipe;     // the mirrors' recipe for the URL; empty: none
  std::string_view denied_by;  // the name of the access rule that denied the request; empty: none
};

// Where the response came from.
struct SourceFigures {
  Tag tag = Tag::none;
  Hierarchy hierarchy = Hierarchy::none;
  bool collapsed = false;  // answered from a fill that another request began
  bool from_disk = false;  // the entry, or a block, was read from disk for this request
  Claimed claimed = Claimed::unknown;
  std::string_view failure;  // why nobody could answer, as a word; a literal, or empty
  // The setting whose limit the head of the request or of the response exceeds; empty: none.
  std::string_view exceeded;
  // Why the response is not stored. `yes`: it is stored, or no response was received.
  cache::Storability storability = cache::Storability::yes;
};

// The part of a record that takes no memory of its own.
struct RequestFigures : AskerFigures, SourceFigures {
  std::chrono::steady_clock::time_point begun{};       // the head has arrived
  std::chrono::steady_clock::time_point first_byte{};  // the response begins; 0: it has not
  bool aborted = false;                                // the client did not get the whole response
  Cut cut = Cut::none;
  unsigned status = 0;
  std::uint64_t bytes = 0;  // sent to the client, heads included
};

// Filled in by the request path while it answers; owned by the session.
struct RequestRecord : RequestFigures {
  std::string upstream_host;  // empty: none
  std::string user;           // who asked, where an access rule needed to know; else empty
  std::string neighbour;      // for whose clients it asks: a name or an address; empty: nobody's
  std::string content_type;
  std::vector<Inquiry> asked;  // kept for the access log as JSON
  http::CacheStatus told;      // what Cache-Status said, the rule's word included

  // Empties the record for a request that begins now. Keeps the memory of short texts that nearly
  // every request has.
  void begin(std::chrono::steady_clock::time_point now) {
    static_cast<RequestFigures&>(*this) = {};
    begun = now;
    for (auto* const text :
         {&upstream_host, &user, &neighbour, &content_type, &told.key, &told.detail}) {
      forget(*text);
    }
    if (!asked.empty()) asked = {};
    told.clear();
  }

 private:
  static void forget(std::string& text) {
    constexpr std::size_t kShort = 128;
    if (text.capacity() > kShort) std::string().swap(text);  // an assignment would keep the memory
    text.clear();
  }
};

// The histograms in which the times of the request are counted. Nothing: in none, because nobody
// was asked for a response (own pages, refusals, purges), or because the time is the client's
// choice (tunnels).
std::optional<RequestOutcome> outcome_of(const RequestRecord& record);

}  // namespace proxy::observe
