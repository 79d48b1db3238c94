#include "tests/fuzz/proxy/bodies.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "proxy/http/target.hpp"

namespace fuzz {

namespace strict = support::strict;

std::string value(const support::Fields& fields, std::string_view name) {
  for (const auto& [candidate, text] : fields) {
    if (candidate == name) return text;
  }
  return {};
}

std::optional<Place> place_of(const proxy::Policy& policy, const strict::Message& request) {
  const auto target =
      proxy::http::parse_target(request.first, request.second, value(request.fields, "host"));
  if (!target) return std::nullopt;
  const auto url = policy.rules.key_url(*target);
  const auto authority = url.find("://");
  const auto path = authority == std::string::npos ? 0 : url.find('/', authority + 3);
  return Place{std::string(target->host()), url.substr(std::min(path, url.size()))};
}

std::optional<Part> part_of(const support::Fields& fields) {
  Part part;
  const auto text = value(fields, "content-range");
  const int read =
      std::sscanf(text.c_str(), "bytes %" SCNu64 "-%" SCNu64 "/", &part.first, &part.last);
  if (read != 2) return std::nullopt;
  return part;
}

void Bodies::add(const ServerEnd& server) {
  if (server.is_opaque()) return;
  const auto asked = strict::read_requests(server.received());
  std::string_view left = server.sent();
  for (const auto& request : asked.whole) {
    const auto answer = strict::read_answer(left, request.first);
    left = answer.rest;
    if (request.first == "HEAD" || answer.status == 204 || answer.status == 304) continue;
    add(answer, place_of(policy_, request));
    if (answer.end != strict::End::whole) return;
  }
  // The answer to a request whose body was cut.
  if (!left.empty()) add(strict::read_answer(left), std::nullopt);
}

void Bodies::add(const strict::Answer& answer, std::optional<Place> place) {
  const auto part = part_of(answer.message.fields);
  const bool is_part = answer.status == 206;
  sent_.push_back({.place = std::move(place),
                   .first = is_part && part ? part->first : 0,
                   .bytes = answer.message.body,
                   .whole = answer.end == strict::End::whole && !is_part});
}

bool Bodies::explain(const Place& place, std::uint64_t first, bool is_part,
                     std::string_view body) const {
  std::vector<const Sent*> known;
  for (const auto& sent : sent_) {
    const auto same = [](const std::string& a, const std::string& b) {
      return a.empty() || b.empty() || a == b;
    };
    const bool here =
        !sent.place || (same(sent.place->host, place.host) && sent.place->path == place.path);
    if (here) known.push_back(&sent);
  }
  const bool all_whole = std::all_of(known.begin(), known.end(),
                                     [](const Sent* sent) { return sent->whole && sent->place; });
  if (all_whole && !is_part) {
    return std::any_of(known.begin(), known.end(),
                       [body](const Sent* sent) { return sent->bytes == body; });
  }
  for (std::size_t at = 0; at < body.size();) {
    std::size_t most = 0;
    for (const Sent* sent : known) {
      if (first + at < sent->first || first + at - sent->first >= sent->bytes.size()) continue;
      const auto theirs = std::string_view(sent->bytes).substr(first + at - sent->first);
      const auto ours = body.substr(at);
      const auto end = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
      most = std::max(most, static_cast<std::size_t>(end.first - ours.begin()));
    }
    if (most == 0) return false;
    at += most;
  }
  return !known.empty();
}

}  // namespace fuzz
