// What a fill does with an answer once it has one: judge, publish, stream, store.
#include <algorithm>

#include "proxy/blocks/presence.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/filling/filling.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr std::uint32_t kBlock = 64 * 1024;
constexpr std::uint32_t kFirstBlock = 8 * 1024;  // of a body of unknown length
constexpr std::uint64_t kTurn = 1 << 20;         // bytes before others on this thread get theirs
// What was to complete a body that another source began has another length than it said.
constexpr Failure kNotTheRest{Failure::Where::upstream, Failure::What::malformed, {}};

// The last block of a body of unknown length may be mostly air.
cache::Body trimmed(cache::Body body, cache::Budget& budget) {
  if (body.slices.empty()) return body;
  auto& last = body.slices.back();
  if (last.block->capacity() - last.size < last.block->capacity() / 4) return body;
  auto exact = std::make_shared<cache::Block>(budget, last.size);
  std::copy_n(last.block->data(), last.size, exact->data());
  last.block = std::move(exact);
  return body;
}

}  // namespace

cache::Received Filling::received(cache::SourceKind source) const {
  return {.url = job_.fill->url(),
          .request = request().head.fields,
          .response = fetch_->head(),
          .times = times_,
          .our_name = worker_.shared.name,
          .source = source,
          .shared = request().may_be_shared(),
          .targets = targets(),
          .bounds = request().facts.freshness};
}

std::shared_ptr<cache::Entry> Filling::receive(cache::SourceKind source) {
  provenance_.source = source;
  const auto& framing = fetch_->framing();
  length_ = framing.kind == http::Framing::Kind::sized  ? std::optional(framing.length)
            : framing.kind == http::Framing::Kind::none ? std::optional<std::uint64_t>(0)
                                                        : std::nullopt;
  growing_.reset();
  return std::make_shared<cache::Entry>(worker_.shared.budget, received(source));
}

void Filling::publish(bool may_be_stored) {
  auto most = worker_.shared.store.max_object();
  if (entry_->range) most = std::min(most, entry_->range->range.size());
  // What will be asked for again can be written then; larger ones are for blocks.
  const auto* disk = worker_.shared.disk;
  if (disk && !disk->admits(job_.key)) most = std::min(most, disk->most_whole());
  const bool fits = !length_ || *length_ <= most;
  storing_ = storing_ && may_be_stored && fits;
  const bool shared = may_be_stored && !job_.how.part && entry_->reusable(now());
  provenance_.stored = storing_;
  provenance_.aged = fetch_->head().fields.has(http::field::age);
  published_ = true;
  if (!shared) refuse_newcomers(false);
  if (!storing_) stop_storing();
  auto askers = cache::asker_fields(received(provenance_.source));
  job_.fill->publish({entry_, length_, shared, std::move(askers), provenance_});
}

void Filling::refuse_newcomers(bool shared) {
  auto& fills = worker_.shared.fills;
  if (shared || job_.how.part) {  // of a part that is not kept in blocks there are none
    fills.leave(job_.key, *job_.fill);
  } else {
    fills.leave_unshared(job_.key, *job_.fill, std::chrono::steady_clock::now());
  }
}

// Nobody's own tags go with what is fetched for all.
std::string Filling::tags_to_name(const cache::Entry* stale) const {
  if (!stale) return {};
  if (job_.refresh) return std::string(stale->etag);
  return http::joined_tags(stale->etag, request().head.fields);
}

bool Filling::hand_on_unmodified() {
  const auto etag = fetch_->head().fields.value(http::field::etag);
  if (!http::not_modified(request().head.fields, {etag, {}}, {})) return false;
  entry_ = receive(cache::SourceKind::origin);
  publish(false);
  complete();
  return true;
}

bool Filling::take_unmodified(const cache::Entry& stale, bool asked_alone) {
  if (!cache::identifies(stale, fetch_->head(), asked_alone)) return false;
  const auto freshened = cache::freshen(worker_.shared.budget, stale, request().facts,
                                        received(cache::SourceKind::origin));
  const auto& fresh = freshened.entry;
  fetch_->finish();
  const bool keep = freshened.storability == cache::Storability::yes;
  if (!keep) drop_held();
  provenance_.validated = true;
  provenance_.stored = keep && store(fresh);
  for (const auto& slice : fresh->body.slices) job_.fill->append(slice.block, slice.size);
  const bool shared = keep && fresh->reusable(now());
  if (!shared) refuse_newcomers(false);
  job_.fill->publish({fresh, fresh->body.size, shared, freshened.asker_fields, provenance_});
  job_.fill->finish();
  return true;
}

bool Filling::stand_in(const std::shared_ptr<const cache::Entry>& stale, std::string_view why,
                       std::chrono::seconds leave) {
  if (job_.refresh) {  // who reads it after all asks again, for itself
    job_.fill->fail({Failure::Where::us, Failure::What::abandoned, {}});
    return true;
  }
  if (!stale || !cache::may_stand_in(request().facts, *stale, now(), leave)) return false;
  const bool lacks =
      stale->object && presence(worker_.shared, request(), job_.key, *stale) != Presence::stored;
  if (lacks) return false;
  provenance_.stood_in = true;
  provenance_.leave = leave;
  remark("stale-if-error", why);
  for (const auto& slice : stale->body.slices) job_.fill->append(slice.block, slice.size);
  job_.fill->publish({stale, stale->body.size, true, {}, provenance_});
  job_.fill->finish();
  return true;
}

