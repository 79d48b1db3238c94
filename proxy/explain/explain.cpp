#include "proxy/explain/explain.hpp"

#include <fmt/format.h>

#include "proxy/client/take_in.hpp"
#include "proxy/explain/told_lifetime.hpp"
#include "proxy/explain/whom.hpp"
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
  return mapping && !target.https() && (!mapping->any_host || !policy.serves_forward);
}

boost::system::result<Imagined, NoRequest> imagine(const Policy& policy, const Hypothesis& asked) {
  const auto target = http::parse_target(asked.method, asked.url);
  if (!target || target->form() != http::Target::Form::absolute) {
    return NoRequest{"expected a URL like http://example.com/a"};
  }
  Imagined imagined;
  const std::string_view named =
      asks_us_as_server(policy, *target) ? std::string_view(target->path()) : asked.url;
  imagined.text =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n\r\n", asked.method, named, target->authority());
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

// Whether the client may, as answer() asks.
void note_access(const Client& client, const Request& request, Explanation& explanation) {
  const auto* const rule = deciding_rule(client, request);
  std::optional<Refusal> refusal;
  if (rule && rule->has_users()) refusal = check_sign_in(client, request, *rule);
  if (!refusal) refusal = check_access(client, request);
  if (!refusal && !request.may_exist()) refusal = Refusal::unknown_url();
  if (!refusal) return;
  explanation.refusal = refusal->reason;
  explanation.refusal_status = refusal->status;
}

// Without a disk nothing waits.
Task<cache::disk::Result<Peeked>> peek(Worker& worker, const Request& request) {
  auto& process = worker.process;
  const auto& name = request.stored_as();
  const inspect::Live live{process.store, process.disk};
  if (!process.disk) {
    co_return inspect::peek(live, process.budget, name, request.head.fields, process.clock.now());
  }
  const auto fields = std::make_shared<const http::OwnedFields>(request.head.fields);
  std::function<cache::disk::Result<Peeked>()> read = [live, &process, name,
                                                       fields]() -> cache::disk::Result<Peeked> {
    return inspect::peek(live, process.budget, name, fields->fields(), process.clock.now());
  };
  co_return co_await read_in_time<Peeked>(worker, std::move(read));
}

void note_stored(const Request& request, const Peeked& peeked, Explanation& explanation) {
  const auto targets = targets_for(request, request.policy().settings.cache);
  for (const auto& one : peeked.all) {
    StoredFacts stored{one.entry, one.facts, one.entry == peeked.found.entry, {}};
    const auto told = told_freshness(*one.entry, targets);
    if (told && told->lifetime != one.entry->freshness.lifetime) {
      stored.told_lifetime = told->lifetime;
    }
    explanation.stored.push_back(std::move(stored));
  }
  explanation.more_on_disk = peeked.varies_there;
}

Lookup lookup_of(const Request& request, Peeked peeked) {
  Lookup lookup;
  lookup.key = digest::key_of(digest::Method::get, request.stored_as());
  lookup.found = std::move(peeked.found);
  lookup.asked = std::chrono::steady_clock::now();
  return lookup;
}

bool would_join(Process& process, const Request& request, const Lookup& lookup) {
  using cache::Action;
  const auto action = lookup.verdict.action;
  const bool fetches = action == Action::fetch || action == Action::revalidate;
  return fetches && may_share(process, request, lookup) &&
         process.fills.under_way(lookup.key, request.stored_as(), lookup.asked);
}

}  // namespace

Task<Explained> explain(Client& asker, Hypothesis asked) {
  auto& worker = asker.worker;
  const PinnedPolicy pinned = worker.policy();
  auto imagined = imagine(*pinned, asked);
  if (!imagined) co_return Explained(imagined.error());
  auto& request = *imagined->request;
  RequestRecord record;
  const Client client{worker, asker.response, record, asked.client, asked.client_text};
  take_in(client, request);
  Explanation explanation;
  explanation.url = request.target.url();
  explanation.method = asked.method;
  explanation.client = asked.client_text;
  explanation.reverse = request.arrival() == Arrival::reverse;
  explanation.own_page = explanation.reverse && !request.mapping();
  if (request.rule()) explanation.rule = request.rule()->word();
  if (!explanation.own_page) note_access(client, request, explanation);
  request.tell_of_client(request.policy().settings.forwarded, asked.client_text);

  auto peeked = co_await peek(worker, request);
  if (!peeked) {
    explanation.disk_fault = cache::disk::to_string(peeked.error());
    const inspect::Live memory{worker.process.store};
    peeked = inspect::peek(memory, worker.process.budget, request.stored_as(), request.head.fields,
                           worker.process.clock.now());
  }
  note_stored(request, *peeked, explanation);
  auto lookup = lookup_of(request, std::move(*peeked));
  decide(worker.process, request, lookup);
  explanation.now = worker.process.clock.now();
  explanation.key = hex_of(lookup.key);
  explanation.stored_as = request.stored_as();
  explanation.for_neighbours = request.may_be_shared();
  explanation.verdict = lookup.verdict;
  explanation.offline = request.facts.offline;
  explanation.fetching = would_join(worker.process, request, lookup);
  explain_whom(worker, request, lookup, explanation);
  co_return Explained(std::move(explanation));
}

}  // namespace proxy
