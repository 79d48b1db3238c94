#include <algorithm>
#include <array>
#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

struct Mode {
  std::string_view word;
  std::string_view why;
};

constexpr std::array kModes{
    Mode{"intercept", "connections to other servers are not intercepted; use /wpad.dat"},
    Mode{"transparent", "connections to other servers are not intercepted; use /wpad.dat"},
    Mode{"tproxy", "connections to other servers are not intercepted; use /wpad.dat"},
    Mode{"require-proxy-header", "there is no PROXY protocol"},
    Mode{"protocol=https", "listen has no TLS"}};

std::string_view reason_to_leave(const Line& line) {
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const auto* const found = std::find_if(kModes.begin(), kModes.end(), [&](const Mode& mode) {
      return config::lower_case(line.words[i].text) == mode.word;
    });
    if (found != kModes.end()) return found->why;
  }
  return {};
}

bool has_option(const Line& line, std::string_view option) {
  return std::any_of(line.words.begin() + 1, line.words.end(), [option](const Word& word) {
    return config::lower_case(word.text) == option;
  });
}

std::string value_of(const Line& line, std::string_view option) {
  for (const Word& word : line.words) {
    if (word.text.starts_with(option)) return config::lower_case(word.text).substr(option.size());
  }
  return {};
}

bool is_host(const std::string& text) {
  const auto host = config::parse_host_pattern(text);
  return host && host->host.find_first_of("*[:") == std::string::npos;
}

bool is_accelerator(const Line& line) {
  return has_option(line, "accel") || has_option(line, "vhost") || has_option(line, "vport") ||
         !value_of(line, "vport=").empty() || !value_of(line, "defaultsite=").empty();
}

// What a port says of the sites for which Squid is the server.
class AcceleratorPorts {
 public:
  explicit AcceleratorPorts(Findings& findings) : findings_(findings) {}

  void read(const Line& line) {
    if (!is_accelerator(line)) {
      has_others_ = has_others_ || line.name == "http_port";
      return;
    }
    forwards_ = forwards_ || has_option(line, "allow-direct");
    const std::string named = value_of(line, "defaultsite=");
    const std::string site = has_option(line, "no-vhost") && is_host(named) ? named : std::string();
    differ_ = differ_ || (first_ && site != site_);
    site_ = site;
    if (!first_) first_ = line;
    if (has_option(line, "ignore-cc")) {
      tell(line, Kind::left,
           "ignore-cc: write a rule for the sites with \"ignore_client_no_cache\": true");
    }
    if (site.empty() && !named.empty()) {
      tell(line, Kind::changed,
           "defaultsite: a request without Host is answered only if \"reverse\" has the host "
           "\"*\"");
    }
  }

  Accelerators found() && {
    if (!first_) return {};
    if (has_others_) {
      tell(*first_, Kind::changed,
           "every port of listen serves both the sites of \"reverse\" and clients that use it as "
           "their proxy; access says who may do what");
    }
    if (differ_) {
      tell(*first_, Kind::changed, "the Host of a request names its site, on all ports alike");
    }
    return {true, has_others_ || forwards_, differ_ ? std::string() : site_};
  }

 private:
  void tell(const Line& line, Kind kind, std::string what) {
    findings_.push_back({line.place, kind, line.text, std::move(what)});
  }

  Findings& findings_;
  std::optional<Line> first_;
  std::string site_;
  bool differ_ = false;
  bool has_others_ = false;
  bool forwards_ = false;
};

// Squid listens on all addresses of both families with one socket.
std::vector<std::string> sockets_of(const std::string& text) {
  if (config::parse_number(text, 65'535)) return {"0.0.0.0:" + text, "[::]:" + text};
  return {text};
}

}  // namespace

Listening read_ports(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  std::vector<config::HostPort> sockets;
  AcceleratorPorts accelerators(findings);
  std::vector<std::string> texts;
  const auto tell = [&](const Line& line, std::string_view what) {
    findings.push_back({line.place, Kind::left, line.text, std::string(what)});
  };
  for (const Line& line : lines) {
    if (line.name == "https_port") tell(line, "listen has no TLS; put a server with TLS before it");
    const bool is_port = line.name == "http_port" || line.name == "https_port";
    if (is_port && !line.words.empty()) accelerators.read(line);
    if (line.name != "http_port" || line.words.empty()) continue;
    if (const auto why = reason_to_leave(line); !why.empty()) {
      tell(line, why);
      continue;
    }
    if (has_option(line, "ssl-bump")) {
      tell(line, "ssl-bump: TLS is not opened; https through CONNECT passes unseen");
    }
    for (const std::string& text : sockets_of(line.words[0].text)) {
      const auto socket = config::parse_listen(text);
      if (!socket || socket->port == 0 || line.conditional) {
        tell(line, "listen takes an address and a port, such as \"10.0.0.1:3128\"");
      } else if (std::find(sockets.begin(), sockets.end(), *socket) == sockets.end()) {
        sockets.push_back(*socket);
        texts.push_back(text);
      }
    }
  }
  if (texts.empty()) {
    texts.push_back("127.0.0.1:3128");
    sockets.push_back(*config::parse_listen(texts[0]));
    into.top.add("listen", Json::texts(texts)).comment("no http_port line could be carried over");
  } else {
    Json& listen = into.top.add("listen", Json::texts(texts));
    const bool all = texts.front().starts_with("0.0.0.0:");
    if (all) listen.comment("all addresses; leave out [::] on a machine without IPv6");
  }
  return {std::move(sockets), std::move(accelerators).found()};
}

}  // namespace proxy::command::squid
