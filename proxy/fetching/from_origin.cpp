#include "proxy/fetching/from_origin.hpp"

#include <utility>

#include "proxy/blocks/run_answer.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/fetching/body_writer.hpp"
#include "proxy/fetching/object_writer.hpp"
#include "proxy/fetching/rest_of_body.hpp"
#include "proxy/fetching/stored_answer.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::fetching {

using net::Soon;
using net::Task;
using std::chrono::steady_clock;

namespace {

constexpr upstream::Failure kMalformed{
    upstream::Failure::Where::upstream, upstream::Failure::What::malformed, {}};

// The next question. Nothing: the fill has ended.
using Next = std::optional<OriginQuestion>;

void write_failure(FillContext& context, const sources::Attempt& attempt,
                   const OriginQuestion& asked, const upstream::Failure& failure) {
  const auto leave = context.request().policy().leave_after(failure);
  const auto stood_in =
      stand_in(context, attempt, asked.stored, upstream::word(failure.what), leave);
  if (stood_in == StoodIn::yes) return;
  context.record_inquiry(attempt);
  context.fill().fail(failure, std::move(context.inquiries.list));
}

// Writes the rest of the stored response, which has begun to arrive.
Task<Next> write_rest_of_stored(FillContext& context, sources::Attempt rest,
                                const OriginQuestion& asked) {
  const auto& stored = asked.stored;
  if (!stored->object()) {
    const auto joined = *joined_with_stored(rest.head(), asked, context.request());
    co_await write_completed(context, std::move(rest), asked, joined);
    co_return Next{};
  }
  // The stored blocks are the beginning of a body of unknown length. The rest tells the length.
  const http::AskedRange lacking{stored->body.size, std::nullopt};
  const auto control = context.control_of(rest);
  auto incoming = incoming_of(context, std::move(rest), control, cache::Storability::yes, stored);
  auto object = begin_object(context, incoming, lacking);
  if (!object) {
    context.erase_stored();
    co_return asked.without_stored();
  }
  const auto idle = context.request().policy().settings.timeouts.body;
  co_await write_object(context, std::move(incoming), std::move(object), idle);
  co_return Next{};
}

// The origin has another response than a guest gave: checks the guest, unless the origin may have
// changed.
void check_guest(const FillContext& context, const sources::Attempt& answer,
                 const cache::Ref<const cache::Entry>& stored) {
  if (!stored || !stored->giver().guest) return;
  const auto length = cache::complete_length(*stored);
  if (!sources::contradicts(answer.head(), answer.length(), *stored, length)) return;
  for (const auto& peer : context.request().policy().directory->peers()) {
    if (peer->tag != stored->giver().tag || peer->trust != config::Trust::guest) continue;
    sources::check_given(context.access.sources, context.request(), {stored, length, peer});
  }
}

// The sources that may have the rest of a body, if it was cut. Neighbours may. The origin may, too,
// if a parent has cut the body.
std::optional<RestFrom> who_has_the_rest(const FillContext& context, BodyWriter& writer,
                                         const upstream::Outcome<void>& written) {
  const bool is_cut = sources::worth_of(written).worth == sources::Worth::cut &&
                      written.error().what != upstream::Failure::What::malformed;
  if (!is_cut) return std::nullopt;
  writer.attempt().fetch().server().note_cut();
  const bool neighbours = !sources::why_only_origin(
      context.cache().fills, context.job.key, context.request(), context.access.clock().steady());
  const bool is_by_parent = writer.attempt().hierarchy() == observe::Hierarchy::parent;
  if (neighbours) return is_by_parent ? RestFrom::neighbours_and_origin : RestFrom::neighbours;
  return is_by_parent ? std::optional(RestFrom::origin) : std::nullopt;
}

// Whether the body of a parent is shown only once it is whole: it is small, and a digest tells
// whether it is right. If it is not, the origin is asked in its place.
bool is_to_be_held_back(const Incoming& incoming, const OriginQuestion& asked,
                        const policy::Request& request) {
  const auto& answer = incoming.attempt;
  const bool by_cache = answer.hierarchy() == observe::Hierarchy::parent &&
                        asked.how.reason != http::Forward::request;
  return by_cache && incoming.length && *incoming.length <= BodyWriter::kHeldBack &&
         policy::digest_of(answer.head().fields, request);
}

// The next question, after another range than the client's got an answer of no use, or none. Notes
// an origin that may have refused that range.
OriginQuestion after_refusal(const FillContext& context, const sources::Attempt& answer,
                             const OriginQuestion& asked) {
  const auto origin = context.request().target.authority();
  if (!answer.outcome() || upstream::may_refuse_range(answer.head().status))
    context.access.range_refusals.note_refused(origin, context.access.clock().steady());
  return asked.as_the_client_asked();
}

// A 200 to a range grants no range: If-Range names another version, or there are no ranges.
void record_granted(const FillContext& context, const OriginQuestion& asked, unsigned status) {
  const unsigned granted = context.request().facts.range ? 206 : 200;
  if (asked.range != RangeAsked::again || status != granted) return;
  const auto origin = context.request().target.authority();
  context.access.range_refusals.record_granted(origin, context.access.clock().steady());
}

// Writes an answer for the client: any that is neither a 304 nor the rest of a stored response.
Task<Next> write_response(FillContext& context, sources::Attempt answer,
                          const OriginQuestion& asked) {
  const auto& request = context.request();
  const auto status = answer.head().status;
  check_guest(context, answer, asked.stored);
  record_granted(context, asked, status);
  const auto control = context.control_of(answer);
  const auto storability = storability_of(answer.head(), asked, request, answer.times(), control);
  const bool may_be_stored = storability == cache::Storability::yes;
  if (!may_be_stored && asked.stored && replaces_stored(status, storability))
    context.erase_stored();
  auto incoming = incoming_of(context, std::move(answer), control, storability, asked.stored);
  const auto idle = request.policy().settings.timeouts.body;
  if (auto object = begin_object(context, incoming, asked.range_override, asked.range)) {
    co_await write_object(context, std::move(incoming), std::move(object), idle);
    co_return Next{};
  }
  if (status == 206 && asked.changes_range(request.facts)) {
    const auto cut = co_await cut_to_size(context, incoming, idle);
    const bool left = !cut && cut.error().what == upstream::Failure::What::abandoned;
    if (left) {
      context.fill().fail(cut.error());
      co_return Next{};
    }
    if (!cut || *cut == CutToSize::not_there) co_return asked.as_the_client_asked();
  }
  const bool held_back = is_to_be_held_back(incoming, asked, request);
  BodyWriter writer(context, std::move(incoming));
  if (held_back) {
    writer.hold_back(BodyWriter::IfLong::publish);
  } else {
    writer.publish();
  }
  auto written = co_await writer.write(idle);
  if (writer.held_back() && sources::worth_of(written).worth == sources::Worth::wrong) {
    context.fill().restart();
    co_return asked.after_wrong_parent();
  }
  const auto rest = who_has_the_rest(context, writer, written);
  if (rest) written = co_await write_rest(context, writer, written.error(), *rest);
  co_await writer.end(std::move(written));
  co_return Next{};
}

Task<Next> write_clients_304(FillContext& context, sources::Attempt answer,
                             cache::Ref<const cache::Entry> stored) {
  co_await write_clients_unmodified(context, std::move(answer), std::move(stored));
  co_return Next{};
}

// Gives the answer to its writer.
Soon<Next> write_answer(FillContext& context, sources::Attempt&& answer,
                        const OriginQuestion& asked) {
  const bool by_cache = answer.hierarchy() == observe::Hierarchy::parent &&
                        asked.how.reason != http::Forward::request;
  if (by_cache && is_behind_client(answer.head(), answer.length(), context.request()))
    return Next(asked.past_parents());
  const auto says = said_by(answer.head(), asked, context.request());
  if (says == OriginSays::error) {
    const auto status = std::to_string(answer.head().status);
    const auto& request = context.request();
    const auto leave = request.policy().leave_after_error_of(request.target);
    const auto stood_in = stand_in(context, answer, asked.stored, status, leave);
    if (stood_in == StoodIn::yes) return Next{};
  }
  switch (says) {
    case OriginSays::unmodified:
      write_unmodified(context, answer, asked.stored, freshened_by(context, answer, *asked.stored));
      return Next{};
    case OriginSays::unmodified_there:
      return write_clients_304(context, std::move(answer), asked.stored);
    case OriginSays::unmodified_other:
      return Next(asked.anew());
    case OriginSays::rest:
      return write_rest_of_stored(context, std::move(answer), asked);
    case OriginSays::not_the_rest:
      blocks::warn_of_change(context.request(), *asked.stored, answer.head());
      context.erase_stored();
      return Next(asked.without_stored());
    case OriginSays::unasked:
      context.fill().fail(kMalformed);
      return Next{};
    case OriginSays::declined:
      return Next(after_refusal(context, answer, asked));
    case OriginSays::several_refused:
      return Next(asked.for_all());
    case OriginSays::error:
    case OriginSays::response:
      break;
  }
  return write_response(context, std::move(answer), asked);
}

}  // namespace

