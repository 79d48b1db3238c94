#include "proxy/reply/object_answer.hpp"

#include <algorithm>

#include "proxy/blocks/presence.hpp"
#include "proxy/blocks/whole_check.hpp"
#include "proxy/reply/stored.hpp"

namespace proxy::reply {

using net::error_code;
using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::chrono::seconds kBetweenLooks{1};

// Whether the ranges, one after the other, are all bytes of the body.
bool are_all(const http::ByteRanges& ranges, std::uint64_t length) {
  std::uint64_t end = 0;
  for (const auto& range : ranges) {
    if (range.first != end) return false;
    end = range.last + 1;
  }
  return end == length;
}

// The digest of what is given, if that is the whole body.
std::optional<mirrors::ContentName> digest_of_all(const cache::Entry& object,
                                                  const policy::Request& request,
                                                  const http::ByteRanges& ranges) {
  const bool is_all = !object.range() && are_all(ranges, object.body.size);
  return is_all ? blocks::digest_of(object, request) : std::nullopt;
}

}  // namespace

StallWatch::StallWatch(client::Client& client, blocks::TransferSlots::Slot& slot)
    : Watched(client.access.deadlines), client_(client), slot_(slot) {}

void StallWatch::begin() {
  since_ = client_.access.deadlines.now();
  by_then_.reset();
  expires_after(kBetweenLooks);
}

void StallWatch::end() {
  expires_never();
}

void StallWatch::on_expiry() {
  const auto now = client_.access.deadlines.now();
  const auto taken = client_.response.acknowledged();
  if (!taken) return;  // the system cannot tell: better a slow client than a wrong cut
  const auto* const bandwidth = client_.state.bandwidth;
  if (bandwidth && bandwidth->has_waited_since(now - kBetweenLooks)) since_ = now;
  // The first look only finds out where the client is: by then it has had no time to read.
  if (!by_then_ || *taken - *by_then_ >= kLeast) {
    if (by_then_) since_ = now;
    by_then_ = taken;
  }
  // While nobody waits for the slot, a slow client does no harm.
  if (now - since_ >= kPatience && slot_.is_wanted()) {
    client_.response.abort();
  } else {
    expires_after(kBetweenLooks);
  }
}

ObjectAnswer::ObjectAnswer(client::Client& client, const policy::Request& request, From from,
                           cache::Time now)
    : client_(client),
      request_(request),
      from_(std::move(from)),
      now_(now),
      unmodified_(cache::is_unmodified_for(request.head.fields, *from_.object, now)),
      wanted_(blocks::parts_wanted(request, *from_.object)),
      ranges_(unmodified_ ? http::ByteRanges()
                          : blocks::ranges_of(client.access.fetching,
                                              {request, from_.key, *from_.object}, wanted_)),
      source_(client.access.fetching,
              {request, from_.key, from_.object, from_.may_fetch, client.share(),
               digest_of_all(*from_.object, request, ranges_)}),
      watch_(client, source_.slot()),
      early_watch_(client, source_.early_slot()) {}

// Goes to a block of the range. The source may fetch the blocks after it as one run, up to the last
// one before a gap in what the ranges want.
void ObjectAnswer::go_to(std::uint32_t block, std::size_t range) {
  auto last = cache::blocks_of(ranges_[range]).last;
  for (++range; range < ranges_.size(); ++range) {
    const auto next = cache::blocks_of(ranges_[range]);
    if (next.first < last || next.first > last + 1) break;
    last = next.last;
  }
  source_.go_to(block, last);
  const auto begin = cache::bytes_of_block(block, from_.object->body.size).first;
  in_hand_ = {{}, begin, begin};
}

// Reads until the byte at `position` is in hand. The source gives a block from its first byte on.
Task<upstream::Outcome<void>> ObjectAnswer::read_up_to(std::uint64_t position) {
  while (in_hand_.end <= position) {
    auto pieces = co_await source_.next();
    if (!pieces) co_return pieces.error();
    in_hand_.pieces = std::move(*pieces);
    in_hand_.at = in_hand_.end;
    for (const auto& piece : in_hand_.pieces) in_hand_.end += piece.size;
  }
  co_return boost::system::in_place_value;
}

Task<upstream::Outcome<void>> ObjectAnswer::open() {
  // A 304, a 416 and an answer to HEAD have no bytes to wait for.
  if (ranges_.empty()) co_return boost::system::in_place_value;
  const auto wanted = ranges_.front().first;
  go_to(cache::blocks_of(ranges_.front()).first, 0);
  const auto read = co_await read_up_to(wanted);
  if (!read) {
    in_hand_.nowhere = read.error().what == upstream::Failure::What::abandoned;
    co_return read.error();
  }
  record_source();
  co_return boost::system::in_place_value;
}

// A response counts as read from disk if any of its blocks was.
void ObjectAnswer::record_source() {
  auto& record = client_.record;
  record.from_disk = record.from_disk || source_.from_disk();
  if (record.from_disk && record.tag == observe::Tag::mem_hit) record.tag = observe::Tag::disk_hit;
}

