#include <algorithm>

#include "config/text.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

bool has_option(const Line& line, std::string_view option) {
  return std::any_of(line.words.begin(), line.words.end(), [option](const Word& word) {
    return config::lower_case(word.text) == option;
  });
}

std::string value_of(const Line& line, std::string_view option) {
  for (const Word& word : line.words) {
    if (word.text.starts_with(option)) return config::lower_case(word.text).substr(option.size());
  }
  return {};
}

bool is_accelerator(const Line& line) {
  return has_option(line, "accel") || has_option(line, "vhost") || has_option(line, "vport") ||
         !value_of(line, "vport=").empty() || !value_of(line, "defaultsite=").empty();
}

// The site of a port whose requests are all for one; empty: the Host of each names it.
std::string site_of(const Line& line) {
  const auto site = config::parse_host_pattern(value_of(line, "defaultsite="));
  const bool is_host = site && site->host.find_first_of("*[:") == std::string::npos;
  return is_host && has_option(line, "no-vhost") ? value_of(line, "defaultsite=") : "";
}

Accelerators accelerators_of(const std::vector<Line>& lines, Findings& findings) {
  std::vector<Line> ports;
  bool has_others = false;
  for (const Line& line : lines) {
    if (line.words.empty() || (line.name != "http_port" && line.name != "https_port")) continue;
    if (is_accelerator(line)) {
      ports.push_back(line);
    } else {
      has_others = has_others || line.name == "http_port";
    }
  }
  if (ports.empty()) return {};
  Accelerators found{true, has_others, site_of(ports.front())};
  for (const Line& line : ports) {
    found.forwards = found.forwards || has_option(line, "allow-direct");
    if (site_of(line) != site_of(ports.front())) found.site.clear();
    if (has_option(line, "ignore-cc")) {
      tell(findings, line, Kind::left,
           "ignore-cc: write a rule for the sites with \"ignore_client_no_cache\": true");
    }
    if (site_of(line).empty() && !value_of(line, "defaultsite=").empty()) {
      tell(findings, line, Kind::changed,
           "defaultsite: a request without Host is answered only if \"reverse\" has the host "
           "\"*\"");
    }
  }
  if (found.site.empty() && !site_of(ports.front()).empty()) {
    tell(findings, ports.front(), Kind::changed,
         "the Host of a request names its site, on all ports alike");
  }
  if (has_others) {
    tell(findings, ports.front(), Kind::changed,
         "every port of listen serves both the sites of \"reverse\" and clients that use it as "
         "their proxy; access says who may do what");
  }
  return found;
}

std::string_view reason_to_leave(const Line& line) {
  for (const std::string_view mode : {"intercept", "transparent", "tproxy"}) {
    if (has_option(line, mode)) {
      return "connections to other servers are not intercepted; use /wpad.dat";
    }
  }
  if (has_option(line, "require-proxy-header")) return "there is no PROXY protocol";
  if (has_option(line, "protocol=https") || line.name == "https_port") {
    return "listen has no TLS; put a server with TLS before it";
  }
  return line.conditional ? "it depends on a condition" : "";
}

}  // namespace

Listening read_ports(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  Listening listening{{}, accelerators_of(lines, findings)};
  std::vector<std::string> texts;
  for (const Line& line : lines) {
    if ((line.name != "http_port" && line.name != "https_port") || line.words.empty()) continue;
    if (const auto why = reason_to_leave(line); !why.empty()) {
      tell(findings, line, Kind::left, std::string(why));
      continue;
    }
    if (has_option(line, "ssl-bump")) {
      tell(findings, line, Kind::left,
           "ssl-bump: TLS is not opened; https through CONNECT passes unseen");
    }
    // Squid listens on all addresses of both families with one socket.
    const std::string& text = line.words[0].text;
    std::vector<std::string> sockets{text};
    if (config::parse_number(text, 65'535)) sockets = {"0.0.0.0:" + text, "[::]:" + text};
    for (const std::string& each : sockets) {
      const auto socket = config::parse_listen(each);
      auto& known = listening.sockets;
      if (!socket || socket->port == 0) {
        tell(findings, line, Kind::left,
             "listen takes an address and a port, such as \"10.0.0.1:3128\"");
      } else if (std::find(known.begin(), known.end(), *socket) == known.end()) {
        known.push_back(*socket);
        texts.push_back(each);
      }
    }
  }
  const bool none = texts.empty();
  if (none) {
    texts.emplace_back("127.0.0.1:3128");
    listening.sockets.push_back(*config::parse_listen(texts[0]));
  }
  Json& listen = into.top.add("listen", Json::texts(texts));
  if (none) listen.comment("no http_port line could be carried over");
  if (texts.front().starts_with("0.0.0.0:")) {
    listen.comment("all addresses; leave out [::] on a machine without IPv6");
  }
  return listening;
}

}  // namespace proxy::command::squid
