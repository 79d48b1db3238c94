// Answers from large objects.
#pragma once

#include <memory>

#include "proxy/blocks/block_source.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/client/client.hpp"
#include "proxy/reply/stall_watch.hpp"

namespace proxy {

// One answer, cut where the client takes next to nothing while others wait for room for a block.
// First open(), then what the head says of how it came about into client.reply, then
// send(). All of it outlives the answer.
class ObjectAnswer {
 public:
  struct From {
    digest::Key key;  // of the URL
    std::shared_ptr<const cache::Entry> object;
    bool may_fetch = true;
  };
  ObjectAnswer(Client& client, const Request& request, From from, cache::Time now);

  // Has the first bytes that are wanted, so that their failure is still an error of its own.
  net::Task<Outcome<void>> open();
  // The failure: the origin may have another answer; what is held has none.
  [[nodiscard]] bool begin_anew() const { return source_.refused() || opened_.nowhere; }
  // Who else than the origin brings what is sent first; null: nobody.
  [[nodiscard]] peers::PeerRef peer() const { return source_.peer(); }
  // 304, the parts that Range selects or 416, else all of it.
  net::Task<void> send();

  [[nodiscard]] const cache::Entry& object() const { return *from_.object; }
  [[nodiscard]] bool unmodified() const { return unmodified_; }

 private:
  // What is sent around the object's own bytes.
  struct Message {
    cache::PartialText text;
    std::string head;
    unsigned status = 200;
    std::uint64_t length = 0;  // of the content
  };
  // What open() got.
  struct Opened {
    Pieces pieces;
    std::uint64_t at = 0;  // where in the object they begin
    bool nowhere = false;  // to be had: not stored, and not to be fetched
  };

  net::Task<net::error_code> send_range(const http::ByteRange& range);
  net::Task<net::error_code> write(std::span<const net::asio::const_buffer> bytes);
  net::Task<net::error_code> write(std::string_view text);
  net::Task<Outcome<Pieces>> next();
  void plan();
  void note_source();

  Client& client_;
  const Request& request_;
  const From from_;
  const cache::Time now_;
  const bool unmodified_;
  const http::Selection wanted_;
  http::ByteRanges ranges_;  // whose bytes are sent
  Message message_;
  BlockSource source_;
  StallWatch watch_;
  Opened opened_;
};

}  // namespace proxy