void ObjectAnswer::plan() {
  const auto& object = *from_.object;
  if (wanted_.kind != http::Selection::Kind::parts) {
    message_.head = object.head();
    message_.length = object.body.size;
    return;
  }
  // The boundary is drawn for each answer, or a body could be made to contain it.
  message_.text = cache::partial_text(object, ranges_, random_boundary());
  message_.head = std::move(message_.text.head);
  message_.status = 206;
  for (const auto& range : ranges_) message_.length += range.size();
  for (const auto& opening : message_.text.openings) message_.length += opening.size();
  message_.length += message_.text.closing.size();
}

Task<void> ObjectAnswer::send() {
  if (unmodified_ || wanted_.kind == http::Selection::Kind::none) {
    if (unmodified_)
      co_await send_not_modified(client_, *from_.object);
    else
      co_await send_stored(client_, request_, *from_.object, now_);
    co_return;
  }
  plan();
  error_code error;
  if (ranges_.empty())
    error = co_await client_.response.start(message_.head, message_.status, message_.length);
  for (std::size_t i = 0; i < ranges_.size() && !error; ++i) {
    if (!message_.text.openings.empty()) error = co_await write(message_.text.openings[i]);
    if (!error) error = co_await send_range(i);
  }
  if (!error && !message_.text.closing.empty()) error = co_await write(message_.text.closing);
  if (error) {
    client_.response.abort();
  } else {
    co_await client_.response.finish();
  }
}

Task<error_code> ObjectAnswer::send_range(std::size_t range) {
  const auto& wanted = ranges_[range];
  const auto blocks = cache::blocks_of(wanted);
  for (auto block = blocks.first; block <= blocks.last; ++block) {
    const auto bytes = cache::bytes_of_block(block, from_.object->body.size);
    http::ByteRange part{std::max(bytes.first, wanted.first), std::min(bytes.last, wanted.last)};
    error_code error;
    // The block of many ranges is read once.
    const bool is_in_hand =
        source_.has_source() && source_.block() == block && in_hand_.at <= part.first;
    if (!is_in_hand) {
      go_to(block, range);
      error = co_await send_in_file(block, part);
    }
    if (!error && part.first <= part.last) error = co_await send_from_source(part);
    if (error) co_return error;
  }
  co_return error_code{};
}

// Sends the block from its file if the page cache has it and memory has not. Takes what was sent
// off the front of `part`. The first block of the first range is in memory already, since open()
// needs it before there is a head.
Task<error_code> ObjectAnswer::send_in_file(std::uint32_t block, http::ByteRange& part) {
  auto& response = client_.response;
  if (source_.has_source() || !client_.state.started || !response.sends_files()) {
    co_return error_code{};
  }
  const auto body =
      co_await client_.access.fetching.cached().block_in_file(from_.key, from_.object, block);
  // Asked after the look into the file, whose bytes stay what they are.
  if (!body || !source_.trusts_stored()) co_return error_code{};
  client_.record.from_disk = true;
  record_source();
  // The disk reads the next block while this one is on its way.
  source_.look_ahead();
  const auto begin = cache::bytes_of_block(block, from_.object->body.size).first;
  auto sent = part.first - begin;
  early_watch_.begin();
  const auto error = co_await send_part_of_file(client_, body, sent, part.last + 1 - begin);
  early_watch_.end();
  client_.access.counters().bytes_from_cache.add(begin + sent - part.first);
  part.first = begin + sent;
  if (error) co_return error;
  co_await asio::post(client_.access.executor(), net::use_task);  // lets others run
  co_return error_code{};
}

// Sends that part of the block at which the source is.
Task<error_code> ObjectAnswer::send_from_source(http::ByteRange part) {
  while (part.first <= part.last) {
    const auto read = co_await read_up_to(part.first);
    if (!read) co_return asio::error::connection_aborted;
    record_source();
    boost::container::small_vector<asio::const_buffer, 16> wanted;
    auto at = in_hand_.at;
    for (const auto& piece : in_hand_.pieces) {
      const auto from = std::max(at, part.first);
      const auto end = std::min(at + piece.size, part.last + 1);
      const auto offset = piece.offset + (from - at);
      if (from < end) wanted.emplace_back(piece.block->data() + offset, end - from);
      at += piece.size;
    }
    const std::span<const asio::const_buffer> all(wanted.data(), wanted.size());
    const auto error = co_await write(all);
    if (error) co_return error;
    const auto size = asio::buffer_size(all);
    part.first += size;
    if (source_.from_stored()) client_.access.counters().bytes_from_cache.add(size);
    co_await asio::post(client_.access.executor(),
                        net::use_task);  // lets other connections run
  }
  co_return error_code{};
}

Task<error_code> ObjectAnswer::write(std::string_view text) {
  const auto bytes = asio::buffer(text);
  const std::span<const asio::const_buffer> all(&bytes, 1);
  co_return co_await write(all);
}

Task<error_code> ObjectAnswer::write(std::span<const asio::const_buffer> bytes) {
  // The head goes out with the first bytes: it must not promise what open() has not got.
  auto& response = client_.response;
  error_code error;
  watch_.begin();
  if (client_.state.started) {
    error = co_await response.body(bytes);
  } else {
    error = co_await response.start(message_.head, message_.status, message_.length, bytes);
  }
  watch_.end();
  co_return error;
}

}  // namespace proxy::reply
