// Rewrites responses on their way to the client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/mirrors/rewrite.hpp"
#include "proxy/reply/verifying.hpp"

namespace proxy::reply {

// A writer in front of the client's own: keeps the whole of a response to rewrite
// (mirrors/rewrite.hpp), and sends it at its end, or the 304 in its place. All other responses pass
// at once. So does one that is longer than mirrors::kMostRewritten, coded or not readable, and the
// log and Cache-Status say so. What is kept is charged to the memory of bodies on their way. If
// that is short, the client gets a 503 in place of the response.
class Rewriting final : public client::ResponseWriter {
 public:
  // The request has no condition and no range of its own, so that a 200 has the whole text.
  struct Order {
    mirrors::TextChange change;
    std::string_view none_match;  // the value of If-None-Match; may be empty
    std::string_view url;         // for the log (policy::url_for_others())
  };
  // `order` refers to text that outlives the writer, as does the client.
  Rewriting(client::Client& client, const Order& order)
      : to_(client.response),
        state_(client.state),
        transit_(client.access.fetching.transit),
        order_(order) {}

  net::Soon<net::error_code> interim(std::string_view head) override { return to_.interim(head); }
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length, BufferList body) override;
  net::Soon<net::error_code> body(BufferList bytes) override;
  net::Soon<net::error_code> flush() override { return to_.flush(); }
  [[nodiscard]] bool sends_files() const override { return false; }
  net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                        std::uint64_t length) override;
  net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) override;
  net::Soon<net::error_code> finish() override;

  void abort() override { to_.abort(); }
  void close_after() override { to_.close_after(); }
  [[nodiscard]] std::optional<std::uint64_t> acknowledged() override { return to_.acknowledged(); }
  [[nodiscard]] std::optional<client::RawConnection> raw_connection() override {
    return to_.raw_connection();
  }

 private:
  // What becomes of the bytes of the response that has begun.
  enum class Bytes : std::uint8_t { pass, are_kept, are_dropped };

  net::Soon<net::error_code> keep(BufferList bytes);
  bool make_room(std::size_t needed);
  net::Task<net::error_code> pass_kept();
  net::Task<net::error_code> send_unavailable();
  net::Task<net::error_code> send_rewritten();
  void drop_kept();
  void say_original(std::string_view why);

  client::ResponseWriter& to_;
  client::ResponseState& state_;
  cache::Budget& transit_;
  const Order order_;
  Bytes bytes_ = Bytes::pass;
  std::string head_;
  std::optional<std::uint64_t> length_;
  std::string text_;
  std::optional<client::ResponseState::Holds> holds_;
};

// A client whose response passes one of the writers of mirrors.
template <class Writer>
struct ClientBehind {
  template <class Order>
  ClientBehind(client::Client& of, const Order& order)
      : response(of, order),
        client{.access = of.access,
               .response = response,
               .state = of.state,
               .record = of.record,
               .address = of.address,
               .address_text = of.address_text,
               .guest = of.guest,
               .door = of.door,
               .bandwidth = of.bandwidth,
               .tells_epoch = of.tells_epoch} {}

  Writer response;
  client::Client client;
};

// The response to a request for a mirror. The request outlives it.
class MirroredResponse {
 public:
  // Begins it: what clients read of the mirrored server in its head is written as they find it
  // here. If the rule of the site has the text rewritten, the request asks for the whole of it from
  // now on, without a coding and conditions: the client's tags and ranges are of the other text.
  // Else, if the client's URL has a digest, the body is verified. Does nothing for other requests.
  // Call this before a variant is selected.
  MirroredResponse(client::Client& client, policy::Request& request);

  [[nodiscard]] client::Client& client() {
    if (rewriting_) return rewriting_->client;
    return verifying_ ? verifying_->client : of_;
  }

 private:
  client::Client& of_;
  std::unique_ptr<ClientBehind<Rewriting>> rewriting_;
  std::unique_ptr<ClientBehind<Verifying>> verifying_;
};

// Whether the answer to the request, for a mirror, is made here in place of the server's
// (config::TextRule::made), and the answer.
bool is_made(const client::Client& client, const policy::Request& request);
net::Task<void> send_made(client::Client& client, const policy::Request& request);

}  // namespace proxy::reply
