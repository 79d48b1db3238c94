#include <algorithm>
#include <array>
#include <set>

#include "tests/fuzz/proxy/accuse.hpp"
#include "tests/fuzz/proxy/bodies.hpp"
#include "tests/fuzz/proxy/judge.hpp"

namespace fuzz {
namespace {

namespace strict = support::strict;
using Names = std::set<std::string, std::less<>>;

// RFC 9110 7.6.1: Connection cannot name what is meant for all recipients, nor what the proxy
// writes. X-Select and its like stand for all other fields.
bool may_be_named(std::string_view name) {
  return name.starts_with("x-") && !name.starts_with("x-forwarded") && name != "x-real-ip";
}

bool tells_of_another_request(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{
      "x-forwarded-host", "x-forwarded-proto", "x-original-url",        "x-rewrite-url",
      "x-host",           "x-forwarded-port",  "x-http-method-override"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

Names named_in_connection(const strict::Message& request) {
  Names names;
  for (const auto& [name, text] : request.fields) {
    if (name != "connection") continue;
    std::string word;
    for (const char c : lower(text) + ',') {
      if (c == ' ' || c == '\t') continue;
      if (c != ',') {
        word += c;
      } else if (may_be_named(word)) {
        names.insert(std::exchange(word, {}));
      } else {
        word.clear();
      }
    }
  }
  return names;
}

// What the clients of an input asked for, taken together.
struct Asked {
  Names ends_here;           // named in Connection, and sent by no client that did not name it
  Names passes;              // sent by a client that did not name it
  Names bodies;              // of whole requests
  std::string rest;          // the bytes of requests that were not whole, in lower case
  bool names_hosts = false;  // a target in absolute-form

  explicit Asked(const std::deque<ClientEnd>& clients) {
    for (const auto& client : clients) {
      const auto requests = strict::read_requests(client.sent());
      for (const auto& request : requests.whole) add(request);
      rest += lower(requests.rest);
    }
    names_hosts = names_hosts || has_host(rest);
  }

  // In the target, as a client of a proxy or of a mirror does.
  static bool has_host(const std::string& text) {
    return text.find("://") != std::string::npos || text.find("/http/") != std::string::npos;
  }

  void add(const strict::Message& request) {
    const auto named = named_in_connection(request);
    ends_here.insert(named.begin(), named.end());
    for (const auto& [name, text] : request.fields) {
      if (!named.contains(name)) passes.insert(name);
    }
    bodies.insert(request.body);
    names_hosts = names_hosts || has_host(request.second);
  }

  bool withholds(const std::string& name) const {
    return ends_here.contains(name) && !passes.contains(name) &&
           rest.find('\n' + name + ':') == std::string::npos;
  }
};

void judge_neighbourly(const strict::Message& request, const ServerEnd& server) {
  const auto control = value(request.fields, "cache-control");
  const bool good = (request.first == "GET" || request.first == "HEAD") &&
                    control.find("only-if-cached") != std::string::npos &&
                    value(request.fields, "authorization").empty() &&
                    value(request.fields, "cookie").empty() && request.body.empty();
  if (!good) accuse("a neighbour is asked for more than what it holds", server.received());
}

void judge_request(const Traffic& traffic, const Asked& asked, const ServerEnd& server,
                   strict::Message request) {
  if (server.is_neighbour()) {
    judge_neighbourly(request, server);
    request.second = strict::path_asked(request);
  }
  const auto fault = strict::not_normal(request);
  if (!fault.empty()) accuse("not in normal form: " + fault, server.received());
  const bool mapped = traffic.script.has('r') && !traffic.script.has('a') && !asked.names_hosts &&
                      !server.is_neighbour();
  for (const auto& [name, text] : request.fields) {
    if (asked.withholds(name)) accuse("Connection named " + name, server.received());
    if (mapped && tells_of_another_request(name)) {
      accuse("a client steers the origin by " + name, server.received());
    }
  }
  if (!request.body.empty() && asked.rest.empty() && !asked.bodies.contains(request.body)) {
    accuse("a request with a body that no client sent", server.received());
  }
}

}  // namespace

void judge_requests(const Traffic& traffic) {
  const Asked asked(traffic.clients);
  for (const auto& server : traffic.servers) {
    if (server.is_opaque()) continue;
    const auto requests = strict::read_requests(server.received());
    for (const auto& request : requests.whole) judge_request(traffic, asked, server, request);
    const bool upgraded = server.sent().find(" 101") != std::string::npos;
    if (requests.end == strict::End::malformed && !upgraded) {
      accuse("a malformed request: " + requests.fault, server.received());
    }
  }
}

}  // namespace fuzz
