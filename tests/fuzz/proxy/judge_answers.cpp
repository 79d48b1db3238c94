#include <utility>

#include "tests/fuzz/proxy/accuse.hpp"
#include "tests/fuzz/proxy/bodies.hpp"
#include "tests/fuzz/proxy/judge.hpp"

namespace fuzz {
namespace {

namespace strict = support::strict;

// A response of the proxy's own making.
bool is_ours(const strict::Answer& answer) {
  return value(answer.message.fields, "server").starts_with("Hearsay/") || answer.status == 416;
}

void judge_body(const Bodies& bodies, const proxy::policy::Policy& policy,
                const strict::Message& request, const strict::Answer& answer) {
  if (request.first != "GET" || answer.status == 204 || answer.status == 304) return;
  if (value(answer.message.fields, "content-type").starts_with("multipart/byteranges")) return;
  auto place = place_of(policy, request);
  if (!place || is_ours(answer)) return;
  if (!policy.mirrored_hosts.empty()) place.reset();
  const auto& fields = answer.message.fields;
  const bool is_part = answer.status == 206;
  const auto part = part_of(fields);
  const bool explained = bodies.explain({.place = std::move(place),
                                         .asked_for_part = !value(request.fields, "range").empty(),
                                         .is_part = is_part,
                                         .first = is_part && part ? part->first : 0,
                                         .coding = coding_of(fields),
                                         .etag = without_blanks(fields, "etag"),
                                         .body = answer.message.body});
  if (!explained) {
    accuse("a body that no server sent passes for whole", request.second,
           value(fields, "cache-status"), answer.message.body);
  }
}

// The method of a request that is not whole, as far as the proxy reads it.
std::string_view method_in(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  return bytes.starts_with("HEAD ") ? "HEAD" : "GET";
}

void judge_client(const Bodies& bodies, const proxy::policy::Policy& policy,
                  const ClientEnd& client) {
  const auto asked = strict::read_requests(client.sent());
  std::string_view left = client.received();
  for (std::size_t i = 0; !left.empty(); ++i) {
    if (i > asked.whole.size()) {
      accuse("more answers than requests", client.sent(), client.received());
    }
    const bool is_whole = i < asked.whole.size();
    const auto method = is_whole ? asked.whole[i].first : std::string(method_in(asked.rest));
    const auto answer = strict::read_answer(left, method);
    const bool became_tunnel =
        answer.status == 101 || (answer.status == 200 && method == "CONNECT") ||
        (!is_whole && answer.status == 200 && asked.rest.starts_with("CONNECT "));
    if (became_tunnel) return;
    if (answer.end == strict::End::malformed) {
      accuse("a malformed answer: " + answer.fault, client.sent(), client.received());
    }
    if (answer.odd) accuse("an answer that is not mended", client.sent(), client.received());
    if (answer.end == strict::End::cut) return;
    if (is_whole) judge_body(bodies, policy, asked.whole[i], answer);
    left = answer.rest;
  }
}

}  // namespace

void judge_answers(const Traffic& traffic) {
  Bodies bodies(traffic.policy);
  for (const auto& server : traffic.servers) bodies.add(server);
  for (const auto& client : traffic.clients) judge_client(bodies, traffic.policy, client);
}

}  // namespace fuzz
