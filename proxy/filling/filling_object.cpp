// What a fill does with a response that is kept in blocks: makes it an object, and brings them.
#include <algorithm>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/in_blocks.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/filling/filling.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr Failure kAllBrought{Failure::Where::us, Failure::What::abandoned, {}};

// All of it is promised, and it comes with all that it takes to ask for other blocks.
bool is_good_part(const cache::Entry& part, std::optional<std::uint64_t> promised) {
  return part.range && part.range->complete && promised == part.range->range.size() &&
         !cache::strong_validator(part).empty();
}

// Whether it is just the blocks that were asked for.
bool is_of_blocks(const cache::Entry& part, const http::AskedRange& wide) {
  const auto end = *part.range->complete - 1;
  const auto last = wide.last ? std::min(*wide.last, end) : end;
  return part.range->range == http::ByteRange{wide.first, last};
}

// Whether what is held may be of an object of that length.
bool is_of_length(const cache::Entry& held, std::uint64_t length) {
  return held.range ? held.body.size <= length : held.body.size == length;
}

// All of it was asked for, and it is not large: then it is stored as any other.
bool is_simply_all(const cache::Entry& part, std::string_view ranges, std::uint64_t large_from) {
  const auto asked = http::only_range(ranges);
  return part.range->is_whole() && *part.range->complete <= large_from && asked &&
         asked->first == 0 && asked->last.value_or(UINT64_MAX) >= part.range->range.last;
}

}  // namespace

bool Filling::becomes_object() const {
  const auto& shared = worker_.shared;
  if (!storing_ || !shared.disk || entry_->variant.never_matches()) return false;
  if (!shared.disk->admits(job_.key)) return false;
  const auto large = large_from(shared);
  if (entry_->status == 200) {
    return length_ && *length_ > large && may_be_kept_in_blocks(shared, *length_);
  }
  if (!is_good_part(*entry_, length_)) return false;
  const auto& facts = request().facts;
  // What nobody knew to ask for in blocks is worth the one that is missing at its beginning, where
  // it is large.
  const bool wanted = job_.instead ? is_of_blocks(*entry_, *job_.instead)
                                   : *length_ > large && !facts.if_range && !facts.authorization;
  return wanted && cache::whole_blocks(*entry_->range) &&
         !is_simply_all(*entry_, facts.ranges, large) &&
         may_be_kept_in_blocks(shared, *entry_->range->complete);
}

// Where the body begins; nothing else tells that it will be large.
bool Filling::may_grow() const {
  const auto& shared = worker_.shared;
  return !growing_ && storing_ && !length_ && entry_->status == 200 && shared.disk &&
         job_.fill->received() == 0 && !entry_->variant.never_matches() &&
         shared.disk->admits(job_.key) && may_be_kept_in_blocks(shared, large_from(shared) + 1);
}

// The piece under way is as it will be.
Task<void> Filling::grow() {
  if (!growing_) co_return;
  auto kept = growing_->add({block_, used_});
  while (kept == BlockKept::yes && growing_->has_full_block()) {
    co_await let_the_disk_catch_up(worker_, patience_);
    kept = growing_->keep_block();
  }
  if (kept == BlockKept::yes) {
    if (growing_->due()) store_begun();
    co_return;
  }
  if (growing_->too_large()) drop_begun();
  growing_.reset();
  if (windowed_) stop_storing();  // what was dropped is not to be had from memory
}

// What was read last was not full.
Task<void> Filling::end_growing() {
  if (used_ > 0 && block_ && used_ < block_->capacity()) co_await grow();
  if (growing_ && growing_->large()) co_await let_the_disk_catch_up(worker_, patience_);
}

// Of what is not whole yet, for who asks when it is cut, or we are.
void Filling::store_begun() {
  if (cache::strong_validator(*entry_).empty() || length_is_known()) return;
  const auto begun = growing_->begun(received(provenance_.source));
  if (store(begun)) job_.held = begun;  // and so to be superseded
}

// Whether somebody has asked for the rest of what is under way, and stored it as whole.
bool Filling::length_is_known() const {
  auto& shared = worker_.shared;
  const auto held = shared.store.find(job_.key, job_.fill->url(), request().head.fields).entry;
  return held && held->object == growing_->object() && !held->range;
}

void Filling::keep_what_has_grown(const Failure& cut) {
  if (cut.what != Failure::What::malformed) return store_begun();
  drop_begun();  // nor is what came before it good
}

void Filling::drop_begun() {
  if (growing_->noted() && !length_is_known()) drop_held();
}

bool Filling::store_grown() {
  const auto object = growing_->finish(received(provenance_.source));
  if (!object) return windowed_ ? false : store_body();
  if (!length_is_known() && !store(object)) return false;
  note_if_complete(worker_.shared, job_.key, *object);
  return true;
}

// Of which blocks may be held that are as good: those of the same representation. Null: together
// with what is held it may not be stored.
std::shared_ptr<const cache::Entry> Filling::object_of(std::uint64_t length) const {
  auto& shared = worker_.shared;
  const auto message = received(provenance_.source);
  const bool of_object = job_.held && job_.held->object;
  auto held = job_.held;
  if (!of_object) {
    held = shared.store.find(job_.key, job_.fill->url(), request().head.fields).entry;
  }
  const bool same = entry_->range && held && held->object && is_of_length(*held, length) &&
                    cache::same_representation(*held, fetch_->head().fields);
  if (!same || !held->range) {
    const auto version = same ? held->object->version : shared.disk->disk().new_version();
    return cache::object_entry(shared.budget, message, {version}, length);
  }
  const auto whole = cache::with_part(shared.budget, *held, request().facts, message, {});
  whole.entry->body.size = length;
  return whole.storability == cache::Storability::yes ? whole.entry : nullptr;
}

