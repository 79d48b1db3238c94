#include "proxy/fetching/body_writer.hpp"

#include <algorithm>
#include <utility>

#include "proxy/blocks/content_record.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/fetching/stored_answer.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::fetching {

using net::Soon;
using net::Task;

namespace {

constexpr std::uint32_t kBlock = 64 * 1024;
constexpr std::uint32_t kFirstBlock = 8 * 1024;  // of a body of unknown length
constexpr std::uint64_t kTurn = 1 << 20;         // bytes before other coroutines run
// The body has another length than its head, or the body that it continues, has promised.
constexpr upstream::Failure kOtherLength{
    upstream::Failure::Where::upstream, upstream::Failure::What::malformed, {}};

// The last block of a body of unknown length may be mostly unused: copies it into one that fits.
cache::Body trimmed(cache::Body body, cache::Budget& budget) {
  if (body.slices.empty()) return body;
  const auto last = body.slices.back();
  if (last.block->capacity() - last.size < last.block->capacity() / 4) return body;
  auto exact = cache::Block::make(budget, last.size);
  std::copy_n(last.block->data(), last.size, exact->data());
  body.slices.replace_back({std::move(exact), last.size});
  return body;
}

observe::Count& upstream_bytes(const FillContext& context, const sources::Attempt& attempt) {
  const auto from = static_cast<std::size_t>(attempt.hierarchy());
  return context.access.counters.upstream_bytes[from];
}

// The longest body of this answer that memory keeps.
std::uint64_t most_kept(const FillContext& context, const Incoming& incoming) {
  const auto& entry = *incoming.entry;
  if (incoming.left_there) return BodyWriter::kHeldBack;
  const auto most = context.cache().most_in_one_piece(context.job.key);
  return entry.range() ? std::min(most, entry.range()->range.size()) : most;
}

// A part cannot be checked, unless it has all bytes. The head of an entry that is being completed
// says more than that of the part that arrives.
std::optional<mirrors::ContentCheck> check_of(const FillContext& context,
                                              const Incoming& incoming) {
  const auto& entry = *incoming.entry;
  const auto& part = entry.range();
  if (part ? !part->is_whole() : entry.status != 200) return std::nullopt;
  const auto length = part ? std::optional(part->range.size()) : incoming.length;
  const auto& head = incoming.attempt.head();
  const auto name = head.status == 206 ? blocks::digest_of(entry, context.request())
                                       : policy::digest_of(head.fields, context.request());
  const bool needs_length = name && name->algorithm == mirrors::DigestAlgorithm::git_blob_sha1;
  if (!name || (needs_length && !length)) return std::nullopt;
  return std::optional<mirrors::ContentCheck>(std::in_place, *name, length.value_or(0));
}

// The rest of the body, for a reader to pass on.
class FetchedBody final : public fill::LentBody {
 public:
  FetchedBody(upstream::Fetch& fetch, std::chrono::milliseconds idle, observe::Count& received)
      : fetch_(fetch), idle_(idle), received_(received) {}

  Task<upstream::Outcome<std::size_t>> next(net::Pipe& into) override {
    const auto moved = co_await fetch_.body_into(into, idle_);
    if (moved) {
      received_.add(*moved);
    } else {
      failure_ = moved.error();
    }
    co_return moved;
  }
  [[nodiscard]] const std::optional<upstream::Failure>& failure() const { return failure_; }

 private:
  upstream::Fetch& fetch_;
  const std::chrono::milliseconds idle_;
  observe::Count& received_;
  std::optional<upstream::Failure> failure_;
};

}  // namespace

BodyWriter::BodyWriter(FillContext& context, Incoming incoming)
    : context_(context),
      incoming_(std::move(incoming)),
      growth_(context),
      kept_(incoming_.may_be_stored() ? Kept::in_memory : Kept::nowhere),
      storability_(incoming_.left_there ? cache::Storability::duplicate : incoming_.storability),
      check_(check_of(context, incoming_)),
      watch_(context, [this] {
        if (gives_up()) incoming_.attempt.abandon();
      }) {}

