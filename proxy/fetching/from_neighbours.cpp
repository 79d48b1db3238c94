#include "proxy/fetching/from_neighbours.hpp"

#include <algorithm>
#include <utility>

#include "proxy/blocks/run_answer.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/fetching/body_writer.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/fetching/object_writer.hpp"
#include "proxy/fetching/rest_of_body.hpp"
#include "proxy/fetching/stored_answer.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/claimant_search.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::fetching {

using net::Soon;
using net::Task;

namespace {

enum class Answered : std::uint8_t {
  yes,  // the fill has ended
  no,   // another source has to be asked
};

std::optional<sources::PartAsked> part_to_ask_for(const FillJob& job) {
  if (job.sibling_range) return sources::PartAsked{*job.sibling_range, {}, true};
  if (!job.how.part) return std::nullopt;
  const auto asked = http::only_range(job.request->get().facts.ranges);
  return asked ? std::optional(sources::PartAsked{*asked}) : std::nullopt;
}

sources::SiblingQuestion question_to_siblings(const FillJob& job) {
  const bool by_tag = job.allowed.by_tag;
  return {.part = part_to_ask_for(job),
          .tag = by_tag ? job.stored.entry->quotes().etag : std::string_view(),
          .least_freshness = job.allowed.least_freshness};
}

// Whether the client asks for so little of the part that it can be held back until it is whole.
bool is_little_asked_for(const FillContext& context, const http::ContentRange& part) {
  const auto asked = http::only_range(context.request().facts.ranges);
  if (!asked || !part.complete || asked->first > part.range.last) return false;
  const auto last = std::min(asked->last.value_or(part.range.last), part.range.last);
  return last - asked->first < BodyWriter::kHeldBack;
}

// Whether the answer, which may be stored, is to be left with the neighbour that gave it: see
// Placement::leaves_there().
bool is_left_there(const FillContext& context, const Incoming& incoming) {
  const auto& answer = incoming.attempt;
  const auto& peer = *answer.peer();
  const auto& part = incoming.entry->range();
  const tiers::Offer offer{
      .role = peer.role,
      .takes = peer.accuracy.first_byte(),
      .took = answer.waits_itself() ? std::nullopt : std::optional(answer.waited()),
      .renews = !!context.job.stored.entry,
      .long_part = part && !is_little_asked_for(context, *part),
      .length = part ? part->complete : incoming.length};
  const auto setting = context.request().policy().settings.digest.duplicates;
  return context.cache().leaves_there(setting, context.job.key, offer);
}

constexpr std::uint64_t kLittle = 64 * 1024;
constexpr std::uint64_t kLeastHeldBackRate = 2 << 20;

// Whether the part is exactly the client's range, and small enough to be held back until it is
// whole.
bool is_little_part_asked_for(const FillContext& context, const Incoming& incoming) {
  const auto& came = *incoming.entry->range();
  const auto asked = http::only_range(context.request().facts.ranges);
  const auto& length = incoming.length;
  const bool little = came.complete && length && *length <= BodyWriter::kHeldBack;
  if (!asked || !little) return false;
  const auto end = *came.complete - 1;
  const http::ByteRange wanted{asked->first, std::min(asked->last.value_or(end), end)};
  return came.range == wanted && *length == wanted.size();
}

// Whether another source could supply the rest of the body. A guest's body is never resumed
// elsewhere: see cache::may_join(). The origin may have no part of a coded body, in particular of
// one that was coded while it was sent, so a coded body is better held back.
bool is_resumable(const Incoming& incoming) {
  const auto& entry = *incoming.entry;
  const auto& length = incoming.length;
  const bool is_long = length && *length > BodyWriter::kHeldBack;
  const bool coded = cache::is_coded(incoming.attempt.head().fields);
  const bool by_parts = !coded || is_long || (length && incoming.attempt.waits_itself());
  return by_parts && !cache::strong_validator(entry).empty() && !entry.giver().guest;
}

// Readers see a part, or a small body that could not be resumed elsewhere, only once it is whole.
// So do they a little one that could: by then the origin may have another version, and no rest of
// this one.
bool is_to_be_held_back(const Incoming& incoming, bool resumable) {
  const auto& length = incoming.length;
  const bool small = !length || *length <= BodyWriter::kMostHeldBack;
  const bool little = length && *length <= kLittle && !incoming.attempt.waits_itself();
  return incoming.entry->range() || little || (small && !resumable);
}

// Whether readers might be left with the beginning of a body that nobody can complete, because it
// is too large to be held back.
bool might_be_cut(const Incoming& incoming, bool resumable) {
  if (resumable) return false;
  const auto& length = incoming.length;
  // What the neighbour still fetches may last as long as the origin likes: too long to be held
  // back.
  if (incoming.attempt.waits_itself()) return !length || *length > kLittle;
  return length && *length > BodyWriter::kMostHeldBack;
}

// The least rate of a body, in bytes per second. The readers wait for all of a body that is held
// back, so a long one must not take long.
std::uint64_t least_rate(const std::optional<std::uint64_t>& length, bool held_back) {
  const bool may_be_long = held_back && (!length || *length > BodyWriter::kHeldBack);
  return may_be_long ? kLeastHeldBackRate : blocks::kLeastSiblingRate;
}

bool has_failed(const sources::Finding& finding) {
  return finding.worth == sources::Worth::cut || finding.worth == sources::Worth::wrong;
}

void check_some(const FillContext& context, BodyWriter& writer) {
  auto entry = writer.entry();
  const auto came = entry->range() ? sources::Came::part : sources::Came::whole;
  if (!sources::is_to_be_checked(context.access.sources, context.request(), *entry, came)) return;
  const auto length =
      entry->range() ? entry->range()->complete : std::optional(context.fill().received());
  sources::check_given(context.access.sources, context.request(),
                       {std::move(entry), length, writer.attempt().peer()});
}

Task<Answered> write_body(FillContext& context, sources::ClaimantSearch& search, Incoming incoming,
                          bool resumable) {
  auto& fill = context.fill();
  const bool held_back = is_to_be_held_back(incoming, resumable);
  resumable = resumable || held_back;  // another source then gives the whole
  // Where nobody has the rest, a neighbour is given as much time as an origin.
  const auto idle = resumable ? search.body_idle(incoming.attempt)
                              : context.request().policy().settings.timeouts.body;
  const auto least = least_rate(incoming.length, held_back);
  BodyWriter writer(context, std::move(incoming));
  if (held_back) {
    const bool is_last = search.origin_has_failed();
    writer.hold_back(is_last ? BodyWriter::IfLong::publish : BodyWriter::IfLong::fail);
  } else {
    writer.publish();
  }
  // What the neighbour still fetches is as slow as the origin. A body of which nobody has the rest
  // is better slow than cut.
  std::optional<blocks::LeastRate> rate;
  if (resumable && !writer.attempt().waits_itself()) rate.emplace(least, blocks::kRateGrace);
  auto written = co_await writer.write(idle, rate);
  if (!written && !held_back)
    written = co_await outlast_silence(context, search, writer, written, idle);
  const auto finding = sources::worth_of(written);
  const bool is_dropped = has_failed(finding) && writer.held_back();
  if (is_dropped && writer.too_long_to_hold_back()) {
    search.put_off(writer.attempt());
  } else if (writer.attempt().peer()) {
    search.record(writer.attempt(), finding, is_dropped ? 0 : fill.received());
  }
  if (is_dropped) {
    fill.restart();
    co_return Answered::no;
  }
  if (finding.worth == sources::Worth::cut && writer.attempt().peer())
    written =
        co_await write_rest(context, writer, written.error(), RestFrom::neighbours_and_origin);
  if (written) {
    co_await writer.complete();
  } else {
    writer.end_cut(written.error());
  }
  if (finding.worth == sources::Worth::true_hit && writer.attempt().peer())
    check_some(context, writer);
  co_return Answered::yes;
}

// For a 304, by which a neighbour says that it has the response that is stale here. It is of use if
// the neighbour's copy is fresh.
Answered freshen_stored(FillContext& context, sources::ClaimantSearch& search,
                        sources::Attempt& answer) {
  const auto& stored = context.job.stored.entry;
  auto freshened = freshened_by(context, answer, *stored);
  auto useless = sources::objection(freshened.storability, *freshened.entry, answer.head(),
                                    answer.times(), context.request());
  if (!cache::identifies(*stored, answer.head())) {
    useless = sources::Finding{sources::Worth::unusable, peers::FalseHit::unfit};
  }
  search.record(answer, useless.value_or(sources::Finding{sources::Worth::true_hit}));
  if (useless) return Answered::no;
  search.settle();
  // The digest of the stored response was verified when it came.
  if (sources::is_to_be_checked(context.access.sources, context.request(), *freshened.entry,
                                sources::Came::whole)) {
    const auto length = cache::complete_length(*freshened.entry);
    sources::check_given(context.access.sources, context.request(),
                         {freshened.entry, length, answer.peer()});
  }
  write_unmodified(context, answer, stored, std::move(freshened));
  return Answered::yes;
}

Task<Answered> write_blocks(FillContext& context, sources::ClaimantSearch& search,
                            Incoming incoming, cache::Ref<const cache::Entry> object) {
  search.settle();
  const bool resumable = !cache::strong_validator(*object).empty();
  const auto idle = resumable ? search.body_idle(incoming.attempt)
                              : context.request().policy().settings.timeouts.body;
  co_await write_object(context, std::move(incoming), std::move(object), idle);
  co_return Answered::yes;
}

// The blocks that came of those that were asked for: perhaps the first ones alone.
std::optional<http::AskedRange> blocks_that_came(const FillContext& context,
                                                 const Incoming& incoming) {
  auto blocks = context.job.sibling_range;
  const auto& part = incoming.entry->range();
  if (blocks && part && blocks::is_first_of(*part, *blocks)) blocks->last = part->range.last;
  return blocks;
}

// Writes an answer that is of use, if the client can do with the part that came.
Soon<Answered> write_useful(FillContext& context, sources::ClaimantSearch& search,
                            Incoming&& incoming, bool resumable) {
  if (auto object = begin_object(context, incoming, blocks_that_came(context, incoming)))
    return write_blocks(context, search, std::move(incoming), std::move(object));
  if (incoming.entry->range() && !is_little_part_asked_for(context, incoming)) {
    search.record(incoming.attempt, {sources::Worth::other_range});
    return Answered::no;
  }
  search.settle();
  return write_body(context, search, std::move(incoming), resumable);
}

// Cuts the answer to a range override, which is not stored, to the client's range first.
Task<Answered> write_cut_to_client(FillContext& context, sources::ClaimantSearch& search,
                                   Incoming incoming, bool resumable) {
  upstream::Outcome<CutToSize> cut = CutToSize::done;
  const auto idle = search.body_idle(incoming.attempt);  // nothing is published yet
  if (incoming.entry->range()) cut = co_await cut_to_size(context, incoming, idle);
  if (cut && *cut == CutToSize::done)
    co_return co_await write_useful(context, search, std::move(incoming), resumable);
  const auto finding =
      cut ? sources::Finding{sources::Worth::other_range} : sources::worth_of(cut.error());
  search.record(incoming.attempt, finding);
  if (finding.worth != sources::Worth::given_up) co_return Answered::no;
  context.fill().fail(cut.error());
  co_return Answered::yes;
}

// Judges the answer that a neighbour has begun to send, and writes it. `no`: the answer is of no
// use.
Soon<Answered> write_if_of_use(FillContext& context, sources::ClaimantSearch& search,
                               sources::Attempt& answer) {
  // A sibling gets the tag of our stale response alone, so its 304 is about that one.
  if (answer.head().status == 304) return freshen_stored(context, search, answer);
  const auto& facts = context.request().facts;
  if (is_behind_client(answer.head(), answer.length(), context.request())) {
    search.record(answer, {sources::Worth::other_range});
    return Answered::no;
  }
  const auto control = context.control_of(answer);
  const auto storability = cache::may_store(facts, answer.head(), answer.times(), control);
  auto incoming =
      incoming_of(context, std::move(answer), control, storability, context.job.stored.entry);
  const auto& attempt = incoming.attempt;
  const auto useless = sources::objection(storability, *incoming.entry, attempt.head(),
                                          attempt.times(), context.request());
  if (useless) {
    search.record(attempt, *useless);
    return Answered::no;
  }
  const bool resumable = is_resumable(incoming);
  if (might_be_cut(incoming, resumable) && !search.origin_has_failed()) {
    search.put_off(attempt);
    return Answered::no;
  }
  const auto& part = incoming.entry->range();
  const auto& blocks = context.job.sibling_range;
  const bool is_first = part && blocks && blocks::is_first_of(*part, *blocks);
  incoming.left_there = !is_first && is_left_there(context, incoming);
  if (incoming.left_there && context.job.sibling_range)
    return write_cut_to_client(context, search, std::move(incoming), resumable);
  return write_useful(context, search, std::move(incoming), resumable);
}

}  // namespace

Task<std::optional<LeftForOrigin>> fill_from_neighbours(FillContext& context,
                                                        const OriginQuestion& question) {
  sources::ClaimantSearch::For wanted{context.job.key, context.request(),
                                      question_to_siblings(context.job)};
  wanted.allowed = context.job.allowed;
  wanted.fill = &context.fill();
  wanted.origin = [&](const upstream::Route& route) {
    return attempt_at_origin(context.access, context.request(), question, route);
  };
  wanted.on_interim = [&](const http::ResponseHead& head) {
    return pass_on_interim(context, head);
  };
  sources::ClaimantSearch search(context.access.sources, std::move(wanted), context.inquiries);
  for (;;) {
    std::optional<UnreadWatch> watch(std::in_place, context, search);
    auto answer = co_await search.next();
    watch.reset();
    if (search.abandoned()) {
      context.fill().fail({upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}});
      co_return std::nullopt;
    }
    if (!answer || !answer->peer()) {
      LeftForOrigin left{std::move(answer)};
      co_return std::optional(std::move(left));
    }
    const auto written = co_await write_if_of_use(context, search, *answer);
    if (written == Answered::yes) co_return std::nullopt;
  }
}

}  // namespace proxy::fetching
