// Answers from objects.
#pragma once

#include <memory>

#include "proxy/blocks/block_source.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/client/client.hpp"
#include "proxy/reply/stall_watch.hpp"

namespace proxy {

// One answer. Call open(), then tell client.response what Cache-Status says, then call send(). If
// the client takes next to nothing while others wait for a transfer slot, the answer is cut. The
// client, the request and `from` outlive the answer.
class ObjectAnswer {
 public:
  struct From {
    digest::Key key;  // of the URL
    std::shared_ptr<const cache::Entry> object;
    bool may_fetch = true;
  };
  ObjectAnswer(Client& client, const Request& request, From from, cache::Time now);

  // Waits for the first wanted bytes: if they fail, the caller can still send an error response.
  net::Task<Outcome<void>> open();
  // After open() failed: the stored object cannot answer the request, and the caller asks the
  // origin.
  [[nodiscard]] bool begin_anew() const { return source_.refused() || opened_.nowhere; }
  // The sibling that supplies the first block; null: the origin, or it is stored.
  [[nodiscard]] peers::PeerRef peer() const { return source_.peer(); }
  // What neighbours answered that were asked for the first block, as words for Cache-Status.
  [[nodiscard]] std::string detail() const { return source_.detail(); }
  // Sends 304, 416, the parts that Range selects, or the whole object.
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
  http::ByteRanges ranges_;  // of the object, that are sent
  Message message_;
  BlockSource source_;
  StallWatch watch_;
  Opened opened_;
};

}  // namespace proxy
