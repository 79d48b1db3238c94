// Answers from objects.
#pragma once

#include <memory>

#include "proxy/blocks/block_source.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/client/client.hpp"
#include "proxy/net/deadlines.hpp"

namespace proxy::reply {

// Aborts the response to a client that hardly reads while other responses wait for a transfer slot.
// Between begin() and end() one coroutine writes to the client while it holds a transfer slot. If
// the client acknowledges fewer than kLeast bytes in kPatience, and another request waits for a
// slot, the response is aborted. Time in which limits of bandwidth hold the response back does not
// count. For the thread of the deadlines.
class StallWatch final : private net::Watched {
 public:
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::uint64_t kLeast = 64 * 1024;

  StallWatch(client::Client& client, blocks::TransferSlots::Slot& slot);

  void begin();
  void end();

 private:
  void on_expiry() override;

  client::Client& client_;
  blocks::TransferSlots::Slot& slot_;
  Clock::time_point since_;
  std::optional<std::uint64_t> by_then_;  // bytes acknowledged at since_
};

// One answer. Order: open(), then Cache-Status is added to client.response, then send(). If the
// client reads next to nothing while other requests wait for a transfer slot, the answer is cut.
// The client and the request outlive the answer.
class ObjectAnswer {
 public:
  struct From {
    digest::Key key;  // of the URL
    cache::Ref<const cache::Entry> object;
    bool may_fetch = true;
  };
  ObjectAnswer(client::Client& client, const policy::Request& request, From from, cache::Time now);

  // Waits for the first wanted bytes. On failure the caller can still send an error response.
  net::Task<upstream::Outcome<void>> open();
  // After open() failed: the stored object cannot answer the request, and the caller asks the
  // origin.
  [[nodiscard]] bool begin_anew() const { return source_.refused() || in_hand_.nowhere; }
  // The sibling that supplies the first block; null: the origin does, or the block is stored.
  [[nodiscard]] peers::PeerRef peer() const { return source_.peer(); }
  // The neighbours' answers about the first block, as words for Cache-Status.
  [[nodiscard]] observe::Inquiries inquiries() const { return source_.inquiries(); }
  // Sends 304, 416, the parts that Range selects, or the whole object.
  net::Task<void> send();

  [[nodiscard]] const cache::Entry& object() const { return *from_.object; }
  [[nodiscard]] cache::Time now() const { return now_; }  // when the request began
  [[nodiscard]] bool unmodified() const { return unmodified_; }

 private:
  // The head, and the text around the object's own bytes.
  struct Message {
    cache::PartialText text;
    std::string head;
    unsigned status = 200;
    std::uint64_t length = 0;  // of the content
  };
  // The bytes of the object that the source gave last.
  struct InHand {
    fill::Pieces pieces;
    std::uint64_t at = 0;   // offset of the pieces in the object
    std::uint64_t end = 0;  // offset of what the source gives next
    bool nowhere = false;   // the first bytes are not stored, and may not be fetched
  };

  void go_to(std::uint32_t block, std::size_t range);
  net::Task<upstream::Outcome<void>> read_up_to(std::uint64_t position);
  net::Task<net::error_code> send_range(std::size_t range);
  net::Task<net::error_code> send_from_source(http::ByteRange part);
  net::Task<net::error_code> send_in_file(std::uint32_t block, http::ByteRange& part);
  net::Task<net::error_code> write(std::span<const net::asio::const_buffer> bytes);
  net::Task<net::error_code> write(std::string_view text);
  void plan();
  void record_source();

  client::Client& client_;
  const policy::Request& request_;
  const From from_;
  const cache::Time now_;
  const bool unmodified_;
  const http::Selection wanted_;
  http::ByteRanges ranges_;  // of the object: the bytes to send
  Message message_;
  blocks::BlockSource source_;
  StallWatch watch_;
  StallWatch early_watch_;  // while a block goes from its file, which takes no slot of its own
  InHand in_hand_;
};

}  // namespace proxy::reply
