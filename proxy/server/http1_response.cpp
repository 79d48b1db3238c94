#include "proxy/server/http1_response.hpp"

#include "proxy/http/framing.hpp"
#include "proxy/http/text.hpp"
#include "proxy/mirrors/answer_head.hpp"

namespace proxy::server {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

namespace {

// `size` bytes of the buffers, after the first `skip`.
template <class Buffers>
Buffers part_of(const Buffers& buffers, std::uint64_t skip, std::uint64_t size) {
  Buffers part;
  for (const auto& buffer : buffers) {
    if (size == 0) break;
    const auto skipped = std::min<std::uint64_t>(skip, buffer.size());
    skip -= skipped;
    const auto rest = asio::buffer(buffer + skipped, size);
    if (rest.size() > 0) part.push_back(rest);
    size -= rest.size();
  }
  return part;
}

bool is_limited(const crowd::BandwidthUse* bandwidth) {
  return bandwidth && bandwidth->is_limited();
}

}  // namespace

error_code BodyFraming::append(Buffers& out, std::span<const asio::const_buffer> body) {
  const auto size = asio::buffer_size(body);
  // An empty chunk would be the last one.
  if (form == Form::none || size == 0) return {};
  // Bytes beyond the promised length would look like the next response.
  if (left && size > *left) return asio::error::message_size;
  if (left) *left -= size;
  if (form == Form::chunked) {
    // A member and no local: the buffers refer to the text until the write is complete.
    chunk_size.clear();
    http::append_chunk_size(chunk_size, size);
    out.push_back(asio::buffer(chunk_size));
  }
  out.insert(out.end(), body.begin(), body.end());
  if (form == Form::chunked) out.push_back(asio::buffer("\r\n", 2));
  return {};
}

void Http1Response::begin(const Asked& asked) {
  state_.begin();
  state_.head_only = asked.head_only;
  asked_ = asked;
  keep_ = asked.wants_more;
  body_.form = Body::plain;
  body_.left.reset();
}

Soon<error_code> Http1Response::interim(std::string_view head) {
  // RFC 9110 15.2: none for HTTP/1.0. The fields of a mirrored server's, such as Link in a 103,
  // would speak for our own origin.
  if (asked_.minor == 0 || state_.mirrored) return error_code{};
  Buffers out;
  out.push_back(asio::buffer(head));
  return write(std::move(out));
}

// Returns the head to send before the state's fields.
std::string_view Http1Response::begin_head(std::string_view head, unsigned status,
                                           std::optional<std::uint64_t> length) {
  state_.started = true;
  record_.status = status;
  record_.first_byte = clock_.steady();
  // RFC 9110 6.4.1: these have no body, whatever their fields say.
  const bool bodiless = status == 204 || status == 304 || state_.head_only;
  body_.form = bodiless ? Body::none : Body::plain;
  body_.left = bodiless ? std::nullopt : length;
  if (state_.mirrored) {
    // Together: the state has lines of the server's, too, which only this client may have. It keeps
    // the changed head until it is written.
    state_.fields.insert(0, head);
    state_.fields = mirrors::harmless_head(state_.fields, *state_.mirrored);
    head = {};
    if (status < 300 || status == 304)
      mirrors::add_image_digest(state_.fields, state_.image_digest);
  }
  http::PieceWriter text(state_.fields);
  if (status == 204 || status == 304) {
    // RFC 9110 8.6: no length if there is never a body.
  } else if (length) {
    text << "Content-Length: " << *length << "\r\n";
  } else if (asked_.minor >= 1) {  // RFC 9112 6.1: no chunks for HTTP/1.0
    if (!bodiless) body_.form = Body::chunked;
    if (!bodiless) text << "Transfer-Encoding: chunked\r\n";
  } else if (!bodiless) {
    // The end of the connection ends the body (RFC 9112 6.3).
    keep_ = false;
  }
  if (!keep_) {
    text << "Connection: close\r\n";
  } else if (asked_.minor == 0) {
    // A client of HTTP/1.0 expects the end of the connection unless told otherwise (RFC 9112 9.3).
    text << "Connection: keep-alive\r\n";
  }
  text << "\r\n";
  text.flush();
  return head;
}

Soon<error_code> Http1Response::start(std::string_view head, unsigned status,
                                      std::optional<std::uint64_t> length,
                                      std::span<const asio::const_buffer> body) {
  // The client of such a stream knows neither chunks nor a second response.
  if (head.starts_with(http::kIcy)) asked_.minor = 0, keep_ = false;
  head = begin_head(head, status, length);
  Buffers out;
  out.push_back(asio::buffer(head));
  out.push_back(asio::buffer(state_.fields));
  if (const auto error = body_.append(out, body)) {
    record_sent(error);
    return error;
  }
  if (hold_back(out)) return error_code{};
  return write(std::move(out));
}

// Only responses that are whole with these bytes. If bandwidth is limited, each response waits for
// its turn.
bool Http1Response::hold_back(const Buffers& whole) {
  const bool may_wait = asked_.next == Next::is_here && state_.may_be_held_back && keep_ && !gone_;
  if (!may_wait || !(body_.form == Body::none || body_.left == std::uint64_t{0})) return false;
  if (is_limited(state_.bandwidth)) return false;
  const auto size = asio::buffer_size(whole);
  if (!held_back_.has_room_for(size)) return false;
  held_back_.add(whole);
  record_.bytes += size;
  return true;
}

Soon<error_code> Http1Response::body(std::span<const asio::const_buffer> body) {
  Buffers out;
  if (const auto error = body_.append(out, body)) {
    record_sent(error);
    return error;
  }
  return write(std::move(out));
}

Soon<error_code> Http1Response::start_file(std::string_view head, unsigned status,
                                           std::uint64_t length) {
  head = begin_head(head, status, length);
  Buffers out;
  out.push_back(asio::buffer(head));
  out.push_back(asio::buffer(state_.fields));
  // The head leaves together with the first bytes of the file.
  return write(std::move(out), net::More::yes);
}

// The bytes on their way are not counted by unread(): they take no memory of ours.
Task<net::Result<std::size_t>> Http1Response::body_of_file(net::FilePart part) {
  if (!body_.left || part.size > *body_.left) co_return error_code(asio::error::message_size);
  const bool in_turns = is_limited(state_.bandwidth);
  if (in_turns && !gone_) part.size = co_await turn(part.size);
  if (gone_) co_return gone_;
  std::size_t sent = 0;
  do {
    stream_.expires_after(idle_);
    const auto some = co_await stream_.send_file(part);
    record_sent(some ? error_code{} : some.error());
    if (gone_) co_return gone_;
    sent += *some;
    part.skip(*some);
    *body_.left -= *some;
    record_.bytes += *some;
    if (*some == 0) break;
  } while (in_turns && part.size > 0);
  co_return sent;
}

Soon<error_code> Http1Response::finish() {
  if (body_.left.value_or(0) != 0) {  // shorter than promised
    keep_ = false;
    // On an open connection the client would take the next response for the rest of this body.
    return error_code(asio::error::eof);
  }
  if (body_.form == Body::chunked) return finish_chunked();
  state_.finished = !gone_;
  return gone_;
}

Task<error_code> Http1Response::finish_chunked() {
  Buffers out;
  out.push_back(asio::buffer(http::kLastChunk));
  const auto error = co_await write(std::move(out));
  state_.finished = !error;
  co_return error;
}

void Http1Response::abort() {
  keep_ = false;
  if (!gone_) gone_ = asio::error::operation_aborted;
  // If the end of the connection delimits the body, a cut must not look like that end.
  const bool ends_by_close = state_.started && body_.form == Body::plain && !body_.left;
  if (ends_by_close) net::reset_on_close(stream_.descriptor());
  stream_.interrupt();
  // The response may wait for its turn and not for the socket.
  if (state_.bandwidth) state_.bandwidth->interrupt();
}

crowd::Unread Http1Response::unread(const cache::Budget& transit) const {
  // A response that keeps to the limits of bandwidth does not stall, and its turn comes.
  if (state_.bandwidth && state_.bandwidth->is_waiting()) return {};
  const auto stalled = stream_.stalled_since();
  const auto since = stalled || !state_.reader ? stalled : state_.reader->waits_since();
  if (!since) return {};
  // Other bytes are stored, or the response holds one buffer for them.
  const auto held = state_.reader ? state_.reader->held(transit) : fill::FillReader::Held{};
  return {.bytes = std::max({held.bytes, writing_, state_.holds}),
          .freed = held.to_budget + held_back_.charged() + state_.holds,
          .since = *since,
          .by_client = stalled.has_value()};
}

Soon<error_code> Http1Response::write(Buffers&& buffers, net::More more) {
  if (gone_ || buffers.empty()) return gone_;
  stream_.expires_after(idle_);
  const std::span<const asio::const_buffer> all(buffers.data(), buffers.size());
  const auto size = asio::buffer_size(all);
  record_.bytes += size;
  std::size_t sent = 0;
  // Most responses fit into the socket's buffer: those need no coroutine.
  if (!is_limited(state_.bandwidth) && held_back_.empty()) {
    const auto some = stream_.try_write(all, more);
    if (!some) record_sent(some.error());
    if (gone_ || *some == size) return gone_;
    sent = *some;
  }
  return write_later(std::move(buffers), sent, more);
}

// Writes what the kernel has not taken at once: all but the first `sent` bytes.
Task<error_code> Http1Response::write_later(Buffers buffers, std::size_t sent, net::More more) {
  const bool in_turns = is_limited(state_.bandwidth);
  error_code error;
  writing_ = asio::buffer_size(buffers);
  if (!held_back_.empty()) {
    // First what was held back: responses keep the order of their requests (RFC 9112 9.3.2).
    Buffers all;
    all.push_back(held_back_.bytes());
    if (!in_turns) all.insert(all.end(), buffers.begin(), buffers.end());
    writing_ = asio::buffer_size(all);
    error = co_await stream_.write(std::span(all.data(), all.size()), more);
    held_back_.clear();
  } else if (!in_turns) {
    error = co_await stream_.write_rest(std::span(buffers.data(), buffers.size()), sent);
  }
  if (in_turns && !error) {
    writing_ = asio::buffer_size(buffers);
    error = co_await write_in_turns(buffers);
  }
  writing_ = 0;
  record_sent(error);
  co_return gone_;
}

void Http1Response::record_sent(error_code error) {
  if (!gone_) gone_ = error;  // else aborted meanwhile
  if (gone_) keep_ = false;
}

Soon<error_code> Http1Response::flush() {
  if (gone_ || held_back_.empty()) return gone_;
  stream_.expires_after(idle_);
  return write_later({}, 0, net::More::no);
}

// Waits until the limits of bandwidth allow some bytes. Zero: the response was aborted.
Task<std::uint64_t> Http1Response::turn(std::uint64_t wanted) {
  for (;;) {
    const auto allowed = state_.bandwidth->take(wanted);
    if (allowed > 0) co_return allowed;
    // The limit holds it up, not the client: the fill does not leave it behind as a slow reader.
    if (state_.reader) state_.reader->held_back(fill::FillReader::HeldBack::yes);
    co_await state_.bandwidth->wait();
    if (state_.reader) state_.reader->held_back(fill::FillReader::HeldBack::no);
    if (gone_) co_return 0;
  }
}

Task<error_code> Http1Response::write_in_turns(const Buffers& buffers) {
  for (std::uint64_t sent = 0; sent < writing_;) {
    const auto allowed = co_await turn(writing_ - sent);
    if (gone_) co_return gone_;
    // Copies of the list, not of the bytes.
    const auto part = part_of(buffers, sent, allowed);
    // Only now: the wait for a turn is no silence of the client.
    stream_.expires_after(idle_);
    const auto error = co_await stream_.write(std::span(part.data(), part.size()));
    if (error) co_return error;
    sent += allowed;
  }
  co_return error_code{};
}

}  // namespace proxy::server
