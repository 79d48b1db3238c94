#include "proxy/explain/explain.hpp"

#include <fmt/format.h>

#include "proxy/client/take_in.hpp"
#include "proxy/explain/told_lifetime.hpp"
#include "proxy/explain/whom.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/lookup/what_to_ask.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/tiers/disk_read.hpp"

namespace proxy {

using net::Task;

namespace {

using Peeked = inspect::Peeked;

// The request, and what it refers to.
struct Imagined {
  std::string text;
  std::unique_ptr<Request> request;
};

bool asks_us_as_server(const Policy& policy, const http::Target& target) {
  const auto* const mapping = policy.gateway.find(target.host(), target.port());
  const bool is_http = target.form() == http::Target::Form::absolute && !target.https();
  return mapping && is_http && (!mapping->any_host || !policy.serves_forward);
}

bool is_absolute(const http::HeadResult<http::Target>& target) {
  return target && target->form() == http::Target::Form::absolute;
}

// Method and target, as a client sends them.
struct RequestLine {
  std::string method;
  std::string target;
};

// Without a method: clients tunnel https, and get everything else.
RequestLine line_of(const Hypothesis& asked) {
  const auto url = http::parse_target("GET", asked.url);
  const bool is_url = is_absolute(url);
  std::string method = !asked.method.empty()    ? asked.method
                       : is_url && url->https() ? "CONNECT"
                                                : "GET";
  if (method != "CONNECT" || !is_url) return {std::move(method), asked.url};
  std::string to(url->authority());
  if (url->port() == (url->https() ? 443 : 80)) to += fmt::format(":{}", url->port());
  return {std::move(method), std::move(to)};
}

boost::system::result<Imagined, NoRequest> imagine(const Policy& policy, const Hypothesis& asked) {
  const auto line = line_of(asked);
  const auto target = http::parse_target(line.method, line.target);
  if (line.method == "CONNECT" ? !target : !is_absolute(target)) {
    return NoRequest{"expected a URL like http://example.com/a"};
  }
  Imagined imagined;
  const std::string_view named =
      asks_us_as_server(policy, *target) ? std::string_view(target->path()) : line.target;
  imagined.text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n\r\n", line.method, named, target->authority());
  auto request = parse_request(imagined.text, {});
  if (!request) {
    return NoRequest{"this proxy would take no such request: " +
                     std::string(http::text(request.error()))};
  }
  imagined.request = std::move(*request);
  return imagined;
}

std::string hex_of(const digest::Key& key) {
  std::string text;
  for (const auto byte : key.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_user(const Policy& policy, const std::string& name) {
  return policy.users && policy.users->hash_of(name);
}

// Whether the client may, as answer() asks.
std::optional<Refusal> why_refused(const Client& client, const Request& request,
                                   const std::string& user) {
  const auto* const rule = deciding_rule(client, request);
  if (rule && rule->has_users()) {
    if (auto refusal = check_sign_in(client, request, *rule)) return refusal;
    client.record.user = user;
  }
  if (auto refusal = check_access(client, request)) return refusal;
  if (!request.may_exist()) return Refusal::unknown_url();
  const bool is_offline = request.is_connect() && request.facts.offline;
  return is_offline ? std::optional(Refusal::offline(http::Forward::method)) : std::nullopt;
}

// What is known without a look at the cache.
Explanation explanation_of(const Client& client, const Request& request, const std::string& user) {
  Explanation explanation;
  explanation.url = request.target.url();
  explanation.method = request.head.method;
  explanation.client = client.address_text;
  explanation.user = user;
  explanation.reverse = request.arrival() == Arrival::reverse;
  explanation.own_page = explanation.reverse && !request.mapping();
  explanation.tunnel = request.is_connect();
  if (explanation.own_page) return explanation;
  if (request.rule()) explanation.rule = request.rule()->word();
  if (const auto refusal = why_refused(client, request, user)) {
    explanation.refusal = refusal->reason;
    explanation.refusal_status = refusal->status;
  }
  return explanation;
}

// Without a disk nothing waits.
Task<cache::disk::Result<Peeked>> peek(const ServeAccess& access, const Request& request) {
  const auto& name = request.stored_as();
  const inspect::Live live{access.cache().store, access.cache().disk};
  if (!access.cache().disk) {
    co_return inspect::peek(live, access.cache().budget, name, request.head.fields,
                            access.clock().now());
  }
  const auto fields = std::make_shared<const http::OwnedFields>(request.head.fields);
  std::function<cache::disk::Result<Peeked>()> read = [live, &access, name,
                                                       fields]() -> cache::disk::Result<Peeked> {
    return inspect::peek(live, access.cache().budget, name, fields->fields(), access.clock().now());
  };
  co_return co_await read_in_time<Peeked>(access.fetching.cached(), std::move(read));
}

void note_stored(const Request& request, const Peeked& peeked, Explanation& explanation) {
  const auto targets = targets_for(request, request.policy().settings.cache);
  for (const auto& one : peeked.all) {
    StoredFacts stored{one.entry, one.facts, one.entry == peeked.found.entry, {}};
    const auto told = told_freshness(*one.entry, targets);
    if (told && told->lifetime != one.entry->freshness().lifetime) {
      stored.told_lifetime = told->lifetime;
    }
    explanation.stored.push_back(std::move(stored));
  }
  explanation.more_on_disk = peeked.varies_there;
}

Lookup judged(const ServeAccess& access, const Request& request, Peeked peeked) {
  Lookup lookup;
  lookup.key = digest::key_of(digest::Method::get, request.stored_as());
  lookup.found = std::move(peeked.found);
  lookup.asked = access.clock().steady();
  decide(access.fetching, request, lookup);
  return lookup;
}

bool would_join(const ServeAccess& access, const Request& request, const Lookup& lookup) {
  using cache::Action;
  const auto action = lookup.verdict.action;
  const bool fetches = action == Action::fetch || action == Action::revalidate;
  return fetches && may_share(access.fetching, request, lookup) &&
         access.cache().fills.under_way(lookup.key, request.stored_as(), lookup.asked);
}

void note_verdict(const ServeAccess& access, const Request& request, const Lookup& lookup,
                  Explanation& explanation) {
  explanation.now = access.clock().now();
  explanation.ahead = access.clock().ahead();
  explanation.key = hex_of(lookup.key);
  explanation.stored_as = request.stored_as();
  explanation.for_neighbours = request.may_be_shared();
  explanation.verdict = lookup.verdict;
  explanation.offline = request.facts.offline;
  explanation.fetching = would_join(access, request, lookup);
}

}  // namespace

Task<Explained> explain(Client& asker, Hypothesis asked) {
  auto& access = asker.access;
  const PinnedPolicy pinned = access.policy;
  if (!asked.user.empty() && !is_user(*pinned, asked.user)) {
    co_return Explained(NoRequest{"the file of access.users has no such user"});
  }
  auto imagined = imagine(*pinned, asked);
  if (!imagined) co_return Explained(imagined.error());
  auto& request = *imagined->request;
  RequestRecord record;
  const Client client{access, asker.response, record, asked.client, asked.client_text};
  take_in(client, request);
  auto explanation = explanation_of(client, request, asked.user);
  const bool is_refused = !explanation.refusal.empty();
  if (explanation.tunnel && !is_refused) explain_tunnel(request, explanation);
  if (explanation.own_page || explanation.tunnel) co_return Explained(std::move(explanation));
  request.tell_of_client(request.policy().settings.forwarded, asked.client_text);

  auto peeked = co_await peek(access, request);
  if (!peeked) {
    explanation.disk_fault = cache::disk::to_string(peeked.error());
    const inspect::Live memory{access.cache().store};
    peeked = inspect::peek(memory, access.cache().budget, request.stored_as(), request.head.fields,
                           access.clock().now());
  }
  note_stored(request, *peeked, explanation);
  const auto lookup = judged(access, request, std::move(*peeked));
  note_verdict(access, request, lookup, explanation);
  if (is_refused) {
    explanation.no_neighbours = "the request is refused";
  } else {
    explain_whom(access, request, lookup, explanation);
  }
  co_return Explained(std::move(explanation));
}

}  // namespace proxy
