#include <algorithm>
#include <array>

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
    Mode{"accel",
         "\"reverse\" lists the sites for which Hearsay is the server, on all ports of listen"},
    Mode{"vhost",
         "\"reverse\" lists the sites for which Hearsay is the server, on all ports of listen"},
    Mode{"intercept", "connections to other servers are not intercepted; use /wpad.dat"},
    Mode{"transparent", "connections to other servers are not intercepted; use /wpad.dat"},
    Mode{"tproxy", "connections to other servers are not intercepted; use /wpad.dat"},
    Mode{"require-proxy-header", "there is no PROXY protocol"},
    Mode{"protocol=https", "listen has no TLS"}};

bool is_bumped(const Line& line) {
  return std::any_of(line.words.begin() + 1, line.words.end(),
                     [](const Word& word) { return config::lower_case(word.text) == "ssl-bump"; });
}

std::string_view reason_to_leave(const Line& line) {
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const auto* const found = std::find_if(kModes.begin(), kModes.end(), [&](const Mode& mode) {
      return config::lower_case(line.words[i].text) == mode.word;
    });
    if (found != kModes.end()) return found->why;
  }
  return {};
}

// Squid listens on all addresses of both families with one socket.
std::vector<std::string> sockets_of(const std::string& text) {
  if (config::parse_number(text, 65'535)) return {"0.0.0.0:" + text, "[::]:" + text};
  return {text};
}

}  // namespace

std::vector<config::HostPort> read_ports(const std::vector<Line>& lines, Imported& into,
                                         Findings& findings) {
  std::vector<config::HostPort> sockets;
  std::vector<std::string> texts;
  const auto tell = [&](const Line& line, std::string_view what) {
    findings.push_back({line.place, Kind::left, line.text, std::string(what)});
  };
  for (const Line& line : lines) {
    if (line.name == "https_port") tell(line, "listen has no TLS; put a server with TLS before it");
    if (line.name != "http_port" || line.words.empty()) continue;
    if (const auto why = reason_to_leave(line); !why.empty()) {
      tell(line, why);
      continue;
    }
    if (is_bumped(line)) {
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
  return sockets;
}

}  // namespace proxy::command::squid
