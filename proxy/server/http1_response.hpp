// Responses over HTTP/1, one after the other. Their framing lets the client tell a whole response
// from a cut one. Several small ones may be sent by one system call.
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/core/noncopyable.hpp>
#include <cstring>
#include <memory>

#include "proxy/cache/budget.hpp"
#include "proxy/client/client.hpp"
#include "proxy/client/response_writer.hpp"
#include "proxy/crowd/receipt_rate.hpp"
#include "proxy/crowd/whom_to_end.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/input.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/observe/request_record.hpp"

namespace proxy::server {

// Responses to one client that wait to be written together: a copy of their bytes in a buffer of
// the thread's pool, which is taken with the first bytes and returned by clear(). While a buffer is
// in use it is charged to the memory of bodies on their way, since a client that does not read
// keeps it in use. Belongs to one coroutine. The constructor's arguments outlive this object.
class HeldBytes : boost::noncopyable {
 public:
  static constexpr std::size_t kMost = net::BufferPool::kSize;

  HeldBytes(net::BufferPool& pool, cache::Budget& transit) : pool_(pool), transit_(transit) {}
  ~HeldBytes() { clear(); }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool has_room_for(std::size_t bytes) const { return bytes <= kMost - size_; }
  // Call this only if there is room.
  void add(std::span<const net::asio::const_buffer> buffers) {
    if (!bytes_) {
      bytes_ = pool_.take();
      charge_.emplace(transit_, kMost);
    }
    for (const auto& buffer : buffers) {
      std::memcpy(bytes_.get() + size_, buffer.data(), buffer.size());
      size_ += buffer.size();
    }
  }
  // Valid until the next add() or clear().
  [[nodiscard]] net::asio::const_buffer bytes() const { return {bytes_.get(), size_}; }
  void clear() {
    if (bytes_) pool_.give_back(std::move(bytes_));
    bytes_.reset();
    charge_.reset();
    size_ = 0;
  }
  // The part of the memory for bodies on their way that the response takes.
  [[nodiscard]] std::uint64_t charged() const { return bytes_ ? kMost : 0; }

 private:
  net::BufferPool& pool_;
  cache::Budget& transit_;
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::optional<cache::Charge> charge_;
};

// The body of one response as the wire has it: how it is framed, and what is left of it.
struct BodyFraming {
  enum class Form : std::uint8_t { plain, chunked, none };
  using Buffers = boost::container::small_vector<net::asio::const_buffer, 20>;

  // Appends the bytes as they are sent. The buffers refer to chunk_size. Fails if there are more
  // bytes than promised.
  net::error_code append(Buffers& out, std::span<const net::asio::const_buffer> body);

  Form form = Form::plain;
  std::optional<std::uint64_t> left;  // bytes not sent yet, if the length is known
  std::string chunk_size;             // the text of the last chunk's
};

// Belongs to the session's coroutine. The constructor's arguments outlive it. Call begin() before
// each response.
//
// A client may send its requests without waiting for the responses (RFC 9112 9.3.2). If the next
// request has arrived already, a response that may be held back (ResponseState) is, and the next
// write sends both. So a response is held back only while the thread computes the next one. A
// response that is held back counts as sent, like one whose bytes wait in the kernel. A client that
// goes away gets the bytes of neither.
class Http1Response final : public client::ResponseWriter {
 public:
  struct Needs {
    net::BufferPool& buffers;  // these two: see HeldBytes
    cache::Budget& transit;
    const machine::Clock& clock;
    std::chrono::milliseconds idle;  // a write that makes no progress for so long fails
  };
  // `record` gets the status, the time of the head, and the number of bytes sent.
  Http1Response(net::Stream& stream, net::Input& input, observe::RequestRecord& record,
                const Needs& needs)
      : stream_(stream),
        input_(input),
        record_(record),
        clock_(needs.clock),
        held_back_(needs.buffers, needs.transit),
        idle_(needs.idle) {}