void BodyWriter::publish() {
  const auto& entry = incoming_.entry;
  const auto& length = incoming_.length;
  const bool fits = !length || *length <= most_kept(context_, incoming_);
  // A part is for whoever asked for it, and what is stale on arrival answers nobody else.
  const bool shared =
      incoming_.may_be_stored() && !context_.job.how.part && entry->reusable(context_.now());
  if (!shared) context_.delist_as_unshared(incoming_.storability);
  if (kept_ == Kept::nowhere || !fits) stop_keeping(cache::Storability::too_large);
  auto from = context_.provenance(incoming_.attempt);
  from.stored = stores();
  from.storability = storability_;
  from.aged = incoming_.attempt.head().fields.has(http::field::age);
  shown_ = Shown::all;
  context_.publish({entry, length, shared, std::move(incoming_.asker_fields), std::move(from)},
                   kept_ == Kept::nowhere ? fill::Fill::Keeps::window : fill::Fill::Keeps::all);
}

// The loop of a body: the next bytes, their judgement, the readers, and room for more.
Task<upstream::Outcome<void>> BodyWriter::write(std::chrono::milliseconds idle,
                                                std::optional<blocks::LeastRate> rate) {
  rate_ = rate;
  auto& fill = context_.fill();
  std::uint64_t since_turn = 0;
  while (!at_end()) {
    const auto read = co_await next_bytes(idle);
    if (!read) co_return read.error();
    if (*read == 0) continue;  // the end has just been seen
    if (*read > left()) co_return kOtherLength;
    if (!append(*read)) co_return sources::wrong_content(incoming_.attempt, fill.url());
    if (used_ == block_->capacity() && growth_.under_way()) co_await grow();
    if (const auto fault = apply_limits()) co_return *fault;
    if (at_end()) break;
    if (is_windowed()) {
      const auto room =
          co_await fill.room(crowd::window_at(crowd::pressure_on(context_.access.transit)));
      const bool for_store = kept_ == Kept::in_blocks && context_.job.refresh;
      if (room == fill::Fill::Room::no_reader && !for_store) co_return blocks::kBodyUnwanted;
    }
    since_turn += *read;
    if (since_turn < kTurn) continue;
    since_turn = 0;
    co_await net::asio::post(context_.access.executor(), net::use_task);
  }
  if (incoming_.length && fill.received() != *incoming_.length) co_return kOtherLength;
  if (is_wrong(fill.received())) co_return sources::wrong_content(incoming_.attempt, fill.url());
  if (growth_.under_way()) co_await end_growth();
  co_return boost::system::in_place_value;
}

// Not a coroutine if the bytes are here, as they are for most of a small body.
Soon<upstream::Outcome<std::size_t>> BodyWriter::next_bytes(std::chrono::milliseconds idle) {
  return worth_lending() ? lend(idle) : read_into_block(idle);
}

Soon<upstream::Outcome<std::size_t>> BodyWriter::read_into_block(std::chrono::milliseconds idle) {
  next_block();
  const net::asio::mutable_buffer into(block_->data() + used_, block_->capacity() - used_);
  auto& fetch = incoming_.attempt.fetch();
  const auto here = fetch.body_at_hand(into);
  if (here > 0) return upstream::Outcome<std::size_t>(here);
  // A clock costs as much as a short read, so it is read for a rate alone.
  return rate_ ? read_timed(into, idle) : fetch.body(into, idle);
}

Task<upstream::Outcome<std::size_t>> BodyWriter::read_timed(net::asio::mutable_buffer into,
                                                            std::chrono::milliseconds idle) {
  const auto& clock = context_.access.clock();
  const auto begun = clock.steady();
  const auto read = co_await incoming_.attempt.fetch().body(into, idle);
  rate_->record(0, clock.steady() - begun);
  co_return read;
}

// How much of the body has yet to come, as far as its length is known.
std::uint64_t BodyWriter::left() const {
  const auto length = incoming_.length.value_or(UINT64_MAX);
  return length - std::min(length, context_.fill().received());
}

bool BodyWriter::at_end() {
  const bool has_all = incoming_.goes_on && context_.fill().received() == *incoming_.length;
  return has_all || incoming_.attempt.fetch().body_finished();
}

void BodyWriter::next_block() {
  if (block_ && used_ < block_->capacity()) return;
  auto capacity = block_ || kept_ == Kept::nowhere ? kBlock : kFirstBlock;
  if (incoming_.length)
    capacity = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(left(), 1, kBlock));
  const auto verified = check_ ? Growth::Verified::yes : Growth::Verified::no;
  if (stores()) growth_.begin_if_needed(incoming_, verified);
  capacity = growth_.room(capacity);
  // A body that is stored evicts others. If nothing is left to evict, the body is not stored. The
  // window of such a body has a budget of its own and evicts no stored response.
  auto& access = context_.access;
  if (stores() && !access.cache().make_room()) {
    access.cache().found_no_room.record(access.clock().steady());
    stop_keeping(cache::Storability::no_room);
  }
  const bool for_others = kept_ != Kept::nowhere && incoming_.left_there;
  if (for_others && crowd::pressure_on(access.transit) != crowd::Pressure::none) {
    stop_keeping(cache::Storability::duplicate);
  }
  auto& budget = stores() ? access.cache().budget : access.transit;
  if (kept_ == Kept::nowhere)
    capacity = std::min(capacity, crowd::block_at(crowd::pressure_on(access.transit)));
  block_ = cache::Block::make(budget, capacity);
  used_ = 0;
  context_.fill().expect(block_);
}

