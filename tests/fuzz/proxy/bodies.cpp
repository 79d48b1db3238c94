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

std::string without_blanks(const support::Fields& fields, std::string_view name) {
  auto text = value(fields, name);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  return text;
}

std::optional<Place> place_of(const proxy::policy::Policy& policy, const strict::Message& request) {
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
    add(answer, &request);
    if (answer.end != strict::End::whole) return;
  }
  // The answer to a request whose body was cut.
  if (!left.empty()) add(strict::read_answer(left), nullptr);
}

std::string coding_of(const support::Fields& fields) {
  auto coding = without_blanks(fields, "content-encoding");
  return coding == "identity" ? std::string() : coding;
}

void Bodies::add(const strict::Answer& answer, const strict::Message* request) {
  const auto& fields = answer.message.fields;
  const auto part = part_of(fields);
  const bool is_part = answer.status == 206;
  const bool asked_for_part = request && !value(request->fields, "range").empty();
  const bool sliced = asked_for_part && !is_part && !value(fields, "content-range").empty();
  sent_.push_back({.place = request ? place_of(policy_, *request) : std::nullopt,
                   .first = is_part && part ? part->first : 0,
                   .bytes = answer.message.body,
                   .whole = answer.end == strict::End::whole && !is_part,
                   .coding = coding_of(fields),
                   .etag = without_blanks(fields, "etag"),
                   .sliced = sliced});
}

bool Bodies::Sent::is_of(const Given& given) const {
  const auto same = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
  };
  if (coding != given.coding || (sliced && !given.asked_for_part)) return false;
  if (!place || !given.place) return true;
  return same(place->host, given.place->host) && place->path == given.place->path;
}

std::size_t Bodies::Sent::agrees(std::uint64_t at, std::string_view theirs) const {
  if (at < first || at - first >= bytes.size()) return 0;
  const auto ours = std::string_view(bytes).substr(at - first);
  const auto end = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  return static_cast<std::size_t>(end.first - ours.begin());
}

bool Bodies::explain(const Given& given) const {
  std::vector<const Sent*> known;
  for (const auto& sent : sent_) {
    if (sent.is_of(given)) known.push_back(&sent);
  }
  const bool all_whole = std::all_of(known.begin(), known.end(),
                                     [](const Sent* sent) { return sent->whole && sent->place; });
  const auto gave_all = [&](const Sent* sent) {
    if (all_whole && !given.is_part) return sent->bytes == given.body;
    return sent->agrees(given.first, given.body) == given.body.size();
  };
  if (std::any_of(known.begin(), known.end(), gave_all)) return true;
  if (all_whole && !given.is_part) return false;
  std::erase_if(known, [&given](const Sent* sent) { return sent->etag != given.etag; });
  for (std::size_t at = 0; at < given.body.size();) {
    std::size_t most = 0;
    for (const Sent* sent : known) {
      most = std::max(most, sent->agrees(given.first + at, given.body.substr(at)));
    }
    if (most == 0) return false;
    at += most;
  }
  return !known.empty();
}

}  // namespace fuzz
