// Rewrites responses on their way to the client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/client/client.hpp"

namespace proxy::reply {

// A writer in front of the client's own: keeps the whole of a response to rewrite
// (mirrors/rewrite.hpp), and sends it at its end, or the 304 in its place. All other responses pass
// at once. So does one that is longer than mirrors::kMostRewritten, coded or no JSON, and the log
// says so. What is kept is charged to the memory of bodies on their way. If that is short, the
// client gets a 503 in place of the response.
class Rewriting final : public client::ResponseWriter {
 public:
  // The request has no condition and no range of its own, so that a 200 has the whole text.
  struct Order {
    std::span<const std::string> members;  // to leave out
    std::string_view none_match;           // the value of If-None-Match; may be empty
    std::string_view url;                  // for the log (policy::url_for_others())
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

// A client whose response is rewritten.
struct RewritingClient {
  // Returns null unless a rule of the site rewrites the response for this client, which asks by a
  // path of ours. Else changes the request: from now on it asks for the whole response, without a
  // coding and without conditions, because the client's tags and ranges are of the rewritten text.
  // Call this before a variant is selected. The request outlives the result.
  static std::unique_ptr<RewritingClient> of(client::Client& client, policy::Request& request);

  RewritingClient(client::Client& of, const Rewriting::Order& order)
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

  Rewriting response;
  client::Client client;
};

// Begins the response to a request for a mirror: what clients read of the mirrored server in its
// head is written as they find it here, and RewritingClient::of() is the result. Null for all other
// requests.
std::unique_ptr<RewritingClient> begin_mirrored(client::Client& client, policy::Request& request);

}  // namespace proxy::reply
