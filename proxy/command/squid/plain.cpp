#include "proxy/command/squid/parts.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/acl.hpp"

namespace proxy::command::squid {
namespace {

using config::ByteSize;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
using Units = std::array<Unit, 9>;

// KB, MB and GB are powers of 1024.
constexpr Units kBytes{{{"bytes", 1}, {"b", 1}, {"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}}};
constexpr Units kTimes{{{"millisecond", 1},
                        {"second", 1'000},
                        {"minute", 60'000},
                        {"hour", 3'600'000},
                        {"day", 86'400'000},
                        {"week", 604'800'000},
                        {"fortnight", 1'209'600'000},
                        {"month", 2'592'000'000},
                        {"year", 31'536'000'000}}};

// "256 MB", "30 seconds": two words, or one. `unit` is that of a number without one.
std::optional<std::uint64_t> quantity_of(const Line& line, const Units& units, std::uint64_t unit) {
  // Beyond all settings, and far from what 64 bits can count.
  constexpr std::uint64_t kMost = 1ULL << 50;
  if (line.words.empty()) return std::nullopt;
  const std::string& text = line.words[0].text;
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = config::parse_number(text.substr(0, end), kMost);
  std::string name = config::lower_case(text.substr(end));
  if (name.empty() && line.words.size() > 1) name = config::lower_case(line.words[1].text);
  const auto* const found = std::find_if(units.begin(), units.end(), [&](const Unit& each) {
    return !each.name.empty() && (name == each.name || name == std::string(each.name) + 's');
  });
  if (!number || (found == units.end() && end < text.size())) return std::nullopt;
  if (found != units.end()) unit = found->factor;
  // By a division, since the product could overflow.
  return *number > kMost / unit ? std::nullopt : std::optional(*number * unit);
}

std::string size_text(std::uint64_t bytes) {
  return config::to_text(ByteSize{bytes});
}

// What the settings call the value; the word itself if it is none.
Json text_value(const Line& line) {
  return line.words[0].text;
}

Json count_value(const Line& line) {
  const auto count = config::parse_number(line.words[0].text, ~0U);
  return count ? Json(*count) : text_value(line);
}

Json size_value(const Line& line) {
  // A number without a unit: KB for the head of a request, but bytes in read_size().
  const auto size = quantity_of(line, kBytes, 1 << 10);
  return size ? Json(size_text(*size)) : text_value(line);
}

Json time_value(const Line& line) {
  const auto time = time_of(line);
  return time ? Json(config::to_text(*time)) : text_value(line);
}

// A directive that is one member of the settings.
struct Setting {
  std::string_view directive;
  std::string_view word;       // the value of the directive that this is for; empty: any
  const char* path;            // such as "timeouts.head"; null: it is so by default
  Json (*value)(const Line&);  // of any value; else
  std::string_view json = {};  // what the word is
};

constexpr std::array kSettings{
    Setting{"visible_hostname", "", "name", text_value},
    Setting{"cache_mgr", "", "contact", text_value},
    Setting{"unique_hostname", "", "name", text_value},
    Setting{"workers", "-1", nullptr, nullptr},
    Setting{"workers", "", "threads", count_value},
    Setting{"request_timeout", "", "timeouts.head", time_value},
    Setting{"read_timeout", "", "timeouts.body", time_value},
    Setting{"connect_timeout", "", "timeouts.connect", time_value},
    Setting{"client_idle_pconn_timeout", "", "timeouts.keep_alive", time_value},
    Setting{"persistent_request_timeout", "", "timeouts.keep_alive", time_value},
    Setting{"peer_connect_timeout", "", "timeouts.peer_connect", time_value},
    Setting{"shutdown_lifetime", "", "timeouts.drain", time_value},
    Setting{"request_header_max_size", "", "limits.head", size_value},
    Setting{"client_ip_max_connections", "-1", nullptr, nullptr},
    Setting{"client_ip_max_connections", "", "limits.connections_per_client", count_value},
    Setting{"offline_mode", "on", "cache.offline", nullptr, "true"},
    Setting{"offline_mode", "off", nullptr, nullptr},
    Setting{"log_icp_queries", "off", "log.site_questions", nullptr, "false"},
    Setting{"log_icp_queries", "on", nullptr, nullptr},
    Setting{"forwarded_for", "on", "forwarded", nullptr, "\"append\""},
    Setting{"forwarded_for", "transparent", "forwarded", nullptr, "\"off\""},
    Setting{"forwarded_for", "delete", "forwarded", nullptr, "\"remove\""},
    Setting{"forwarded_for", "off", "forwarded", nullptr, "\"remove\""},
    Setting{"forwarded_for", "truncate", "forwarded", nullptr, "\"replace\""}};

// A directive that is given twice keeps its first value.
void read_setting(const Line& line, Json& into, Findings& findings) {
  const std::string& word = line.words[0].text;
  const Setting* found = nullptr;
  bool known = false;
  for (const Setting& each : kSettings) {
    if (each.directive != line.name) continue;
    known = true;
    if (!found && (each.word.empty() || each.word == word)) found = &each;
  }
  if (known && !found) return findings.left(line, "its value is not known");
  if (!found || !found->path) return;
  const Json value = found->value ? found->value(line) : Json::parse(found->json);
  if (auto fault = fault_of(found->path, value); !fault.empty()) {
    return findings.left(line, std::move(fault));
  }
  Json& member = member_at(into, found->path);
  if (member.is_null()) member = value;
  if (line.name == "forwarded_for" && word == "off") {
    findings.changed(line, "the field is left out, where Squid sends \"unknown\"");
  }
}

// "[MODULE:]PLACE [FORMAT|option ...] [ACL ...]".
void read_log(const Line& line, Json& into, Findings& findings) {
  if (into.contains("log") && into["log"].contains("access")) {
    return findings.left(line, "there is one access log, of the first such line");
  }
  const std::string& target = line.words[0].text;
  const auto colon = target.find(':');
  const std::string module = target.substr(0, colon == target.npos ? 0 : colon);
  // Without a colon, npos + 1 is 0, and the whole word is the path.
  std::string path = target.substr(colon + 1);
  if (path == "/dev/stdout") path = "stdout";
  // Other modules send the log to another machine or to syslog.
  if (!module.empty() && module != "stdio" && module != "daemon") {
    return findings.left(line, "log.access is a file, \"stdout\" or \"none\"");
  }
  const bool is_file = path != "stdout" && path != "none";
  into["log"]["access"] = is_file ? "/var/log/hearsay/access.log" : path;
  if (is_file) {
    add_comment(
        into["log"],
        "In the folder that the service hearsay may write, and logrotate looks after. Squid had " +
            path + '.',
        "access");
  }
  if (line.words.size() < 2 || path == "none") return;
  const std::string& format = line.words[1].text;
  if (format != "squid" && format != "logformat=squid") {
    findings.left(line, "log.format is \"squid\" or \"json\"; all requests are logged");
  } else if (line.words.size() > 2) {
    findings.left(line, "all requests are logged");
  }
}

// The sizes of the cache, and how large a response may be.
struct CacheSizes {
  std::optional<std::uint64_t> memory, disk, largest, largest_in_memory;
  Line in_memory_line, disk_line;
};

void read_directory(const Line& line, CacheSizes& storage, Findings& findings) {
  const std::string size = line.words.size() > 2 ? line.words[2].text : "";
  const auto mebibytes = config::parse_number(size, 1U << 30);
  const Json disk{{"path", line.words.size() > 1 ? line.words[1].text : ""},
                  {"size", size_text(mebibytes.value_or(0) << 20)}};
  const auto fault = fault_of("cache.disk", disk);
  if (line.conditional || !fault.empty()) return findings.left(line, fault);
  // The largest, as most of what is stored today lies there, and its file system has the room.
  const bool is_largest = !storage.disk || *mebibytes << 20 > *storage.disk;
  if (storage.disk) {
    findings.left(
        is_largest ? storage.disk_line : line,
        "the cache has one directory, and the largest one is taken; join disks by LVM or RAID");
  }
  const bool sized = line.text.find(" min-size=") != line.text.npos ||
                     line.text.find(" max-size=") != line.text.npos;
  if (sized) findings.left(line, "the disk takes responses of all sizes");
  if (!is_largest) return;
  storage.disk = *mebibytes << 20;
  storage.disk_line = line;
}

void read_size(const Line& line, CacheSizes& storage, Findings& findings) {
  const auto size = quantity_of(line, kBytes, 1);
  if (!size || line.conditional) {
    findings.left(line, "has no size that is understood");
  } else if (line.name == "cache_mem") {
    auto fault = fault_of("cache.memory", size_text(*size));
    if (!fault.empty()) return findings.left(line, std::move(fault));
    storage.memory = size;
  } else if (line.name == "maximum_object_size_in_memory") {
    storage.in_memory_line = line;
    if (*size > 0) storage.largest_in_memory = size;
  } else if (*size == 0) {
    findings.left(line, "cache.max_object is 1B or more; rules with never_store store nothing");
  } else {
    storage.largest = size;
  }
}

void write_storage(const CacheSizes& storage, Json& cache, Findings& findings) {
  if (storage.memory) cache["memory"] = size_text(*storage.memory);
  if (storage.disk) {
    cache["disk"] = {{"path", "/var/cache/hearsay"}, {"size", size_text(*storage.disk)}};
    add_comment(cache,
                "The directory that the service hearsay may write. Squid had " +
                    storage.disk_line.words[1].text +
                    ": delete its files, and mount that disk here, if it is one of its own.",
                "disk");
  }
  // Without a disk, Squid keeps what fits both limits.
  auto largest = storage.largest;
  if (storage.disk && storage.largest_in_memory) {
    findings.unneeded(storage.in_memory_line,
                      "memory holds the parts of large responses that are requested most");
  } else if (storage.largest_in_memory) {
    largest = std::min(largest.value_or(~0ULL), *storage.largest_in_memory);
  }
  // The default of the settings. Without a disk, no response may be larger than the memory.
  constexpr std::uint64_t kDefaultMemory = 256 << 20;
  if (largest && !storage.disk) {
    largest = std::min(*largest, storage.memory.value_or(kDefaultMemory));
  }
  if (largest) cache["max_object"] = size_text(*largest);
}

// The first line of a directive about a delay pool; null: there is none.
const Line* first_of_pool(const std::vector<Line>& lines, std::string_view name,
                          const Line& parameters) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
    return line.name == name && !line.words.empty() &&
           line.words[0].text == parameters.words[0].text;
  });
  return found == lines.end() ? nullptr : &*found;
}

// The rate in "RESTORE/MAX", in bytes; 0: none.
std::uint64_t rate_of(const std::string& text) {
  return config::parse_number(text.substr(0, text.find('/')), 1ULL << 40).value_or(0);
}

// Sets a limit to the rate, if there is one.
void read_rate(const Line& line, const std::string& text, const char* path, Json& into,
               Findings& findings) {
  // In Squid, -1 and "none" set no limit.
  const auto rate = rate_of(text);
  if (rate == 0) return;
  const Json value = size_text(rate);
  auto fault = fault_of(path, value);
  if (!fault.empty()) return findings.left(line, std::move(fault));
  member_at(into, path) = value;
}

}  // namespace

std::optional<std::chrono::milliseconds> time_of(const Line& line) {
  const auto time = quantity_of(line, kTimes, 1'000);
  return time ? std::optional(std::chrono::milliseconds(*time)) : std::nullopt;
}

void read_plain(const std::vector<Line>& lines, Json& into, Findings& findings) {
  CacheSizes storage;
  for (const Line& line : lines) {
    if (line.name == "cache_dir") read_directory(line, storage, findings);
    if (line.name == "cache_mem" || line.name.starts_with("maximum_object_size"))
      read_size(line, storage, findings);
    if (line.words.empty() || line.conditional) continue;
    if (line.name == "access_log" || line.name == "cache_access_log") {
      read_log(line, into, findings);
    }
    read_setting(line, into, findings);
  }
  write_storage(storage, into["cache"], findings);
}

Users read_users(const std::vector<Line>& lines, Json& into, Findings& findings) {
  Json users;
  Json realm = "";
  for (const Line& line : lines) {
    if (line.name != "auth_param" || line.words.size() < 2) continue;
    const auto& words = line.words;
    const std::string& key = words[1].text;
    if (words[0].text != "basic") {
      findings.left(line, "users prove themselves by Basic alone");
    } else if (key == "program") {
      const bool ncsa = words.size() == 4 && words[2].text.ends_with("basic_ncsa_auth");
      const Json found{{"file", ncsa ? Json(words[3].text) : Json()}};
      if (line.conditional || !fault_of("access.users", found).empty()) {
        findings.left(line, "users are known from an htpasswd file only (basic_ncsa_auth FILE)");
        continue;
      }
      // Squid's file is read where it lies, since passwords have to change in one place.
      users = found;
      findings.changed(
          line,
          "hashes have to be bcrypt (htpasswd -B) or SHA-512; passwords are asked for over "
          "loopback only; for clients in the network set access.users.cleartext to true");
    } else if (key == "casesensitive" && words.size() > 2 && words[2].text == "off") {
      findings.left(line, "the names of users are compared byte for byte");
    } else if (key == "realm") {
      std::string text;  // Squid takes the rest of the line
      for (std::size_t i = 2; i < words.size(); ++i) text += (i > 2 ? " " : "") + words[i].text;
      realm = text;
    } else {
      findings.unneeded(line, "passwords are checked in the proxy itself, and remembered");
    }
  }
  if (users.empty()) return Users::unknown;
  into["access"]["users"] = users;
  users["realm"] = realm;
  // A realm that the settings do not take must not cost the users.
  if (fault_of("access.users", users).empty()) into["access"]["users"] = users;
  return Users::known;
}

// The settings limit all clients, so they carry over a single pool that all requests are in.
void read_bandwidth(const std::vector<Line>& lines, Json& into, Findings& findings) {
  std::vector<std::pair<const Line*, const Line*>> limits;  // with the first line of their access
  for (const Line& line : lines) {
    if (line.name != "delay_parameters" || line.words.empty()) continue;
    const Line* const access = first_of_pool(lines, "delay_access", line);
    // If the first line is for all requests, Squid looks at no other.
    if (access && !is_for_all(*access, "deny", 1)) {
      limits.emplace_back(&line, access);
    } else {
      findings.unneeded(line, "no request is in this pool");
    }
  }
  for (const auto& [limit, access] : limits) {
    const Line* const kind = first_of_pool(lines, "delay_class", *limit);
    const std::string number = kind && kind->words.size() > 1 ? kind->words[1].text : "";
    if (limits.size() > 1) {
      findings.left(*limit, "there is one limit for all clients together, and one for each");
    } else if (!is_for_all(*access, "allow", 1)) {
      findings.left(*limit,
                    "it is for the requests of delay_access, and limits.bandwidth and "
                    "limits.bandwidth_per_client would hold for all clients and all destinations");
    } else if (!lists("1|2|3", number) || limit->words.size() < 2 || limit->conditional) {
      findings.left(*limit, "limits.bandwidth and limits.bandwidth_per_client are all there is");
    } else {
      const auto& words = limit->words;
      read_rate(*limit, words[1].text, "limits.bandwidth", into, findings);
      if (number == "1") continue;
      // The last rate is that of a client, in class 2 and after that of a network in class 3.
      read_rate(*limit, words.back().text, "limits.bandwidth_per_client", into, findings);
      if (number == "3" && words.size() > 2 && rate_of(words[2].text) > 0) {
        findings.left(*limit, "a network has no limit of its own");
      }
    }
  }
}

}  // namespace proxy::command::squid
