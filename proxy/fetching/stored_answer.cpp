#include "proxy/fetching/stored_answer.hpp"

#include <algorithm>
#include <utility>

#include "proxy/blocks/content_record.hpp"
#include "proxy/blocks/presence.hpp"
#include "proxy/blocks/whole_check.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/fetching/body_writer.hpp"
#include "proxy/policy/content.hpp"

namespace proxy::fetching {

using net::Task;

namespace {

// Whether the body does not have the digest that names it. Hashes it in turns with others.
Task<bool> is_wrong(const FillContext& context, cache::Ref<const cache::Entry> whole) {
  const auto name = blocks::digest_of(*whole, context.request());
  if (!name) co_return false;
  mirrors::ContentCheck check(*name, whole->body.size);
  std::uint64_t since_turn = 0;
  for (const auto& slice : whole->body.slices) {
    check.add({slice.block->data(), slice.size});
    since_turn += slice.size;
    if (since_turn < cache::kBlockBytes) continue;
    since_turn = 0;
    co_await net::asio::post(context.access.executor(), net::use_task);
  }
  co_return !check.matches();
}

void append_body(fill::Fill& fill, const cache::Entry& entry) {
  for (const auto& slice : entry.body.slices) fill.append(slice.block, slice.size);
}

// Whether the list that names the response's digest has changed since the origin gave or confirmed
// the response: a client that has the list refuses it then, and keeps all that it has if it gets an
// error. Of a list without Last-Modified, its own time counts.
bool is_older_than_its_list(const FillContext& context, const cache::Entry& stored) {
  const auto& request = context.request();
  if (!request.rule()) return false;
  for (const auto& url : request.rule()->lists_of(request.target)) {
    const auto key = digest::key_of(digest::Method::get, url);
    const auto list = context.cache().in_memory(key, url, request.head.fields).entry;
    if (!list) continue;
    const auto changed = list->validators().last_modified;
    const auto since = changed && !list->quotes().last_modified.empty() ? cache::Time(*changed)
                                                                        : list->times().response;
    return stored.times().response < since;
  }
  return false;
}

}  // namespace

cache::Freshened freshened_by(const FillContext& context, const sources::Attempt& answer,
                              const cache::Entry& stored) {
  return cache::freshen(context.cache().budget, stored, context.request().facts,
                        context.received(answer));
}

void write_unmodified(FillContext& context, sources::Attempt& answer,
                      const cache::Ref<const cache::Entry>& stored, cache::Freshened freshened) {
  auto& fill = context.fill();
  auto from = context.provenance(answer);
  const cache::Ref<const cache::Entry> fresh = freshened.entry;
  answer.fetch().finish();
  const bool may_be_kept = freshened.storability == cache::Storability::yes;
  const bool is_outdated =
      !may_be_kept && freshened.storability != cache::Storability::vary_too_long;
  if (is_outdated) context.erase_stored();
  from.validated = true;
  from.stored = may_be_kept && context.store(fresh, stored);
  from.storability = freshened.storability;
  if (from.stored) blocks::renew_record(context.access, *stored, *fresh, context.request());
  if (may_be_kept && !from.stored) from.storability = context.why_not_stored(*fresh);
  if (!from.stored) context.count(from.storability);
  append_body(fill, *fresh);
  const bool shared = may_be_kept && fresh->reusable(context.now());
  if (!shared) context.delist_as_unshared(freshened.storability);
  context.publish({fresh, fresh->body.size, shared, std::move(freshened.asker_fields), from});
  fill.finish();
}

Task<void> write_clients_unmodified(FillContext& context, sources::Attempt answer,
                                    cache::Ref<const cache::Entry> stored) {
  const auto control = context.control_of(answer);
  auto incoming = incoming_of(context, std::move(answer), control, cache::Storability::partial,
                              std::move(stored));
  BodyWriter writer(context, std::move(incoming));
  writer.publish();
  co_await writer.complete();
}

StoodIn stand_in(FillContext& context, const sources::Attempt& failed,
                 const cache::Ref<const cache::Entry>& stored, std::string_view why,
                 std::chrono::seconds leave) {
  auto& fill = context.fill();
  if (context.job.refresh) {  // a request that has joined the refresh asks again for itself
    fill.fail({upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}});
    return StoodIn::yes;
  }
  const auto& request = context.request();
  if (!stored || !cache::may_stand_in(request.facts, *stored, context.now(), leave))
    return StoodIn::no;
  if (is_older_than_its_list(context, *stored)) return StoodIn::no;
  const bool lacks_blocks =
      stored->object() && blocks::presence(context.access, request, context.job.key, *stored) !=
                              blocks::Presence::stored;
  if (lacks_blocks) return StoodIn::no;
  context.remark("stale-if-error", why);
  auto from = context.provenance(failed);
  from.stood_in = leave;
  append_body(fill, *stored);
  fill.publish({stored, stored->body.size, true, {}, std::move(from)});
  fill.finish();
  return StoodIn::yes;
}

