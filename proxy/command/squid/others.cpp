#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "config/text.hpp"
#include "proxy/command/squid/plain.hpp"
#include "proxy/command/squid/quantity.hpp"

namespace proxy::command::squid {
namespace {

using namespace std::chrono_literals;
using config::milliseconds;
using Kind = Finding::Kind;

struct TimeSetting {
  std::string_view directive;
  std::string_view setting;  // under `timeouts`
  milliseconds least, most;
};

constexpr std::array kTimes{TimeSetting{"request_timeout", "head", 100ms, 24h},
                            TimeSetting{"read_timeout", "body", 100ms, 24h},
                            TimeSetting{"connect_timeout", "connect", 100ms, 24h},
                            TimeSetting{"client_idle_pconn_timeout", "keep_alive", 100ms, 24h},
                            TimeSetting{"persistent_request_timeout", "keep_alive", 100ms, 24h},
                            TimeSetting{"peer_connect_timeout", "peer_connect", 1ms, 1min},
                            TimeSetting{"shutdown_lifetime", "drain", 0ms, 1h}};

class Reader {
 public:
  Reader(Imported& into, Findings& findings) : into_(into), findings_(findings) {}

  void read(const Line& line) {
    if (line.words.empty() || line.conditional) return;
    const std::string& word = line.words[0].text;
    if (line.name == "visible_hostname" || line.name == "unique_hostname")
      return read_name(line, word);
    if (line.name == "workers") return read_workers(line, word);
    if (line.name == "access_log" || line.name == "cache_access_log") return read_log(line, word);
    if (line.name == "forwarded_for") return read_forwarded(line, word);
    if (line.name == "offline_mode" && word == "on") set(into_.cache, "offline", Json::truth(true));
    if (line.name == "log_icp_queries" && word == "off") {
      set(into_.log, "site_questions", Json::truth(false));
    }
    if (line.name == "via" && word == "off") {
      tell(line, Kind::left, "Via is always sent: it ends loops between proxies");
    }
    if (line.name == "request_header_max_size") return read_head(line);
    if (line.name == "client_ip_max_connections") return read_connections(line, word);
    for (const TimeSetting& time : kTimes) {
      if (line.name == time.directive) return read_time(line, time);
    }
  }

  void write_log() {
    if (!log_) return;
    const bool is_file = *log_ != "stdout" && *log_ != "none";
    auto& access =
        into_.log.add("access", Json::text(is_file ? "/var/log/hearsay/access.log" : *log_));
    if (!is_file) return;
    access.comment(
        "In the folder that the service hearsay may write, and logrotate looks after. "
        "Squid had " +
        *log_ + ".");
  }

 private:
  // A directive that is given twice keeps its first value; a second one would be a fault.
  void set(Json& into, const std::string& key, Json value) {
    const std::pair<const Json*, std::string> place(&into, key);
    if (std::find(set_.begin(), set_.end(), place) != set_.end()) return;
    set_.push_back(place);
    into.add(key, std::move(value));
  }

  void read_name(const Line& line, const std::string& name) {
    if (!config::is_token(name) || name.size() > 64) {
      return tell(line, Kind::left, "a name has letters, digits, '-', '.' and '_', 64 at most");
    }
    set(into_.top, "name", Json::text(name));
  }

  void read_workers(const Line& line, const std::string& count) {
    const auto threads = config::parse_number(count, 1'024);
    if (!threads || *threads == 0) return tell(line, Kind::left, "threads is from 1 to 1024");
    set(into_.top, "threads", Json::number(*threads));
  }

  // "[MODULE:]PLACE [FORMAT|option ...] [ACL ...]".
  void read_log(const Line& line, const std::string& target) {
    if (log_) return tell(line, Kind::left, "there is one access log, of the first such line");
    const auto colon = target.find(':');
    const std::string module = colon == target.npos ? "" : target.substr(0, colon);
    std::string path = colon == target.npos ? target : target.substr(colon + 1);
    if (target == "none") path = "none";
    const bool to_file = module.empty() || module == "stdio" || module == "daemon";
    if (!to_file || path.empty() || config::printable(path, 4'000) != path) {
      return tell(line, Kind::left, "log.access is a file, \"stdout\" or \"none\"");
    }
    if (path == "/dev/stdout") path = "stdout";
    log_ = path;
    if (line.words.size() < 2 || path == "none") return;
    std::string format = line.words[1].text;
    if (format.starts_with("logformat=")) format = format.substr(10);
    if (format != "squid") {
      tell(line, Kind::left, "log.format is \"squid\" or \"json\"; all requests are logged");
    } else if (line.words.size() > 2) {
      tell(line, Kind::left, "all requests are logged");
    }
  }

  void read_forwarded(const Line& line, const std::string& how) {
    if (how == "on") set(into_.after_peers, "forwarded", Json::text("append"));
    if (how == "transparent") set(into_.after_peers, "forwarded", Json::text("off"));
    if (how == "delete") set(into_.after_peers, "forwarded", Json::text("remove"));
    if (how == "truncate") set(into_.after_peers, "forwarded", Json::text("replace"));
    if (how == "off") {
      set(into_.after_peers, "forwarded", Json::text("remove"));
      tell(line, Kind::changed, "the field is left out, where Squid sends \"unknown\"");
    }
  }

  void read_head(const Line& line) {
    const auto size = size_of(line.words, 0, 1 << 10);
    if (!size || *size < config::kibibytes(1) || *size > config::mebibytes(1)) {
      return tell(line, Kind::left, "limits.head is from 1KiB to 1MiB");
    }
    set(into_.limits, "head", Json::text(config::to_text(*size)));
  }

  void read_connections(const Line& line, const std::string& count) {
    if (count == "-1") return;  // any number
    const auto most = config::parse_number(count, 1'000'000);
    if (!most || *most == 0) {
      return tell(line, Kind::left, "limits.connections_per_client is from 1 to 1000000");
    }
    set(into_.limits, "connections_per_client", Json::number(*most));
  }

  void read_time(const Line& line, const TimeSetting& setting) {
    const auto time = time_of(line.words, 0, 1s);
    if (!time || *time < setting.least || *time > setting.most) {
      return tell(line, Kind::left,
                  "timeouts." + std::string(setting.setting) + " is from " +
                      config::to_text(setting.least) + " to " + config::to_text(setting.most));
    }
    set(into_.timeouts, std::string(setting.setting), Json::text(config::to_text(*time)));
  }

  void tell(const Line& line, Kind kind, std::string what) {
    findings_.push_back({line.place, kind, line.text, std::move(what)});
  }

  Imported& into_;
  Findings& findings_;
  std::vector<std::pair<const Json*, std::string>> set_;
  std::optional<std::string> log_;
};

}  // namespace

void read_others(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  Reader reader(into, findings);
  for (const Line& line : lines) reader.read(line);
  reader.write_log();
}

}  // namespace proxy::command::squid
