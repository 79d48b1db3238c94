#include "proxy/filling/from_origin.hpp"

#include <utility>

#include "proxy/filling/body_writer.hpp"
#include "proxy/filling/held_answer.hpp"
#include "proxy/filling/object_writer.hpp"
#include "proxy/filling/part.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy {

using net::Task;
using namespace std::chrono_literals;

namespace {

constexpr Failure kMalformed{Failure::Where::upstream, Failure::What::malformed, {}};

// The next question; nothing: the fill has ended.
using Next = std::optional<OriginQuestion>;

Attempt ask_for(const FillContext& context, const OriginQuestion& asked) {
  const auto& request = context.request();
  auto head = origin_request(request, context.process().name, asked.how, asked.held.get(),
                             asked.tags, asked.range_override);
  return {context.worker, origin_plan(request, std::move(head))};
}

// Asks, and hands interim heads on to the readers.
Task<Outcome<void>> answer_to(FillContext& context, Attempt& attempt) {
  auto& fill = context.fill();
  const UnreadWatch watch(fill, [&] {
    if (fill.close_if_unread()) attempt.abandon();
  });
  Attempt::OnInterim interim = [&](const http::ResponseHead& head) {
    fill.interim(interim_text(head, context.process().name));
  };
  co_return co_await attempt.ask(std::move(interim));
}

void write_failure(FillContext& context, const Attempt& attempt, const OriginQuestion& asked,
                   const Failure& failure) {
  const auto leave = context.request().policy().leave_after(failure);
  const auto stood_in = stand_in(context, attempt, asked.held, word(failure.what), leave);
  if (stood_in == StoodIn::no) context.fill().fail(failure);
}

// Writes the rest of the held response, which has begun to arrive.
Task<Next> write_rest(FillContext& context, Attempt rest, const OriginQuestion& asked) {
  const auto& held = asked.held;
  if (!held->object) {
    const auto joined = *joined_with_held(rest.head(), asked, context.request());
    co_await write_completed(context, std::move(rest), asked, joined);
    co_return Next{};
  }
  // The held blocks are of a body of unknown length. The rest tells its length.
  const http::AskedRange lacking{held->body.size, std::nullopt};
  auto incoming = incoming_of(context, std::move(rest), cache::Storability::yes, held);
  auto object = begin_object(context, incoming, lacking);
  if (!object) {
    context.erase_stored();
    co_return asked.without_held();
  }
  co_await write_object(context, std::move(incoming), std::move(object));
  co_return Next{};
}

// Writes an answer that the client gets.
Task<Next> write_response(FillContext& context, Attempt answer, const OriginQuestion& asked) {
  const auto& request = context.request();
  const auto status = answer.head().status;
  const auto targets = targets_for(request, context.request().policy().settings.cache);
  const auto storability = storability_of(answer.head(), asked, request, answer.times(), targets);
  const bool stored = storability == cache::Storability::yes;
  if (!stored && asked.held && replaces_stored(status, storability)) context.erase_stored();
  if (!stored && storability != cache::Storability::useless) {
    context.remark("not-stored", cache::text(storability));
  }
  auto incoming = incoming_of(context, std::move(answer), storability, asked.held);
  if (auto object = begin_object(context, incoming, asked.range_override)) {
    co_await write_object(context, std::move(incoming), std::move(object));
    co_return Next{};
  }
  if (status == 206 && asked.range_override) {
    const auto cut = co_await cut_to_size(context, incoming);
    if (cut == CutToSize::not_there) co_return asked.as_the_client_asked();
    if (cut == CutToSize::failed) co_return Next{};
  }
  BodyWriter writer(context, std::move(incoming));
  writer.publish();
  co_await writer.to_the_end();
  co_return Next{};
}

// Asks one question, and gives the answer to its writer.
Task<Next> ask_once(FillContext& context, const OriginQuestion& asked) {
  auto attempt = ask_for(context, asked);
  const auto answered = co_await answer_to(context, attempt);
  if (!answered) {
    write_failure(context, attempt, asked, answered.error());
    co_return Next{};
  }
  const auto says = said_by(attempt.head(), asked, context.request());
  if (says == OriginSays::error) {
    const auto status = std::to_string(attempt.head().status);
    const auto stood_in = stand_in(context, attempt, asked.held, status, 0s);
    if (stood_in == StoodIn::yes) co_return Next{};
  }
  switch (says) {
    case OriginSays::unmodified:
      write_unmodified(context, attempt, asked.held);
      co_return Next{};
    case OriginSays::unmodified_there:
      write_clients_unmodified(context, std::move(attempt), asked.held);
      co_return Next{};
    case OriginSays::unmodified_other:
      co_return asked.anew();
    case OriginSays::rest:
      co_return co_await write_rest(context, std::move(attempt), asked);
    case OriginSays::not_the_rest:
      context.erase_stored();
      co_return asked.without_held();
    case OriginSays::unasked:
      context.fill().fail(kMalformed);
      co_return Next{};
    case OriginSays::beyond_the_end:
      co_return asked.as_the_client_asked();
    case OriginSays::error:
    case OriginSays::response:
      break;
  }
  co_return co_await write_response(context, std::move(attempt), asked);
}

}  // namespace

Task<void> fill_from_origin(FillContext& context, OriginQuestion question) {
  for (Next next = std::move(question); next;) {
    const auto asked = std::move(*next);
    next = co_await ask_once(context, asked);
  }
}

}  // namespace proxy