Task<void> write_completed(FillContext& context, sources::Attempt rest, const OriginQuestion& asked,
                           http::ContentRange joined) {
  const auto& stored = *asked.stored;
  auto& budget = context.cache().budget;
  const auto part = asked.how.part ? std::optional(joined) : std::nullopt;
  const auto all =
      cache::with_part(budget, stored, context.request().facts, context.received(rest), part);
  const bool is_outdated = all.storability != cache::Storability::yes &&
                           all.storability != cache::Storability::vary_too_long;
  if (is_outdated) context.erase_stored();
  Incoming incoming{std::move(rest), all.entry, joined.range.size(), all.storability, asked.stored};
  BodyWriter writer(context, std::move(incoming));
  writer.publish();
  const auto before = joined.range.first - cache::range_of_body(stored).first;
  auto begun = cache::without_first(budget, stored.body, before);
  co_await writer.begin_with(std::move(begun));
  const auto idle = context.request().policy().settings.timeouts.body;
  const auto written = co_await writer.write(idle);
  // The stored part may be what is wrong.
  if (!written && written.error().cause == upstream::Errc::wrong_content) context.erase_stored();
  co_await writer.end(written);
}

Task<upstream::Outcome<CutToSize>> cut_to_size(FillContext& context, Incoming& incoming,
                                               std::chrono::milliseconds idle) {
  const auto& facts = context.request().facts;
  const auto asked = http::only_range(facts.ranges);
  const std::optional<http::ContentRange> came = incoming.entry->range();
  // If the bytes of the part were coded, and not a part taken from coded bytes, there is no telling
  // where the client's bytes are. Content-Length then has another value, or is missing.
  const bool coded = cache::is_coded(incoming.attempt.head().fields);
  const bool countable =
      came && (incoming.length ? *incoming.length == came->range.size() : !coded);
  const bool is_there = asked && countable && cache::meets_if_range(facts, *incoming.entry) &&
                        asked->first >= came->range.first && asked->first <= came->range.last;
  if (!is_there) co_return CutToSize::not_there;
  const http::ByteRange range{asked->first,
                              std::min(asked->last.value_or(came->range.last), came->range.last)};
  const http::ContentRange said{range, came->complete};
  const auto message = context.received(incoming.attempt);
  const auto part = cache::with_part(context.cache().budget, *incoming.entry, facts, message, said);
  auto& attempt = incoming.attempt;
  const UnreadWatch watch(context, attempt);
  const auto before = range.first - came->range.first;
  const auto skipped =
      co_await sources::skip_body(context.access.sources, attempt.fetch(), before, idle);
  if (!skipped) co_return skipped.error();
  incoming.entry = part.entry;
  incoming.length = range.size();
  incoming.goes_on = true;
  co_return CutToSize::done;
}

void confirm_verified(const FillContext& context, Incoming& incoming) {
  const auto& entry = *incoming.entry;
  if (entry.range() || !entry.giver().guest) return;
  const auto name = policy::shared_content_of(context.request());
  if (!name) return;
  auto text = blocks::own_head_of(*name);
  const auto head = http::parse_response_head(text).value();
  auto received = context.received(incoming.attempt);
  received.giver.guest = false;  // a purge by giver still finds it
  incoming.entry = cache::Entry::make(context.cache().budget, received.with(head));
  incoming.asker_fields.clear();
}

Task<bool> store_part(const FillContext& context, const Incoming& incoming,
                      cache::Ref<const cache::Entry> part) {
  auto stored = context.in_memory();
  if (stored && stored->object()) {  // the part is smaller than a block
    if (cache::same_representation(*stored, incoming.attempt.head().fields)) co_return false;
    stored = nullptr;
  }
  const auto message = context.received(incoming.attempt);
  const auto all = cache::combine(stored.get(), part, context.request().facts, message,
                                  context.cache().most_in_memory());
  if (!all) co_return false;
  bool is_other = false;
  if (!all->range()) is_other = co_await is_wrong(context, all);
  if (!is_other) co_return context.store(all, incoming.superseded);
  (void)sources::wrong_content(incoming.attempt, all->url());
  context.erase_stored();
  co_return false;
}

Task<void> store_cut_body(const FillContext& context, const Incoming& incoming) {
  const auto& entry = *incoming.entry;
  const auto came = context.fill().received();
  if (came == 0 || !entry.has_content() || cache::strong_validator(entry).empty()) co_return;
  if (entry.giver().guest) co_return;  // a part may be joined with others later
  // Of a coded part that does not promise all its bytes, perhaps only the part was coded.
  const bool coded = cache::is_coded(incoming.attempt.head().fields);
  if (coded && entry.range() && incoming.length != entry.range()->range.size()) co_return;
  const auto first = entry.range() ? entry.range()->range.first : 0;
  const auto complete = entry.range() ? entry.range()->complete : incoming.length;
  const http::ContentRange part{{first, first + came - 1}, complete};
  const auto message = context.received(incoming.attempt);
  const auto kept =
      cache::with_part(context.cache().budget, entry, context.request().facts, message, part);
  if (kept.storability != cache::Storability::yes) co_return;
  kept.entry->body = context.fill().body();
  (void)co_await store_part(context, incoming, kept.entry);
}

}  // namespace proxy::fetching