std::shared_ptr<BlockRun> Filling::begin_run(const std::shared_ptr<const cache::Entry>& object) {
  const bool weak = cache::strong_validator(*object).empty();
  const bool knows_ranges =
      http::has_member(fetch_->head().fields, http::field::accept_ranges, "bytes");
  const auto fill = job_.fill;
  RunPlan plan;
  plan.blocks = {0, cache::blocks_in(object->body.size) - 1};
  if (entry_->range) plan.blocks = *cache::whole_blocks(*entry_->range);
  plan.through = !entry_->range && (weak || !knows_ranges);
  // What cannot be completed later is fetched for nobody, too, in place of what is held.
  const bool for_nobody = job_.refresh && weak;
  plan.also_wanted = [fill, for_nobody] { return for_nobody || !fill->close_if_unread(); };
  auto& runs = worker_.shared.runs;
  auto run = runs.begin(object, std::move(plan), worker_.io.get_executor());
  fill->on_abandoned([run] { run->look_whether_wanted(); });
  return run;
}

void Filling::publish_object(const std::shared_ptr<const cache::Entry>& object) {
  provenance_.stored = true;
  provenance_.aged = fetch_->head().fields.has(http::field::age);
  published_ = true;
  worker_.counters.stored.add();
  // The store has it: newcomers find it there.
  worker_.shared.fills.leave(job_.key, *job_.fill);
  const bool shareable = object->fresh(now()) && !object->no_cache;
  auto askers = cache::asker_fields(received(provenance_.source));
  job_.fill->publish({object, object->body.size, shareable, std::move(askers), provenance_});
}

Task<std::optional<Outcome<void>>> Filling::pour_in_blocks(std::chrono::milliseconds idle) {
  if (!becomes_object()) co_return std::nullopt;
  auto& shared = worker_.shared;
  const auto length = entry_->range ? *entry_->range->complete : *length_;
  const auto object = object_of(length);
  if (!object || !store(object)) co_return std::nullopt;
  const auto run = begin_run(object);
  Outcome<void> poured = boost::system::in_place_value;
  {
    BlockRuns::Ending ending(shared.runs, run);
    publish_object(object);
    const bool sibling = provenance_.source == cache::SourceKind::sibling;
    const auto from = sibling ? Hierarchy::sibling : Hierarchy::direct;
    BlockWriter writer(worker_, {run, job_.key, from, patience_}, *fetch_);
    if (sibling) writer.expect(kLeastSiblingRate);
    if (entry_->range)
      poured = co_await skip(cache::bytes_before_block(entry_->range->range.first));
    if (poured) poured = co_await writer.write(idle);
    ending.why = poured ? kAllBrought : poured.error();
    const bool cut = !poured && poured.error().what != Failure::What::abandoned;
    if (sibling && cut && !cache::strong_validator(*object).empty()) {
      run->begin_again();
      const RunJob rest{run, job_.key, std::make_unique<OwnedRequest>(request()), patience_};
      ending.why = co_await bring_from_origin(worker_, rest);
    }
  }
  fetch_->finish();
  note_if_complete(shared, job_.key, *object);
  job_.fill->finish();  // its readers have the head, and read blocks
  co_return poured;
}

// The rest of what is held in blocks has begun to come, and tells how long it is. False: it cannot
// be kept so.
Task<bool> Filling::complete_in_blocks() {
  job_.instead = http::AskedRange{job_.held->body.size, std::nullopt};  // as it was asked for
  entry_ = receive(cache::SourceKind::origin);
  storing_ = true;  // object_of() knows
  const auto in_blocks = co_await pour_in_blocks(worker_.shared.settings.timeouts.body);
  job_.instead.reset();
  co_return in_blocks.has_value();
}

void Filling::note_of_blocks(const peers::PeerRef& peer, std::chrono::microseconds waited,
                             const Outcome<void>& poured) {
  if (!poured && poured.error().what == Failure::What::abandoned) return;
  const auto outcome = poured ? peers::ClaimOutcome::true_hit : peers::ClaimOutcome::broken;
  worker_.shared.directory.note(peer, outcome, waited, 0, std::chrono::steady_clock::now());
}

// Than the client wants: the first of it is held in blocks, or there are more ranges; or whether it
// wants the range is not known yet.
bool Filling::asks_for_less() const {
  const auto& facts = request().facts;
  const auto asked = http::only_range(facts.ranges);
  return job_.instead && (!asked || facts.if_range || asked->first < job_.instead->first);
}

// Something else was asked for than the client wants, and what came is not kept in blocks.
Task<void> Filling::cut_to_size() {
  const auto asked = http::only_range(request().facts.ranges);
  const auto came = entry_->range;
  const bool is_there = asked && came && cache::meets_if_range(request().facts, *entry_) &&
                        asked->first >= came->range.first && asked->first <= came->range.last;
  if (!is_there) co_return co_await from_origin_as_asked();  // it says what that is
  const http::ByteRange range{asked->first,
                              std::min(asked->last.value_or(came->range.last), came->range.last)};
  const auto part = cache::with_part(worker_.shared.budget, *entry_, request().facts,
                                     received(cache::SourceKind::origin),
                                     http::ContentRange{range, came->complete});
  const auto skipped = co_await skip(range.first - came->range.first);
  if (!skipped) {
    job_.fill->fail(skipped.error());
    co_return;
  }
  entry_ = part.entry;
  length_ = range.size();
  cut_off_ = true;
  publish(storing_);
  co_await pour_to_the_end();
}

}  // namespace proxy