  // Whether the next request is known to follow in the input.
  enum class Next : std::uint8_t { unknown, is_here };  // here: with its whole head
  // The properties of the response that its request decides.
  struct Asked {
    int minor = 1;            // of the client's version
    bool head_only = false;   // by HEAD
    bool wants_more = false;  // the connection is to be kept
    Next next = Next::unknown;
  };
  void begin(const Asked& asked);
  [[nodiscard]] client::ResponseState& state() { return state_; }
  // Whether another request may follow: the response was sent whole, and both sides keep the
  // connection.
  [[nodiscard]] bool may_go_on() const { return keep_ && (state_.finished || !state_.started); }

  // The memory that the response takes while it does not get on. `freed` is the part that a cut
  // gives back to `transit`.
  [[nodiscard]] crowd::Unread unread(const cache::Budget& transit) const;

  net::Soon<net::error_code> interim(std::string_view head) override;
  using client::ResponseWriter::start;
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length, BufferList body) override;
  using client::ResponseWriter::body;
  net::Soon<net::error_code> body(BufferList body) override;
  // Whether bytes of earlier responses are held back.
  [[nodiscard]] bool holds_back() const { return !held_back_.empty(); }
  net::Soon<net::error_code> flush() override;
  [[nodiscard]] bool sends_files() const override {
    return stream_.sends_files() && !state_.head_only;
  }
  net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                        std::uint64_t length) override;
  net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) override;
  net::Soon<net::error_code> finish() override;
  void abort() override;
  void close_after() override { keep_ = false; }
  [[nodiscard]] std::optional<std::uint64_t> acknowledged() override {
    return net::acknowledged(stream_.descriptor());
  }
  [[nodiscard]] std::optional<client::RawConnection> raw_connection() override {
    return client::RawConnection{stream_, input_};
  }

 private:
  using Buffers = BodyFraming::Buffers;
  using Body = BodyFraming::Form;

  std::string_view begin_head(std::string_view head, unsigned status,
                              std::optional<std::uint64_t> length);
  bool hold_back(const Buffers& whole);
  net::Soon<net::error_code> write(Buffers&& buffers, net::More more = net::More::no);
  net::Task<net::error_code> write_later(Buffers buffers, std::size_t sent, net::More more);
  net::Task<net::error_code> finish_chunked();
  void record_sent(net::error_code error);
  net::Task<net::error_code> write_in_turns(const Buffers& buffers);
  net::Task<std::uint64_t> turn(std::uint64_t wanted);

  net::Stream& stream_;
  net::Input& input_;
  client::ResponseState state_;
  observe::RequestRecord& record_;
  const machine::Clock& clock_;
  HeldBytes held_back_;
  const std::chrono::milliseconds idle_;
  Asked asked_;
  bool keep_ = false;
  BodyFraming body_;
  net::error_code gone_;       // the error after which every write fails
  std::uint64_t writing_ = 0;  // bytes of the write under way
};

// The body of a request.
class Http1Body final : public client::RequestBody {
 public:
  struct Least {
    crowd::ReceiptRate rate;
    const machine::Clock& clock;
  };
  // A body that does not meet the least rate fails with asio::error::timed_out.
  Http1Body(net::Input& input, http::Framing framing, std::optional<Least> least = {})
      : reader_(input, framing), least_(std::move(least)) {}

  net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                           std::chrono::milliseconds idle) override {
    const auto begun = least_ ? least_->clock.steady() : machine::Clock::SteadyTime{};
    const auto read = co_await reader_.read(into, idle);
    if (!read || reader_.finished() || !least_) co_return read;
    too_slow_ =
        least_->rate.record(*read, least_->clock.steady() - begun) == crowd::ReceiptRate::Met::no;
    if (too_slow_) co_return net::error_code(net::asio::error::timed_out);
    co_return read;
  }
  [[nodiscard]] bool finished() const override { return reader_.finished(); }
  // Whether the body has failed because it came too slowly.
  [[nodiscard]] bool too_slow() const { return too_slow_; }

 private:
  net::BodyReader reader_;
  std::optional<Least> least_;
  bool too_slow_ = false;
};

}  // namespace proxy::server