Task<void> BodyWriter::begin_with(cache::Body stored) {
  std::uint64_t since_turn = 0;
  for (const auto& slice : stored.slices) {
    if (check_) check_->add({slice.block->data(), slice.size});
    context_.fill().append(slice.block, slice.size);
    since_turn += slice.size;
    if (!check_ || since_turn < kTurn) continue;
    since_turn = 0;
    co_await net::asio::post(context_.access.executor(), net::use_task);
  }
}

// Call this once `received` bytes have been hashed. True if they are all, and have another digest.
bool BodyWriter::is_wrong(std::uint64_t received) {
  return check_ && received == incoming_.length.value_or(received) && !check_->matches();
}

// Returns false for the last bytes of a body that has another digest: they are not appended.
bool BodyWriter::append(std::size_t size) {
  // The bytes here; the wait for them was counted by read_timed().
  if (rate_) rate_->record(size, {});
  if (check_) {
    check_->add({block_->data() + used_, size});
    const auto received = context_.fill().received() + size;
    if (incoming_.length && is_wrong(received)) return false;
  }
  used_ += static_cast<std::uint32_t>(size);
  upstream_bytes(context_, incoming_.attempt).add(size);
  context_.fill().append(block_, used_);
  return true;
}

// Call this after each append(). Returns why no more of the body is read; nothing: more is.
std::optional<upstream::Failure> BodyWriter::apply_limits() {
  const auto received = context_.fill().received();
  const auto most = incoming_.left_there ? kHeldBack : context_.cache().most_in_memory();
  if (kept_ != Kept::nowhere && received > most) outgrow_memory();
  if (shown_ == Shown::if_whole_or_long && received > kMostHeldBack) publish();
  // If cut, a body that is passed on unstored could not be resumed: better slow than cut.
  const bool passed_on = shown_ == Shown::all && kept_ == Kept::nowhere && !incoming_.left_there;
  if (rate_ && !passed_on && rate_->missed()) return blocks::kBodyTooSlow;
  if (too_long_to_hold_back()) return blocks::kBodyCut;
  return !at_end() && gives_up() ? std::optional(blocks::kBodyUnwanted) : std::nullopt;
}

bool BodyWriter::too_long_to_hold_back() const {
  return held_back() && context_.fill().received() > kMostHeldBack;
}

// Whether the rest of the body is only passed on, and is long.
bool BodyWriter::worth_lending() {
  const bool passed_on = shown_ == Shown::all && kept_ == Kept::nowhere;
  return passed_on && !rate_ && !check_ && !incoming_.goes_on && incoming_.length &&
         left() >= fill::LentBody::kLeast && incoming_.attempt.fetch().passes_in_kernel();
}

// Reads into memory what the reader does not borrow.
Task<upstream::Outcome<std::size_t>> BodyWriter::lend(std::chrono::milliseconds idle) {
  FetchedBody rest(incoming_.attempt.fetch(), idle, upstream_bytes(context_, incoming_.attempt));
  co_await context_.fill().lend(rest);
  if (rest.failure()) co_return *rest.failure();
  if (at_end()) co_return std::size_t{0};
  if (gives_up()) co_return blocks::kBodyUnwanted;
  co_return co_await read_into_block(idle);
}

// Call this when the current block has all its bytes.
Task<void> BodyWriter::grow() {
  const cache::Slice piece{block_, used_};
  const auto kept = co_await growth_.add(incoming_, piece);
  // The first bytes have left the window, and no block stores them.
  if (kept == tiers::BlockKept::no && kept_ == Kept::in_blocks)
    stop_keeping(cache::Storability::no_room);
}

Task<void> BodyWriter::end_growth() {
  if (used_ > 0 && block_ && used_ < block_->capacity()) co_await grow();
  co_await growth_.end();
}

