// Answers from large objects.
#pragma once

#include <memory>

#include "proxy/blocks/block_source.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/client/client.hpp"
#include "proxy/reply/stall_watch.hpp"

namespace proxy {

// One answer, cut where the client takes next to nothing while others wait for room for a block.
// First open(), then what the head says of how it came about into client.response, then
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
  [[nodiscard]] bool begin_anew() const { return source_.refused() || nowhere_; }
  // Who else than the origin brings what is sent first; null: nobody.
  [[nodiscard]] peers::PeerRef peer() const { return source_.peer(); }
  // Words for Cache-Status, `detail`: what came of asking neighbours for what is sent first.
  [[nodiscard]] std::string detail() const { return source_.detail(); }
  // 304, the parts that Range selects or 416, else all of it.
  net::Task<void> send();

  [[nodiscard]] const cache::Entry& object() const { return *from_.object; }
  [[nodiscard]] bool unmodified() const { return unmodified_; }

 private:
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
  cache::PartialText text_;
  std::string head_;
  unsigned status_ = 200;
  std::uint64_t length_ = 0;  // of what is sent
  BlockSource source_;
  StallWatch watch_;
  Pieces first_;                // as open() got them
  std::uint64_t first_at_ = 0;  // where in the object they begin
  bool nowhere_ = false;
};

}  // namespace proxy