Soon<void> pass_on_interim(const FillContext& context, const http::ResponseHead& head) {
  context.fill().interim(sources::interim_text(head, context.access.name()));
  return {};
}

sources::Attempt attempt_at_origin(blocks::FetchAccess& access, const policy::Request& request,
                                   const OriginQuestion& question, upstream::Route route) {
  auto head =
      sources::origin_request(request, access.name(), question.how,
                              {question.stored.get(), question.tags}, question.range_override);
  return {access.sources, sources::origin_plan(request, std::move(head), std::move(route)),
          request};
}

namespace {

sources::Attempt ask_on_its_way(const FillContext& context, const OriginQuestion& asked) {
  const auto& request = context.request();
  auto route = sources::route_of(request);
  if (asked.way == OriginQuestion::Way::directly && route.direct) route = {};
  return attempt_at_origin(context.access, request, asked, std::move(route));
}

}  // namespace

Task<void> fill_from_origin(FillContext& context, OriginQuestion question,
                            std::optional<sources::Attempt> begun) {
  const auto& request = context.request();
  for (Next next = std::move(question); next;) {
    const auto asked = std::move(*next);
    const bool is_asked = begun.has_value();
    auto attempt = is_asked ? std::move(*begun) : ask_on_its_way(context, asked);
    begun.reset();
    if (!is_asked) {
      const UnreadWatch watch(context, attempt);
      sources::Attempt::OnInterim interim = [&context](const auto& head) {
        return pass_on_interim(context, head);
      };
      co_await attempt.ask(std::move(interim));
    }
    const auto answered = attempt.outcome();
    auto inquiry = attempt.inquiry();
    if (answered) {
      next = co_await write_answer(context, std::move(attempt), asked);
    } else if (asked.changes_range(request.facts) && upstream::may_be_refusal(answered.error())) {
      next = after_refusal(context, attempt, asked);
    } else {
      co_return write_failure(context, attempt, asked, answered.error());
    }
    if (next) context.inquiries.add(std::move(inquiry));
  }
}

}  // namespace proxy::fetching
