// Everything that can be set: plain values with their defaults. Each folder receives only its
// section.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/access_settings.hpp"
#include "config/endpoint.hpp"
#include "config/site_settings.hpp"

namespace config {

struct ByteSize {
  std::uint64_t value = 0;

  auto operator<=>(const ByteSize&) const = default;
};

constexpr ByteSize kibibytes(std::uint64_t count) {
  return {count << 10};
}
constexpr ByteSize mebibytes(std::uint64_t count) {
  return {count << 20};
}

// Which responses are written to the disk.
enum class Admit {
  first,   // all stored responses
  second,  // responses whose URL is requested a second time
};

struct DiskSettings {
  std::string path;  // of a directory that holds nothing but the cache
  ByteSize size;     // the most that its files may take
  Admit admit = Admit::first;

  bool operator==(const DiskSettings&) const = default;
};

struct CacheSettings {
  ByteSize memory = mebibytes(256);  // heads, bodies, fills and index together
  // The largest response body that is stored. Unset: an eighth of the memory, and no limit for
  // bodies that are kept in blocks on a disk.
  std::optional<ByteSize> max_object;
  // How long past its freshness lifetime a response may be served if its origin cannot be reached.
  milliseconds stale_if_error{3'600'000};
  bool offline = false;        // ask no origin; serve stored responses whatever their age
  bool key_in_status = false;  // Cache-Status names the key under which a response is stored

  // Response fields that take precedence over Cache-Control (RFC 9213), the first one first: for
  // forward requests, and for origins that we serve as a gateway.
  std::vector<std::string> targeted{"Hearsay-Cache-Control"};
  std::vector<std::string> targeted_reverse{"Hearsay-Cache-Control", "CDN-Cache-Control"};

  std::optional<DiskSettings> disk = std::nullopt;  // none: memory only
  bool memory_by_default = true;  // it is not set, so less is used where the machine has little

  // The largest body that is stored in one piece.
  ByteSize largest_object() const {
    const bool fits = max_object && max_object->value <= memory.value;
    return fits ? *max_object : ByteSize{memory.value / 8};
  }
  bool operator==(const CacheSettings&) const = default;
};

// How much longer than the origin a neighbour may be expected to take.
enum class Prefer {
  latency,      // no longer
  origin_load,  // longer, to spare the origin
  neighbours,   // anything: the origin is asked only once no neighbour is left
};

// Whether neighbours are asked, before the origin, if they are fetching what none of them claims.
enum class SiteCollapse {
  automatic,  // where the estimates say that it pays
  off,
};

// Whether what a neighbour holds close at hand is stored here, too.
enum class Duplicates {
  second,  // once our own clients have asked for it twice; if it is large, three times
  always,
  never,
};

// The form of our digest for Squids. The names of the settings begin with "squid_".
struct SquidFormSettings {
  unsigned bits_per_entry = 10;
  milliseconds period{10'000};  // between two builds
  milliseconds pause{250};      // between control block and mask (Squid bug 5510); 0: none

  bool operator==(const SquidFormSettings&) const = default;
};

// Shares from 0 to 1 of the requests that try out how far neighbours can be relied on. The names of
// the settings end with "_sample".
struct SampleSettings {
  double false_miss = 0.001;  // of origin fetches, that also probe a peer without the claim
  double check = 0.001;       // of neighbours' responses, that are compared with the origin's
  // The share of the requests answered by a guest's unconfirmed response that also ask the origin
  // to confirm it.
  double confirm = 0.05;

  bool operator==(const SampleSettings&) const = default;
};

struct DigestSettings {
  unsigned bits_per_entry = 12;  // of the live filter
  milliseconds period{500};      // between two generations of the live filter
  milliseconds poll{1000};       // between two requests to a peer that is a Hearsay
  SquidFormSettings squid;
  ByteSize peer_memory = mebibytes(64);  // all peers' digests together; each has an even share
  bool peer_memory_by_default = true;    // as CacheSettings::memory_by_default
  SampleSettings samples;
  milliseconds check_pause{1'000};  // between the first two questions of a check in doubt
  Prefer prefer = Prefer::origin_load;
  SiteCollapse site_collapse = SiteCollapse::automatic;
  Duplicates duplicates = Duplicates::second;

  bool operator==(const DigestSettings&) const = default;
};

enum class Role {
  sibling,  // asked only for what it holds
  parent,   // fetches from origins for us, too
};

enum class PeerDigest {
  automatic,  // the proxy finds out by asking
  native,     // our own form
  squid,      // Squid's form, on Squid's schedule
  none,       // not polled, so never asked
};

enum class Trust {
  site,   // the same administrator runs it: its responses count as the origin's
  guest,  // its responses are not passed on to neighbours until the origin has confirmed them
};

// The hosts that a peer is asked for: the settings `for` and `not_for`.
struct HostChoice {
  std::vector<HostSpec> only;   // empty: all
  std::vector<HostSpec> never;  // not even if `only` has them