// Whether the body is to be given up: it has no reader, and is not nearly stored. If so, no reader
// can attach to the fill any more.
bool BodyWriter::gives_up() {
  const bool for_store = stores() && shown_ == Shown::all;
  const auto little = std::max<std::uint64_t>(256 * 1024, incoming_.length.value_or(0) / 4);
  if (for_store && (context_.job.refresh || left() <= little)) return false;
  return context_.fill().close_if_unread();
}

// Call this when the body exceeds the limit for one response in memory: from now on it is kept in
// blocks, or not stored.
void BodyWriter::outgrow_memory() {
  if (!growth_.under_way()) return stop_keeping(cache::Storability::too_large);
  if (kept_ == Kept::in_blocks || !growth_.large()) return;
  kept_ = Kept::in_blocks;
  context_.leave_list();
  if (shown_ == Shown::all) context_.fill().keep_window();
}

void BodyWriter::stop_keeping(cache::Storability why) {
  if (storability_ == cache::Storability::yes) storability_ = why;
  kept_ = Kept::nowhere;
  growth_.stop();
  context_.leave_list();
  if (shown_ == Shown::all) context_.fill().keep_window();
}

bool BodyWriter::fits(const sources::Attempt& rest) const {
  const auto offset = context_.fill().received();
  return sources::joins_after(rest.head(), *incoming_.entry, offset, incoming_.length,
                              context_.request())
      .has_value();
}

Task<upstream::Outcome<void>> BodyWriter::join(sources::Attempt rest) {
  const auto offset = context_.fill().received();
  const auto skipped = sources::joins_after(rest.head(), *incoming_.entry, offset, incoming_.length,
                                            context_.request());
  if (!skipped) co_return blocks::kBodyCut;
  // The entry of a growing body is made at its end, from the head of the current attempt. That
  // would be the head of the rest. So the received bytes are stored now, and the rest is not.
  if (growth_.large()) {
    growth_.store_what_came(incoming_, blocks::kBodyCut);
    stop_keeping(cache::Storability::several);
  }
  // Blocks of two sources would belong to no version.
  growth_.stop();
  incoming_.attempt = std::move(rest);
  if (kept_ != Kept::nowhere && incoming_.attempt.peer()) stop_keeping(cache::Storability::several);
  const auto idle = context_.request().policy().settings.timeouts.body;
  co_return co_await sources::skip_body(context_.access.sources, incoming_.attempt.fetch(),
                                        *skipped, idle);
}

Task<void> BodyWriter::complete() {
  if (check_) confirm_verified(context_, incoming_);
  if (held_back()) publish();
  incoming_.attempt.fetch().finish();
  if (stores()) storability_ = co_await store();
  context_.count(storability_);
  context_.leave_list();  // only now: until the store has the entry, new requests find the fill
  context_.fill().finish(storability_);
}

Task<void> BodyWriter::end(upstream::Outcome<void> written) {
  if (written) co_return co_await complete();
  const auto& cut = written.error();
  if (growth_.large()) {
    growth_.store_what_came(incoming_, cut);
  } else if (stores() && cut.what != upstream::Failure::What::malformed) {
    co_await store_cut_body(context_, incoming_);
  }
  end_cut(cut);
}

void BodyWriter::end_cut(const upstream::Failure& cut) {
  context_.count(stores() ? cache::Storability::incomplete : storability_);
  context_.fill().fail(cut);
}

Task<cache::Storability> BodyWriter::store() {
  auto& entry = incoming_.entry;
  if (growth_.large()) {
    const auto stored = growth_.store(incoming_);
    if (stored == Growth::ObjectStored::yes) co_return cache::Storability::yes;
    const bool memory_has_it =
        stored == Growth::ObjectStored::not_all_kept && kept_ == Kept::in_memory;
    if (!memory_has_it) co_return context_.why_not_stored(*entry);
  }
  entry->body = trimmed(context_.fill().body(), context_.cache().budget);
  bool is_stored = false;
  if (entry->range())
    is_stored = co_await store_part(context_, incoming_, entry);
  else
    is_stored = context_.store(entry, incoming_.superseded);
  if (is_stored && check_) blocks::record_content(context_.access, *entry, context_.request());
  if (is_stored) co_return cache::Storability::yes;
  const auto why = context_.why_not_stored(*entry);
  // A part that does not touch the stored one, or does not fit to it.
  const bool is_apart = entry->range() && why == cache::Storability::no_room;
  co_return is_apart ? cache::Storability::partial : why;
}

}  // namespace proxy::fetching
