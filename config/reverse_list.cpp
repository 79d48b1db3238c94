#include <algorithm>
#include <string>

#include "config/sections.hpp"

namespace config {

namespace {

constexpr std::size_t kMostOrigins = 16;

void read_host(Section& in, Reverse& mapping) {
  const auto found = in.require("host", kHostPatternForm);
  const auto pattern = found ? in.host_pattern(*found) : std::nullopt;
  if (!pattern) return;
  mapping.host = pattern->host;
  mapping.port = pattern->port;
}

void read_origin(Section& in, const LocatedValue& found, std::span<const HostPort> listen,
                 std::vector<Origin>& to) {
  const auto url = in.parsed(found, "a URL like \"http://127.0.0.1:8000\", without path or user",
                             parse_server_url);
  if (!url) return;
  const auto here = std::find_if(listen.begin(), listen.end(),
                                 [&](const HostPort& own) { return is_ourselves(url->at, own); });
  if (here != listen.end()) {
    return in.fault(found, "is where we listen ourselves; name the server behind us");
  }
  const Origin origin{url->tls, url->at.host, url->at.port};
  if (std::count(to.begin(), to.end(), origin) > 0)
    return in.fault(found, "is listed twice; take one out");
  to.push_back(origin);
}

void read_origins(Section& in, std::span<const HostPort> listen, std::vector<Origin>& to) {
  constexpr std::string_view kForm = "a URL like \"http://127.0.0.1:8000\", or a list of them";
  const auto found = in.require("to", kForm);
  if (!found) return;
  if (found->text()) return read_origin(in, *found, listen, to);
  if (!std::holds_alternative<Array>(found->value->content)) return in.expected(*found, kForm);
  const auto items = in.items("to", "URLs");
  // An origin that fails costs each request the time to find out, so a list that is long helps
  // nobody.
  if (items->empty() || items->size() > kMostOrigins) {
    return in.fault(*found, "expected from 1 to " + std::to_string(kMostOrigins) + " URLs; found " +
                                std::to_string(items->size()));
  }
  for (const LocatedValue& item : *items) read_origin(in, item, listen, to);
}

void read_send_host(Section& in, std::string& host) {
  constexpr std::string_view kForm = "a host like \"www.example.com\", perhaps with a port";
  in.read_text("send_host", host, kForm);
  if (host.empty()) return;
  const auto parsed = parse_host_pattern(host);
  // It goes into a request as it is, so it must be one host.
  if (!parsed || parsed->host.starts_with('*')) in.expected(*in.find("send_host"), kForm);
}

// The client chooses the Host. With "*", any client could make our origin's pages pass for those of
// any site, here and at every neighbour.
void check_share(Section& in, const Reverse& mapping) {
  if (!mapping.share || mapping.host != "*") return;
  in.fault(*in.find("share"),
           "needs a named host, such as \"www.example.com\" or \"*.example.com\": under \"*\" a "
           "client could choose any site; name the hosts, or leave it out");
}

Reverse read_mapping(Section& in, std::span<const HostPort> listen,
                     const std::vector<Reverse>& others) {
  Reverse mapping;
  read_host(in, mapping);
  read_origins(in, listen, mapping.to);
  read_send_host(in, mapping.send_host);
  in.read("share", mapping.share);
  check_share(in, mapping);
  in.read_text("known", mapping.known, "the path of a file of URLs, one a line");
  in.finish();
  const auto twin = std::find_if(others.begin(), others.end(), [&](const Reverse& other) {
    return !other.host.empty() && other.host == mapping.host && other.port == mapping.port;
  });
  if (twin != others.end()) {
    in.fault(in.whole(), "is for the same host as reverse[" +
                             std::to_string(twin - others.begin()) +
                             "]; list the origins of both under one \"to\"");
  }
  return mapping;
}

}  // namespace

void read_reverse(Section& in, std::span<const HostPort> listen, std::vector<Reverse>& reverse) {
  in.read_objects("reverse", {"objects, each with \"host\" and \"to\"", 1'000}, reverse,
                  [&](Section& part) { return read_mapping(part, listen, reverse); });
}

}  // namespace config