Task<Outcome<void>> Filling::pour(std::chrono::milliseconds idle) {
  auto& fill = *job_.fill;
  auto& bytes = worker_.counters.upstream_bytes[static_cast<std::size_t>(
      provenance_.source == cache::SourceKind::origin ? Hierarchy::direct : Hierarchy::sibling)];
  std::uint64_t since_turn = 0;
  for (;;) {
    if (cut_off_ && fill.received() == *length_) break;
    if (fetch_->body_finished()) {
      if (length_ && fill.received() != *length_) co_return kNotTheRest;
      break;
    }
    next_block();
    const net::asio::mutable_buffer into(block_->data() + used_, block_->capacity() - used_);
    const auto begun = std::chrono::steady_clock::now();
    const auto read = co_await fetch_->body(into, idle);
    if (!read) co_return read.error();
    if (*read == 0) continue;  // the end has just been seen
    if (rate_) rate_->note(*read, std::chrono::steady_clock::now() - begun);
    if (length_ && *read > *length_ - fill.received()) co_return kNotTheRest;
    used_ += static_cast<std::uint32_t>(*read);
    bytes.add(*read);
    fill.append(block_, used_);
    if (used_ == block_->capacity()) co_await grow();
    if (storing_ && fill.received() > worker_.shared.store.max_object()) outgrow_memory();
    if (held_back_ && fill.received() > kHeldBack) {
      held_back_ = false;
      publish(true);
    }
    if (too_slow()) co_return Failure{Failure::Where::upstream, Failure::What::timed_out, {}};
    bool wanted = !unwanted();
    if (published_ && (!storing_ || windowed_)) {
      wanted = co_await fill.room(worker_.shared.transit.over());
      if (windowed_ && job_.refresh) wanted = true;
    }
    if (!wanted) co_return Failure{Failure::Where::us, Failure::What::abandoned, {}};
    since_turn += *read;
    if (since_turn < kTurn) continue;
    since_turn = 0;
    co_await net::asio::post(worker_.io.get_executor(), net::use_task);
  }
  co_await end_growing();
  co_return boost::system::in_place_value;
}

void Filling::next_block() {
  if (block_ && used_ < block_->capacity()) return;
  auto capacity = block_ || !storing_ ? kBlock : kFirstBlock;
  if (length_) {
    const auto left = *length_ - std::min(*length_, job_.fill->received());
    capacity = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(left, 1, kBlock));
  }
  if (may_grow()) growing_.emplace(worker_.shared, job_.key, received(provenance_.source));
  if (growing_) {
    capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(capacity, growing_->room()));
  }
  // What is kept makes room for itself; where that cannot be, and of what is not kept, there is a
  // window that has a budget of its own and costs no stored response its place.
  auto& shared = worker_.shared;
  if (storing_ && shared.budget.over() && !shared.store.make_room()) stop_storing();
  auto& budget = storing_ ? shared.budget : shared.transit;
  block_ = std::make_shared<cache::Block>(budget, capacity);
  used_ = 0;
}

// More of it than memory keeps of one body: in blocks, or not at all.
void Filling::outgrow_memory() {
  if (!growing_) return stop_storing();
  if (windowed_ || !growing_->large()) return;
  windowed_ = true;
  refuse_newcomers(true);
  if (published_) job_.fill->keep_window();
}

void Filling::stop_storing() {
  storing_ = false;
  growing_.reset();
  refuse_newcomers(true);
  if (published_) job_.fill->keep_window();
}

Task<Outcome<void>> Filling::skip(std::uint64_t bytes) {
  const PooledBuffer scratch(worker_.buffers);
  Outcome<void> done = boost::system::in_place_value;
  while (bytes > 0) {
    const auto size = std::min<std::uint64_t>(bytes, BufferPool::kSize);
    const auto into = net::asio::buffer(scratch.all(), static_cast<std::size_t>(size));
    const auto read = co_await fetch_->body(into, worker_.shared.settings.timeouts.body);
    if (!read || *read == 0) {
      done = read ? Failure{Failure::Where::upstream, Failure::What::cut, {}} : read.error();
      break;
    }
    bytes -= *read;
  }
  co_return done;
}

bool Filling::store(const std::shared_ptr<const cache::Entry>& entry) {
  return keep(worker_.shared, job_.key, entry, job_.asked, job_.held.get());
}

// What one client's credentials brought says nothing against what is held for all.
void Filling::drop_held() {
  if (!request().facts.authorization) {
    drop(worker_.shared, job_.key, job_.fill->url());
  }
}

bool Filling::store_body() {
  entry_->body = trimmed(job_.fill->body(), worker_.shared.budget);
  return entry_->range ? store_part(entry_) : store(entry_);
}

void Filling::complete() {
  fetch_->finish();
  auto& shared = worker_.shared;
  if (storing_) {
    const bool stored = growing_ && growing_->large() ? store_grown() : store_body();
    if (stored) worker_.counters.stored.add();
  }
  shared.fills.leave(job_.key, *job_.fill);  // after the store has it: newcomers find one of both
  job_.fill->finish();
}

// From then on nobody can come and find it given up.
bool Filling::unwanted() {
  return !worth_finishing() && job_.fill->close_if_unread();
}

bool Filling::worth_finishing() const {
  if (!storing_ || !published_) return false;
  if (job_.refresh) return true;
  if (!length_) return false;
  const auto left = *length_ - std::min(*length_, job_.fill->received());
  return left <= std::max<std::uint64_t>(256 * 1024, *length_ / 4);
}

}  // namespace proxy
