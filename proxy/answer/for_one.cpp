#include "proxy/answer/for_one.hpp"

#include <array>
#include <optional>
#include <utility>

#include "proxy/answer/miss.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/passed_head.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

// A fill compares what the client has with what the origin answers.
bool is_conditional(const http::Fields& fields) {
  return fields.may_have(http::field::if_none_match) ||
         fields.may_have(http::field::if_modified_since);
}

Task<void> pass_on(Client& client, const http::ResponseHead& interim) {
  const auto text = interim_text(interim, client.access.name());
  co_await client.response.interim(text);
}

// An answer that nothing stores, whose whole body has come.
struct Whole {
  TakenBytes body;
  cache::Storability storability;
};

std::optional<Whole> whole_answer(const Request& request, const OriginQuestion& asked,
                                  Attempt& answer) {
  if (!answer.outcome()) return std::nullopt;
  const auto& head = answer.head();
  if (said_by(head, asked, request) != OriginSays::response) return std::nullopt;
  const auto control = control_for(request, head);
  const auto storability = storability_of(head, asked, request, answer.times(), control);
  if (storability == cache::Storability::yes) return std::nullopt;
  auto body = answer.fetch().whole_body();
  if (!body) return std::nullopt;
  return Whole{std::move(*body), storability};
}

void note(Client& client, const Request& request, const Attempt& answer, const Whole& whole,
          http::Forward reason) {
  auto& access = client.access;
  const auto from = static_cast<std::size_t>(answer.hierarchy());
  access.counters().upstream_bytes[from].add(whole.body.view().size());
  access.counters().count(whole.storability);
  auto provenance = answer.provenance();
  provenance.storability = whole.storability;
  if (request.policy().lists_inquiries()) provenance.inquiries.list.push_back(answer.inquiry());
  note_source(client, provenance, reason);
  note_content_type(client, answer.head().fields.value(http::field::content_type));
}

// First gives back the connection that the answer came by: a client that does not read must not
// keep it.
Task<void> send(Client& client, const Request& request, Attempt& answer, const Whole& whole) {
  auto& access = client.access;
  answer.fetch().finish();
  const auto& received = answer.head();
  const auto head = passed_head(access, received, answer.times());
  add_cache_status(client, request);
  const auto bytes = whole.body.view();
  const std::array body{asio::const_buffer(bytes.data(), bytes.size())};
  auto sent = client.response.start(head, received.status, answer.length(), body);
  std::optional<ResponseWriter::Holds> holds;
  if (!sent.is_here()) {
    holds.emplace(client.response, access.fetching.transit, head.capacity() + whole.body.memory());
  }
  const auto error = co_await sent;
  if (error) co_return client.response.abort();
  co_await client.response.finish();
}

}  // namespace

bool is_for_one(const Client& client, const Request& request, const Lookup& lookup) {
  auto& access = client.access;
  const auto& verdict = lookup.verdict;
  const bool is_plain = verdict.action == cache::Action::fetch && !verdict.part &&
                        !lookup.stored() && !is_conditional(request.head.fields);
  if (!is_plain || pressure_on(access.fetching.transit) >= Pressure::critical) return false;
  const bool shares = may_share(access.fetching, request, lookup) &&
                      !access.cache().fills.recently_unshared(lookup.key, access.deadlines.now());
  if (shares || asks_siblings(access.fetching, request, lookup, verdict)) return false;
  return !request.mapping() && !route_of(request).has_parents();
}

Task<void> answer_for_one(Client& client, const Request& request, Lookup lookup) {
  auto& access = client.access;
  const OriginQuestion question{lookup.verdict, nullptr};
  auto attempt = attempt_at_origin(access.fetching, request, question, route_of(request));
  if (!access.fetching.sources.upstream.pool.has(attempt.fetch().aimed_at())) {
    co_return co_await answer_miss(client, request, std::move(lookup));
  }
  {
    const ResponseWriter::WaitsFor waits(client.response, [&attempt] { attempt.abandon(); });
    Attempt::OnInterim interim = [&client](const auto& head) { return pass_on(client, head); };
    co_await attempt.ask(std::move(interim));
  }
  const auto whole = whole_answer(request, question, attempt);
  if (whole) {
    if (whole->storability != cache::Storability::vary_too_long)
      access.cache().fills.note_unshared(lookup.key, access.deadlines.now());
    note(client, request, attempt, *whole, lookup.verdict.reason);
    co_return co_await send(client, request, attempt, *whole);
  }
  if (client.response.was_cut()) {
    const Failure left{Failure::Where::us, Failure::What::overload, {}};
    co_return co_await refuse(client, request, left);
  }
  std::optional<Attempt> begun(std::move(attempt));
  co_await answer_miss(client, request, std::move(lookup), std::move(begun));
}

}  // namespace proxy