  bool operator==(const HostChoice&) const = default;
};

struct PeerSettings {
  std::string name;  // in Cache-Status, metrics and /digest; unique among the peers
  std::string url;   // as written in the settings
  std::string host;  // a name or an IP address, lower case, IPv6 without brackets
  std::uint16_t port = 0;
  Role role = Role::sibling;
  PeerDigest digest = PeerDigest::automatic;
  Trust trust = Trust::site;
  bool tls = false;     // https
  unsigned weight = 1;  // of a parent: its share of the URLs, in proportion
  HostChoice hosts;
  bool is_parent() const { return role == Role::parent; }
  std::string login;      // "user:password", which it is told with each request; empty: nothing
  std::size_t place = 0;  // in the list of the settings

  bool operator==(const PeerSettings&) const = default;
};

// A server whose content we serve as a gateway.
struct Origin {
  bool tls = false;
  std::string host;  // a name or an IP address, lower case, IPv6 without brackets
  std::uint16_t port = 80;

  bool operator==(const Origin&) const = default;
};

// Which of the requests that name us as their server go to which origins.
struct Reverse {
  std::string host;                   // "*", "*.example.com", or a name or address, lower case
  std::optional<std::uint16_t> port;  // of the Host field; none: any
  std::vector<Origin> to;             // the first that works is asked
  std::string send_host;              // the Host field for origins; empty: the client's
  bool share = false;                 // neighbours may see and fetch stored responses
  std::string known;                  // a file of all URLs that exist; empty: none

  bool operator==(const Reverse&) const = default;
};

enum class LogTarget { standard_output, none, file };
enum class LogFormat { squid, json };
enum class EventFormat { text, json };

struct LogSettings {
  LogTarget access = LogTarget::standard_output;
  std::string path;  // for LogTarget::file
  LogFormat format = LogFormat::squid;
  bool site_questions = true;  // neighbours' questions that had no answer here have lines, too
  EventFormat events = EventFormat::text;  // of the program's own lines, on stderr

