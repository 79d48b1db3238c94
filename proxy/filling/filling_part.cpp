// What a fill does with parts: completes one, and keeps those that come (RFC 9111 3.3, 3.4).
#include <algorithm>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/filling/filling.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;

std::optional<http::ContentRange> Filling::joined_with_held() const {
  const auto rest = cache::rest_wanted(request().facts, *job_.held);
  return rest ? cache::joined(*rest, *job_.held, fetch_->head()) : std::nullopt;
}

// Whether this answers what the client asked for, though it is not the rest that we asked for.
bool Filling::answers_by_itself(unsigned status) const {
  const bool of_our_asking = status == 206 || status == 304 || status == 412 || status == 416;
  return !of_our_asking && !(status == 200 && job_.how.part);
}

// The rest of what is held has begun to come: the client gets both as one.
Task<void> Filling::take_rest(const http::ContentRange& part) {
  const auto& held = *job_.held;
  auto& budget = worker_.process.budget;
  const auto message = received(cache::SourceKind::origin);
  const auto said = job_.how.part ? std::optional(part) : std::nullopt;
  const auto all = cache::with_part(budget, held, request().facts, message, said);
  provenance_.source = cache::SourceKind::origin;
  entry_ = all.entry;
  length_ = part.range.size();
  storing_ = all.storability == cache::Storability::yes;
  if (!storing_) drop_held();
  publish(storing_);
  const auto before = part.range.first - cache::held(held).first;
  for (const auto& slice : cache::without_first(budget, held.body, before).slices) {
    job_.fill->append(slice.block, slice.size);
  }
  co_await pour_to_the_end();
}

// A part that answers the client's own If-Range may lack most of its head (RFC 9110 15.3.7).
cache::Storability Filling::may_store_answer() const {
  const auto& facts = request().facts;
  const auto& answer = fetch_->head();
  const bool whole_head = answer.status != 206 || job_.instead || !facts.if_range;
  if (!whole_head) return cache::Storability::partial;
  return cache::may_store(facts, answer, times_, targets());
}

std::optional<PartAsked> Filling::part_for_sibling() const {
  if (job_.instead) return PartAsked{*job_.instead};
  const auto asked = job_.how.part ? http::only_range(request().facts.ranges) : std::nullopt;
  return asked ? std::optional(PartAsked{*asked}) : std::nullopt;
}

// Just the client's range, and so little that it can be held back until all of it is there.
bool Filling::is_what_was_asked() const {
  const auto asked = http::only_range(request().facts.ranges);
  const auto& came = *entry_->range;
  if (job_.instead || !asked || !came.complete || !length_ || *length_ > kHeldBack) return false;
  const auto end = *came.complete - 1;
  const http::ByteRange wanted{asked->first, std::min(asked->last.value_or(end), end)};
  return came.range == wanted && *length_ == wanted.size();
}

// With what else of it is held by now. Whether anything is stored.
bool Filling::store_part(const std::shared_ptr<const cache::Entry>& part) {
  auto& process = worker_.process;
  auto held = process.store.find(job_.key, part->url, request().head.fields).entry;
  if (held && held->object) {  // too little of it to be a block
    if (cache::same_representation(*held, fetch_->head().fields)) return false;
    held = nullptr;
  }
  const auto all = cache::combine(process.budget, held.get(), part, request().facts,
                                  received(provenance_.source), process.store.max_object());
  return all && store(all);
}

// What came before the cut is good, as a part: where more of the very same can be asked for.
void Filling::keep_what_came(const Failure& cut) {
  if (growing_ && growing_->large()) return keep_what_has_grown(cut);
  const auto came = job_.fill->received();
  if (!storing_ || came == 0 || !entry_->has_content() || cut.what == Failure::What::malformed ||
      cache::strong_validator(*entry_).empty()) {
    return;
  }
  const auto first = entry_->range ? entry_->range->range.first : 0;
  const auto complete = entry_->range ? entry_->range->complete : length_;
  const http::ContentRange part{{first, first + came - 1}, complete};
  const auto kept = cache::with_part(worker_.process.budget, *entry_, request().facts,
                                     received(cache::SourceKind::origin), part);
  if (kept.storability != cache::Storability::yes) return;
  kept.entry->body = job_.fill->body();
  store_part(kept.entry);
}

}  // namespace proxy
