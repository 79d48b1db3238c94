#include "proxy/fetching/object_writer.hpp"

#include <algorithm>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/neighbour.hpp"

namespace proxy::fetching {

using net::Task;

namespace {

bool is_good_part(const cache::Entry& part, std::optional<std::uint64_t> promised) {
  return part.range() && part.range()->complete && promised == part.range()->range.size() &&
         !cache::strong_validator(part).empty();
}

// Whether the part has exactly the asked range.
bool is_of_blocks(const http::ContentRange& part, const http::AskedRange& asked) {
  const auto end = *part.complete - 1;
  const auto last = asked.last ? std::min(*asked.last, end) : end;
  return part.range == http::ByteRange{asked.first, last};
}

// Whether the part is a whole body that is not large, and the client asked for all of it. Such a
// part is stored like any other response.
bool is_simply_all(const http::ContentRange& part, std::string_view ranges,
                   std::uint64_t large_from) {
  const auto asked = http::only_range(ranges);
  return part.is_whole() && *part.complete <= large_from && asked && asked->first == 0 &&
         asked->last.value_or(UINT64_MAX) >= part.range.last;
}

// Whether the stored entry may belong to an object of this length.
bool is_of_length(const cache::Entry& stored, std::uint64_t length) {
  return stored.range() ? stored.body.size <= length : stored.body.size == length;
}

// The object's entry. If a stored entry has the same representation, both share its blocks. Null:
// the fields of the answer forbid storing the combined entry.
cache::Ref<const cache::Entry> object_of(const FillContext& context, const Incoming& incoming,
                                         std::uint64_t length) {
  auto& access = context.access;
  const auto message = context.received(incoming.attempt);
  auto stored = incoming.superseded;
  if (!stored || !stored->object()) stored = context.in_memory();
  const bool same = incoming.entry->range() && stored && stored->object() &&
                    is_of_length(*stored, length) &&
                    cache::may_join(stored->giver(), incoming.entry->giver()) &&
                    cache::same_representation(*stored, incoming.attempt.head().fields);
  if (!same || !stored->range()) {
    const auto version = same ? stored->object()->version : access.cache().new_version();
    return cache::object_entry(access.cache().budget, message, {version}, length);
  }
  const auto whole =
      cache::with_part(access.cache().budget, *stored, context.request().facts, message, {});
  whole.entry->body.size = length;
  return whole.storability == cache::Storability::yes ? whole.entry : nullptr;
}

std::shared_ptr<blocks::BlockRun> begin_run(const FillContext& context, const Incoming& incoming,
                                            const cache::Ref<const cache::Entry>& object) {
  const bool weak = cache::strong_validator(*object).empty();
  const bool knows_ranges =
      http::has_member(incoming.attempt.head().fields, http::field::accept_ranges, "bytes");
  const auto& part = incoming.entry->range();
  blocks::RunPlan plan;
  plan.blocks = {0, cache::blocks_in(object->body.size) - 1};
  if (part) plan.blocks = *cache::whole_blocks(*part);
  // Without ranges nobody can ask for one block alone, so readers wait for the body to get there.
  plan.through = !part && (weak || !knows_ranges);
  // Without a strong validator no later request could complete the object. So a refresh fetches all
  // of it, though no client waits.
  const bool for_nobody = context.job.refresh && weak;
  const auto fill = context.job.fill;
  plan.also_wanted = [fill, for_nobody] { return for_nobody || !fill->close_if_unread(); };
  auto& runs = context.access.runs;
  auto run = runs.begin(object, std::move(plan), context.access.executor());
  fill->on_abandoned([run] { run->look_whether_wanted(); });
  return run;
}

void publish_object(const FillContext& context, const Incoming& incoming,
                    const cache::Ref<const cache::Entry>& object) {
  const auto& attempt = incoming.attempt;
  auto from = context.provenance(attempt);
  from.stored = true;
  from.aged = attempt.head().fields.has(http::field::age);
  context.count(cache::Storability::yes);
  context.leave_list();  // new requests find the object in the store
  const bool shareable = object->fresh(context.now()) && !object->no_cache;
  context.publish({object, object->body.size, shareable, incoming.asker_fields, from});
}

blocks::RunJob rest_job(const FillContext& context, std::shared_ptr<blocks::BlockRun> run) {
  // A copy: the run may outlive the fill, and with it the request.
  auto request = std::make_unique<policy::OwnedRequest>(context.request());
  return {std::move(run), context.job.key, std::move(request), context.patience};
}

struct Written {
  upstream::Outcome<void> body = boost::system::in_place_value;
  std::optional<blocks::BegunRest> rest =
      {};  // the origin's answer that has won: see outlast_silence()
};

// Writes the body. If a neighbour that fetches it itself is silent, waits for it as long as for an
// origin, and asks the origin for the rest meanwhile. The result has the origin's answer if that
// comes first.
Task<Written> outlast_silence(const FillContext& context, sources::Attempt& attempt,
                              blocks::BlockWriter& writer, std::shared_ptr<blocks::BlockRun> run,
                              std::chrono::milliseconds idle) {
  Written all;
  all.body = co_await writer.write(idle);
  const auto longest = context.request().policy().settings.timeouts.body;
  const bool resumable = !cache::strong_validator(*run->object).empty();
  while (resumable && sources::is_silent(all.body, attempt)) {
    const auto before = writer.received();
    const auto job = rest_job(context, run);
    const auto left = blocks::whole_blocks_left(*run);
    std::function<bool(sources::Attempt&)> fits = [&job, &left](sources::Attempt& rest) {
      return blocks::has_rest(rest, job, left);
    };
    auto asked = blocks::rest_at_origin(context.access, job, left);
    auto rest = co_await sources::race_for_rest(context.access.sources, attempt, std::move(asked),
                                                std::move(fits), longest);
    if (rest) {
      all.rest.emplace(blocks::BegunRest{left, std::move(*rest)});
      break;
    }
    all.body = co_await writer.write(idle);
    if (writer.received() == before) break;  // it was silent for so long
  }
  co_return all;
}

// Writes the body into the run's blocks. Notes what a sibling's body was worth.
Task<Written> write_into(const FillContext& context, Incoming& incoming,
                         std::shared_ptr<blocks::BlockRun> run, std::chrono::milliseconds idle) {
  auto& attempt = incoming.attempt;
  auto& access = context.access;
  const auto name = blocks::digest_of(*run->object, context.request());
  blocks::BlockWriter writer(access, {run, context.job.key, context.patience, UINT32_MAX, name},
                             attempt);
  const bool resumable = !cache::strong_validator(*run->object).empty();
  if (attempt.peer() && !attempt.waits_itself() && resumable)
    writer.expect(blocks::kLeastSiblingRate);
  Written all;
  auto& written = all.body;
  if (const auto& part = incoming.entry->range()) {
    const auto before = cache::bytes_before_block(part->range.first);
    written = co_await sources::skip_body(access.sources, attempt.fetch(), before, idle);
  }
  if (written) all = co_await outlast_silence(context, attempt, writer, run, idle);
  attempt.fetch().finish();
  if (!attempt.peer()) co_return all;
  sources::record_worth(*context.request().policy().directory, attempt, writer.worth_of(written),
                        context.access.clock().steady(), writer.received());
  const auto& object = run->object;
  const auto came = incoming.entry->range() ? sources::Came::part : sources::Came::whole;
  if (written && sources::is_to_be_checked(access.sources, context.request(), *object, came)) {
    sources::check_given(access.sources, context.request(),
                         {object, object->body.size, attempt.peer()});
  }
  co_return all;
}

// The source has cut the body. Another one may have the rest of the blocks. `begun`: the origin's
// answer for the rest, if it is here already.
Task<blocks::RunEnd> write_rest_of(const FillContext& context, const Incoming& incoming,
                                   std::shared_ptr<blocks::BlockRun> run, blocks::RunEnd cut,
                                   std::optional<blocks::BegunRest> begun) {
  if (begun) {
    run->begin_again();
    const auto rest = rest_job(context, std::move(run));
    co_return co_await blocks::fetch_from_origin(context.access, rest, std::move(begun));
  }
  const bool by_origin = !incoming.attempt.peer();
  const bool neighbours = !sources::why_only_origin(
      context.cache().fills, context.job.key, context.request(), context.access.clock().steady());
  if (by_origin && !neighbours) co_return cut;
  run->begin_again();
  const auto rest = rest_job(context, std::move(run));
  const auto left = by_origin ? blocks::OthersLeft::none : blocks::OthersLeft::origin;
  const auto end = co_await blocks::fetch_from_neighbours(context.access, rest, left);
  if (end) co_return *end;
  if (by_origin) co_return cut;
  co_return co_await blocks::fetch_from_origin(context.access, rest, std::move(begun));
}

}  // namespace

std::optional<std::uint64_t> object_length(const cache::Entry& answer,
                                           std::optional<std::uint64_t> length,
                                           const cache::RequestFacts& request,
                                           const std::optional<http::AskedRange>& range_override,
                                           std::uint64_t large_from) {
  if (answer.variant().never_matches()) return {};
  const bool large = length && *length > large_from;
  if (answer.status == 200) return large ? length : std::nullopt;
  if (!is_good_part(answer, length)) return {};
  const auto& part = *answer.range();
  const bool wanted = range_override ? is_of_blocks(part, *range_override)
                                     : large && !request.if_range && !request.authorization;
  const bool kept =
      wanted && cache::whole_blocks(part) && !is_simply_all(part, request.ranges, large_from);
  return kept ? part.complete : std::nullopt;
}

cache::Ref<const cache::Entry> begin_object(const FillContext& context, const Incoming& incoming,
                                            const std::optional<http::AskedRange>& range_override,
                                            RangeAsked range) {
  const auto& access = context.access;
  const bool may =
      incoming.may_be_stored() && !incoming.left_there && !incoming.entry->giver().guest;
  if (!may || !access.cache().is_for_disk(context.job.key)) return nullptr;
  const auto& part = incoming.entry->range();
  if (part && range != RangeAsked::any && !cache::has_only_whole_blocks(*part)) return nullptr;
  const auto length = object_length(*incoming.entry, incoming.length, context.request().facts,
                                    range_override, access.cache().large_from());
  if (!length || !access.cache().may_be_kept_in_blocks(*length)) return nullptr;
  auto object = object_of(context, incoming, *length);
  return object && context.store(object, incoming.superseded) ? object : nullptr;
}

Task<void> write_object(FillContext& context, Incoming incoming,
                        cache::Ref<const cache::Entry> object, std::chrono::milliseconds idle) {
  auto& runs = context.access.runs;
  const auto run = begin_run(context, incoming, object);
  {
    blocks::BlockRuns::Ending ending(runs, run);
    publish_object(context, incoming, object);
    auto written = co_await write_into(context, incoming, run, idle);
    ending.end = blocks::RunEnd::after(written.body);
    if (ending.end.failed() && !cache::strong_validator(*object).empty()) {
      ending.end =
          co_await write_rest_of(context, incoming, run, ending.end, std::move(written.rest));
    }
  }
  blocks::record_kept_blocks(context.access, context.job.key, *object, context.request());
  context.fill().finish();  // its readers have the head, and read blocks
}

}  // namespace proxy::fetching
