#include "config/sections.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "config/text.hpp"

namespace config {

namespace {

using namespace std::chrono_literals;

// Squid refuses a digest with more than 65 % of its bits set. With k = 4 and a capacity a quarter
// above the entries, fewer than 4 bits per entry reach that.
constexpr Range<unsigned> kBitsPerEntry{4, 127};

// 1 PiB: more is a typing mistake.
constexpr ByteSize kMostOnDisk{1ULL << 50};

template <class Into>
void read_part(Section& parent, std::string_view key, Into& into, void (*read)(Section&, Into&)) {
  const auto found = parent.find(key);
  if (!found) return;
  Section part(*found, parent.faults());
  read(part, into);
  part.finish();
}

// What an item of `listen` that names no address may mean; empty: nothing that is known.
std::string listen_hint(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto host = colon == text.npos ? std::string_view() : text.substr(0, colon);
  const std::string port(colon == text.npos ? text : text.substr(colon + 1));
  if (!parse_number(port, 65'535)) return {};
  // No name is resolved for a socket: it may have several addresses, and they may change.
  if (host == "localhost") return "; did you mean \"127.0.0.1:" + port + "\"?";
  if (!host.empty() && host != "*") return {};
  return "; write \"127.0.0.1:" + port + "\" for this machine alone, or \"0.0.0.0:" + port +
         "\" for all of its addresses";
}

void read_address(Section& in, const LocatedValue& item, std::vector<HostPort>& listen) {
  constexpr std::string_view kForm =
      "an address and a port, such as \"127.0.0.1:3128\" or \"[::]:3128\"";
  const auto* text = item.text();
  const auto endpoint = text ? parse_listen(*text) : std::nullopt;
  const auto hint = text && !endpoint ? listen_hint(*text) : std::string();
  if (!hint.empty()) {
    in.fault(item, "expected " + std::string(kForm) + "; found " + in_quotes(*text) + hint);
  } else if (!endpoint) {
    in.expected(item, kForm);
  } else if (endpoint->port != 0 && std::count(listen.begin(), listen.end(), *endpoint) > 0) {
    in.fault(item, "is listed twice; take one out");
  } else {
    listen.push_back(*endpoint);
  }
}

// An address with what is for its clients alone.
void read_listener(Section& in, std::vector<HostPort>& listen,
                   std::vector<ListenerRegistry>& registries) {
  const auto address = in.require("address", "an address and a port");
  std::string registry;
  read_registry(in, registry);
  const auto before = listen.size();
  if (address) read_address(in, *address, listen);
  if (listen.size() > before && !registry.empty()) {
    if (listen.back().port == 0)
      in.fault(*address, "needs a fixed port, by which its clients are known");
    registries.push_back({listen.back(), registry});
  }
  in.finish();
}

void read_listen(Section& in, std::vector<HostPort>& listen,
                 std::vector<ListenerRegistry>& registries) {
  const auto items = in.items("listen", "addresses, such as \"127.0.0.1:3128\"");
  if (!items) return;
  listen.clear();
  for (const LocatedValue& item : *items) {
    if (!std::holds_alternative<Object>(item.value->content)) {
      read_address(in, item, listen);
      continue;
    }
    Section part(item, in.faults());
    read_listener(part, listen, registries);
  }
  if (items->empty()) in.fault(*in.find("listen"), "expected at least one address; found none");
}

void read_control(Section& in, std::optional<std::string>& control) {
  constexpr std::size_t kLongest = 107;  // of a socket's path: unix(7)
  const auto found = in.find("control");
  if (!found) return;
  const auto* text = found->text();
  if (text && *text != "none" && text->size() > kLongest) {
    return in.expected(*found,
                       "a path of at most 107 bytes, since a Unix socket has no longer one");
  }
  in.read_parsed("control", control.emplace(),
                 "\"none\" or the whole path of a socket, such as \"/run/hearsay/control.sock\"",
                 [](const std::string& path) -> std::optional<std::string> {
                   if (path == "none") return "";
                   return path.starts_with('/') ? plain_text(path) : std::nullopt;
                 });
}

// Leaves `names` alone if the key is absent.
void read_field_names(Section& in, std::string_view key, const std::string& example,
                      std::size_t most, std::vector<std::string>& names) {
  const std::string such = ", such as \"" + example + '"';
  in.read_texts(key, {"names of fields" + such, most}, names, "the name of a field" + such,
                text_if(is_token));
}

bool is_contact(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  return !text.empty() && text.size() <= kLongest && !has_control(text);
}

void read_targeted(Section& in, CacheSettings& cache) {
  read_field_names(in, "targeted", "CDN-Cache-Control", 8, cache.targeted);
  if (in.find("targeted")) cache.targeted_reverse = cache.targeted;
}

void read_forwarded(Section& in, ForwardedSettings& forwarded) {
  constexpr std::size_t kMost = 32;  // each is compared with each field of a request
  if (in.find("forwarded")) {
    in.read_word("forwarded", forwarded.how.emplace(Forwarded::off),
                 {{"off", Forwarded::off},
                  {"append", Forwarded::append},
                  {"replace", Forwarded::replace},
                  {"remove", Forwarded::remove}});
  }
  read_field_names(in, "forwarded_drop", "X-Tenant", kMost, forwarded.drop);
  read_field_names(in, "forwarded_pass", "X-Forwarded-Proto", kMost, forwarded.pass);
}

void read_disk(Section& in, DiskSettings& disk) {
  constexpr std::string_view kPath = "the path of a directory, such as \"/var/cache/hearsay\"";
  in.read_parsed("path", disk.path, kPath, plain_text);
  in.read("size", disk.size, {mebibytes(64), kMostOnDisk});
  in.read_word("admit", disk.admit, {{"first", Admit::first}, {"second", Admit::second}});
  // Neither has a default: a cache in a folder, or of a size, that nobody chose can fill a disk
  // that others need.
  for (const char* key : {"path", "size"}) {
    if (in.is_object() && !in.find(key)) {
      in.fault(in.whole(), std::string("\"") + key + "\" is missing; add it");
    }
  }
}

void read_cache(Section& in, CacheSettings& cache) {
  cache.memory_by_default = !in.find("memory");
  in.read("memory", cache.memory, {mebibytes(1), ByteSize{1ULL << 44}});
  // Memory holds no body in blocks, so nothing larger than the memory can be stored there.
  const auto largest = in.find("disk") ? kMostOnDisk : cache.memory;
  in.read("max_object", cache.max_object, {ByteSize{1}, largest});
  read_targeted(in, cache);
  in.read("stale_if_error", cache.stale_if_error, {0ms, 24h * 365});
  in.read("offline", cache.offline);
  in.read("key_in_status", cache.key_in_status);
  if (in.find("disk")) read_part(in, "disk", cache.disk.emplace(), read_disk);
}

// A number from 0 to 1.
void read_share(Section& in, std::string_view key, double& into) {
  const auto found = in.find(key);
  if (!found) return;
  double value = -1;
  const auto text = found->number();
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (!(value >= 0 && value <= 1)) return in.expected(*found, "a number from 0 to 1");
  into = value;
}

void read_digest(Section& in, DigestSettings& digest) {
  in.read("bits_per_entry", digest.bits_per_entry, kBitsPerEntry);
  in.read("period", digest.period, {50ms, 1h});
  in.read("poll", digest.poll, {100ms, 1h});
  in.read("squid_bits_per_entry", digest.squid.bits_per_entry, kBitsPerEntry);
  in.read("squid_period", digest.squid.period, {1s, 24h});
  in.read("squid_pause", digest.squid.pause, {0ms, 2s});
  digest.peer_memory_by_default = !in.find("peer_memory");
  in.read("peer_memory", digest.peer_memory, {mebibytes(1), ByteSize{1ULL << 40}});
  read_share(in, "false_miss_sample", digest.samples.false_miss);
  read_share(in, "check_sample", digest.samples.check);
  in.read("check_pause", digest.check_pause, {10ms, 1min});
  read_share(in, "confirm_sample", digest.samples.confirm);
  in.read_word("prefer", digest.prefer,
               {{"latency", Prefer::latency},
                {"origin-load", Prefer::origin_load},
                {"neighbours", Prefer::neighbours}});
  in.read_word("site_collapse", digest.site_collapse,
               {{"auto", SiteCollapse::automatic}, {"off", SiteCollapse::off}});
  in.read_word("duplicates", digest.duplicates,
               {{"second", Duplicates::second},
                {"always", Duplicates::always},
                {"never", Duplicates::never}});
}

void read_log(Section& in, LogSettings& log) {
  in.read_word("format", log.format, {{"squid", LogFormat::squid}, {"json", LogFormat::json}});
  in.read_word("events", log.events, {{"text", EventFormat::text}, {"json", EventFormat::json}});
  in.read("site_questions", log.site_questions);
  std::string access = "stdout";
  in.read_parsed("access", access, "\"stdout\", \"none\" or the path of a file", plain_text);
  // A file of one of these names is written as a path: "./stdout".
  log.access = access == "stdout" ? LogTarget::standard_output
               : access == "none" ? LogTarget::none
                                  : LogTarget::file;
  if (log.access == LogTarget::file) log.path = access;
}

void read_timeouts(Section& in, Timeouts& timeouts) {
  // Below a tenth of a second a busy machine would break off what works.
  constexpr Range<milliseconds> kLong{100ms, 24h};
  // A neighbour is to answer sooner than the origin does, so its limits may be far below those of
  // origins.
  constexpr Range<milliseconds> kShort{1ms, 1min};
  in.read("head", timeouts.head, kLong);
  in.read("body", timeouts.body, kLong);
  in.read("connect", timeouts.connect, kLong);
  in.read("unreachable", timeouts.unreachable, {0ms, 1h});
  in.read("first_byte", timeouts.first_byte, kLong);
  in.read("keep_alive", timeouts.keep_alive, kLong);
  in.read("peer_connect", timeouts.peer_connect, kShort);
  in.read("peer_first_byte", timeouts.peer_first_byte, kShort);
  in.read("drain", timeouts.drain, {0ms, 1h});
  in.read("hand_over", timeouts.hand_over, {0ms, 24h});
}

void read_limits(Section& in, Limits& limits) {
  constexpr Range<std::size_t> kCount{1, 10'000'000};
  constexpr Range<ByteSize> kRate{kibibytes(1), ByteSize{1ULL << 40}};  // per second
  in.read("connections", limits.connections, kCount);
  in.read("head", limits.head, {kibibytes(1), mebibytes(1)});
  in.read("fields", limits.fields, {10, 10'000});
  in.read("bytes_per_client", limits.bytes_per_client, {kibibytes(64), ByteSize{1ULL << 44}});
  in.read("connections_per_client", limits.connections_per_client, kCount);
  in.read("requests_per_client", limits.requests_per_client, kCount);
  in.read("bandwidth", limits.bandwidth, kRate);
  in.read("bandwidth_per_client", limits.bandwidth_per_client, kRate);
  limits.heads_by_default = !in.find("heads");
  in.read("heads", limits.heads, {mebibytes(1), ByteSize{1ULL << 40}});
  in.read("least_rate", limits.least_rate, {ByteSize{0}, mebibytes(1)});
}

}  // namespace

Settings read_settings(const Value& document, Faults& faults) {
  Settings settings;
  Section in({&document, ""}, faults);
  in.read_token("name", settings.process.name);
  read_listen(in, settings.process.listen, settings.gateway.mirrors.listeners);
  // More is a typing mistake, which would start a thread and open sockets for each.
  in.read("threads", settings.process.threads, {0, 1'024});
  in.read_parsed("user", settings.process.user, "the name of a user", plain_text);
  in.read("sandbox", settings.process.sandbox);
  read_control(in, settings.process.control);
  read_part(in, "cache", settings.cache, read_cache);
  read_part(in, "digest", settings.digest, read_digest);
  read_peers(in, settings.peers);
  read_never_direct(in, settings.peers, settings.never_direct);
  read_pac_fallback(in, settings.pages.pac_fallback);
  read_reverse(in, settings.process.listen, settings.gateway.reverse);
  read_part(in, "mirrors", settings.gateway.mirrors, read_mirrors);
  read_forwarded(in, settings.gateway.forwarded);
  if (in.find("forward")) in.read("forward", settings.gateway.forward.emplace(true));
  read_rules(in, settings.rules);
  read_part(in, "access", settings.access, read_access);
  read_part(in, "log", settings.log, read_log);
  read_part(in, "timeouts", settings.timeouts, read_timeouts);
  read_part(in, "limits", settings.limits, read_limits);
  in.read_parsed("contact", settings.pages.contact,
                 "whom people may ask, in one line of at most 200 bytes, such as \"the help desk, "
                 "help@example.org\"",
                 text_if(is_contact));
  in.read_parsed("pages", settings.pages.folder,
                 "the path of a folder, such as \"/etc/hearsay/pages\"", plain_text);
  // The paths of files are relative to the file that names them, and a text alone has no folder.
  if (const auto include = in.find("include")) {
    in.fault(*include, "is for settings that are read from a file");
  }
  in.finish();
  return settings;
}

}  // namespace config