  bool operator==(const LogSettings&) const = default;
};

// How long each state may last before its connection is closed.
struct Timeouts {
  milliseconds head{30'000};        // from the first byte of a request to the end of its head
  milliseconds body{60'000};        // between two bytes of a body, in either direction
  milliseconds connect{5'000};      // to one origin, all its addresses together
  milliseconds first_byte{60'000};  // from the request to the head of the origin's response
  milliseconds keep_alive{75'000};  // between two requests of a client
  milliseconds peer_connect{200};   // a neighbour answers quickly or is of no use
  milliseconds peer_first_byte{1'000};
  milliseconds drain{10'000};         // for responses under way at SIGTERM
  milliseconds hand_over{3'600'000};  // for those under way when another process has taken over
  milliseconds unreachable{
      1'000};  // before an address that could not be connected to is tried again

  bool operator==(const Timeouts&) const = default;
};

struct Limits {
  std::size_t connections = 20'000;  // of clients, at the same time, over all threads
  ByteSize head = kibibytes(64);     // of a request or a response
  std::size_t fields = 200;          // in one head
  // The most memory that the unread responses of one client may take while memory is short.
  // Settings::bytes_per_client() has the default.
  std::optional<ByteSize> bytes_per_client = std::nullopt;
  // Unset: half of `connections`.
  std::optional<std::size_t> connections_per_client = std::nullopt;
  std::optional<std::size_t> requests_per_client = std::nullopt;  // under way
  // The memory of all heads of requests that have arrived in part, or are large.
  ByteSize heads = mebibytes(32);
  bool heads_by_default = true;  // as CacheSettings::memory_by_default
  ByteSize least_rate{100};      // of a request's head or body, per second; 0: none
  // The most bytes per second that are sent to all clients together, and to each. Unset: any.
  std::optional<ByteSize> bandwidth = std::nullopt;
  std::optional<ByteSize> bandwidth_per_client = std::nullopt;

  // The settings of these names, or their default.
  std::size_t most_connections_per_client() const {
    return connections_per_client.value_or(half_of_connections());
  }
  std::size_t most_requests_per_client() const {
    return requests_per_client.value_or(half_of_connections());
  }
  bool operator==(const Limits&) const = default;

 private:
  std::size_t half_of_connections() const { return connections < 2 ? 1 : connections / 2; }
};

// How much fields such as Forwarded and X-Forwarded-For tell origins about the client.
// proxy/http/forwarded.hpp lists the fields.
enum class Forwarded {
  off,      // the client's own fields, unchanged
  append,   // the client's own fields, then its address
  replace,  // only the client's address
  remove,   // nothing
};

struct ForwardedSettings {
  std::optional<Forwarded> how;   // unset: replace for requests to a gateway, else off
  std::vector<std::string> drop;  // more fields that replace and remove take
  std::vector<std::string> pass;  // fields that they let through; they select what is stored

  bool operator==(const ForwardedSettings&) const = default;
};

inline constexpr std::string_view kPacNeighbours = "neighbours";
inline constexpr std::string_view kPacDirect = "DIRECT";

// The process: its name, its sockets, its threads, its user and its files.
struct ProcessSettings {
  std::string name;  // a token (RFC 9110 section 5.6.2); empty: default_name() of the first socket
  std::vector<HostPort> listen{{"127.0.0.1", 3128}};  // port 0: the kernel chooses
  unsigned threads = 0;                               // 0: one per core
  std::string user;                                   // that root becomes; empty: hearsay, if any
  bool sandbox = true;                                // proxy/machine/sandbox.hpp
  // Where the control socket is. Empty: nowhere. Unset: control_path() decides (load.hpp).
  std::optional<std::string> control;
  std::vector<std::string> included;  // paths of the settings files that were read after the first

  bool operator==(const ProcessSettings&) const = default;
};

// Serving origins as a gateway, in front of them.
struct GatewaySettings {
  std::vector<Reverse> reverse;
  MirrorSettings mirrors;
  ForwardedSettings forwarded;
  // Whether requests for hosts that `reverse` does not map are served. Unset: unless everybody may
  // use a gateway.
  std::optional<bool> forward;

  bool operator==(const GatewaySettings&) const = default;
};

// Settings of our own pages.
struct PageSettings {
  std::string contact;  // whom error pages name; empty: nobody
  std::string folder;   // of a site's own error pages (proxy/policy/error_pages.hpp)
  // What /proxy.pac has clients try when this proxy does not answer, as FindProxyForURL() spells
  // it, in this order. kPacNeighbours: siblings of the site.
  std::vector<std::string> pac_fallback{std::string(kPacNeighbours), std::string(kPacDirect)};

  bool operator==(const PageSettings&) const = default;
};

// The sections of the settings file are members of the same names. Settings outside a section are
// in `process`, `gateway` and `pages`, and `mirrors` is in `gateway`.
struct Settings {
  ProcessSettings process;
  CacheSettings cache;
  DigestSettings digest;
  std::vector<PeerSettings> peers;
  std::vector<HostSpec> never_direct;  // hosts that only parents are asked for
  GatewaySettings gateway;
  std::vector<RuleSettings> rules;
  AccessSettings access;
  LogSettings log;
  Timeouts timeouts;
  Limits limits;
  PageSettings pages;

  // The setting limits.bytes_per_client; unset, a thirty-second of the memory.
  ByteSize bytes_per_client() const {
    return limits.bytes_per_client.value_or(ByteSize{cache.memory.value / 32});
  }

  bool operator==(const Settings&) const = default;
};

// "host-port". Characters of the host name that a token cannot have become '-'. The port is the one
// that was bound, so the sockets must be open.
std::string default_name(const std::string& hostname, std::uint16_t port);

// The names of the settings that differ and that only a restart changes, such as "cache.disk".
// `running`: with which the proxy was started.
std::vector<std::string_view> needing_restart(const Settings& running, const Settings& told);
// Gives these settings in `told` the values that are in force.
void keep_until_restart(const Settings& running, Settings& told);

}  // namespace config
