// What a proxy can be told: plain values with their defaults. Each folder is given its own section.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/endpoint.hpp"
#include "config/networks.hpp"

namespace config {

using std::chrono::milliseconds;

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

// Which responses reach the disk.
enum class Admit {
  first,   // all that are stored
  second,  // those whose URL is asked for again
};

struct DiskSettings {
  std::string path;  // of a directory for the cache alone
  ByteSize size;     // what its files take at most
  Admit admit = Admit::first;

  bool operator==(const DiskSettings&) const = default;
};

struct CacheSettings {
  ByteSize memory = mebibytes(256);  // heads, bodies, fills and index together
  // One response body. If not set, there is none too large to be kept in blocks, on a disk, and an
  // eighth of the memory is most for others.
  std::optional<ByteSize> max_object;
  // How long past its freshness a response answers for an origin that cannot be reached.
  milliseconds stale_if_error{3'600'000};
  bool offline = false;        // no origin is asked; what is held answers, whatever its age
  bool key_in_status = false;  // Cache-Status tells what a response is stored by

  // Names of response fields that count before Cache-Control (RFC 9213), the first first: in
  // answers to forward requests, and in those of origins that we stand in for.
  std::vector<std::string> targeted{"Hearsay-Cache-Control"};
  std::vector<std::string> targeted_reverse{"Hearsay-Cache-Control", "CDN-Cache-Control"};

  std::optional<DiskSettings> disk = std::nullopt;  // none: memory is all there is

  // That is held in one piece.
  ByteSize largest_object() const {
    const bool fits = max_object && max_object->value <= memory.value;
    return fits ? *max_object : ByteSize{memory.value / 8};
  }
  bool operator==(const CacheSettings&) const = default;
};

struct DigestSettings {
  unsigned bits_per_entry = 12;          // of the live filter
  milliseconds period{500};              // between two generations of the live filter
  milliseconds poll{1000};               // between two questions to a peer that is a Hearsay
  unsigned squid_bits_per_entry = 10;    // of the form Squid reads
  milliseconds squid_period{10'000};     // between two builds of that form
  milliseconds squid_pause{250};         // between control block and mask (Squid bug 5510); 0: none
  ByteSize peer_memory = mebibytes(64);  // all peers' digests together
  double false_miss_sample = 0.001;  // of origin fetches: how many ask a peer that claims nothing

  bool operator==(const DigestSettings&) const = default;
};

enum class Role { sibling };  // asked only for what it holds

enum class PeerDigest {
  automatic,  // found out by asking
  native,     // our own form
  squid,      // Squid's form, on Squid's schedule
  none,       // not polled, so never asked
};

struct PeerSettings {
  std::string name;  // in Cache-Status, metrics and /digest; unique among the peers
  std::string url;   // as written in the settings
  std::string host;  // a name or an IP address, lower case, IPv6 without brackets
  std::uint16_t port = 0;
  Role role = Role::sibling;
  PeerDigest digest = PeerDigest::automatic;

  bool operator==(const PeerSettings&) const = default;
};

// A server whose content we serve as a gateway.
struct Origin {
  bool tls = false;
  std::string host;  // a name or an IP address, lower case, IPv6 without brackets
  std::uint16_t port = 80;

  bool operator==(const Origin&) const = default;
};

// Which requests, of those that name us as the server, are for which origins.
struct Reverse {
  std::string host;                   // "*", "*.example.com", or a name or address, lower case
  std::optional<std::uint16_t> port;  // of the Host field; none: any
  std::vector<Origin> to;             // the first that works is asked
  std::string send_host;              // the Host that origins see; empty: the client's
  bool share = false;                 // neighbours may know and have what is stored
  std::string known;                  // a file of all URLs that there are; empty: none

  bool operator==(const Reverse&) const = default;
};

// What holds for some sites alone: the first rule that matches a request counts, no other. All
// that it does is off unless it is said. What each does, in detail: proxy/site_rules.hpp.
struct RuleSettings {
  std::string name;  // a token, in Cache-Status; no two alike
  HostSpec host;
  std::string path;                       // how the path begins, byte for byte; empty: any
  std::optional<milliseconds> min_fresh;  // freshness lifetime, at least
  std::optional<milliseconds> max_fresh;  // and at most
  bool ignore_client_no_cache = false;
  std::vector<std::string> drop_query;  // names of parameters, `*` for any text: not in the key
  bool never_store = false;
  bool offline = false;  // as cache.offline

  bool operator==(const RuleSettings&) const = default;
};

struct AccessSettings {
  Networks clients;          // may use the proxy
  Networks monitor;          // may read /, /digest, /health, /metrics
  Networks admin;            // may change state; may read the digests too
  Networks peers;            // may read the digests though we do not ask them
  Networks deny_to;          // no client's request goes there, whatever name led to it
  bool deny_to_self = true;  // nor to an address of this machine's interfaces; "loopback" says so
  std::vector<std::uint16_t> connect_ports{443};
  // Paths of files that list hosts, URL prefixes and addresses (proxy/lists/read.hpp).
  std::vector<std::string> block;  // refused to every client
  std::vector<std::string> allow;  // but for these

  AccessSettings();
  bool operator==(const AccessSettings&) const = default;
};

enum class LogTarget { standard_output, none, file };
enum class LogFormat { squid, json };

struct LogSettings {
  LogTarget access = LogTarget::standard_output;
  std::string path;  // of a LogTarget::file
  LogFormat format = LogFormat::squid;

  bool operator==(const LogSettings&) const = default;
};

// How long each state may last before the connection in it is given up.
struct Timeouts {
  milliseconds head{30'000};        // from a request's first byte to the end of its head
  milliseconds body{60'000};        // between two bytes of a body, either way
  milliseconds connect{5'000};      // to one origin, all its addresses together
  milliseconds first_byte{60'000};  // from a request sent to an origin to its answer's head
  milliseconds keep_alive{75'000};  // between two requests of a client
  milliseconds peer_connect{200};   // a neighbour is near or of no use
  milliseconds peer_first_byte{1'000};
  milliseconds drain{10'000};       // what runs may still take after SIGTERM
  milliseconds unreachable{1'000};  // who could not be connected to is not tried again

  bool operator==(const Timeouts&) const = default;
};

struct Limits {
  std::size_t connections = 20'000;  // of clients, at once, over all threads
  ByteSize head = kibibytes(64);     // of a request or a response
  std::size_t fields = 200;          // in one head

  bool operator==(const Limits&) const = default;
};

// What origins are told of the client, in Forwarded and X-Forwarded-For.
enum class Forwarded {
  off,      // what the client said of it, if anything
  append,   // that, and after it the client's address
  replace,  // the client's address alone
  remove,   // nothing
};

struct Settings {
  std::string name;  // a token (RFC 9110 section 5.6.2); empty: default_name() of the first socket
  std::vector<HostPort> listen{{"127.0.0.1", 3128}};  // port 0: the kernel chooses
  unsigned threads = 0;                               // 0: one per core
  CacheSettings cache;
  DigestSettings digest;
  std::vector<PeerSettings> peers;
  std::vector<Reverse> reverse;
  Forwarded forwarded = Forwarded::off;
  std::vector<RuleSettings> rules;
  AccessSettings access;
  LogSettings log;
  Timeouts timeouts;
  Limits limits;

  bool operator==(const Settings&) const = default;
};

// "host-port", with whatever of the host name cannot stand in a token replaced by '-'. The port is
// the one that was bound, which is why this waits until the sockets are open.
std::string default_name(const std::string& hostname, std::uint16_t port);

}  // namespace config
