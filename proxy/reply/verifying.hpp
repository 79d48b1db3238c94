// Verifies responses on their way to the client.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/mirrors/content_name.hpp"

namespace proxy::reply {

// A writer in front of the client's own: a whole body that does not have the digest that the client
// expects is cut before its last bytes, or becomes a 502 if none were sent. All other responses
// pass: parts, errors, and what is coded.
//
// The digest is the client's word alone. So nothing is stored under it, and other clients get the
// response of the URL whatever this one expects. If this request alone had the body fetched, the
// stored response is dropped.
class Verifying final : public client::ResponseWriter {
 public:
  struct Order {
    mirrors::ContentName name;
    std::string_view url;        // for the log (policy::url_for_others()); outlives the writer
    std::string_view stored_as;  // likewise
  };
  Verifying(client::Client& client, const Order& order) : client_(client), order_(order) {}

  net::Soon<net::error_code> interim(std::string_view head) override {
    return client_.response.interim(head);
  }
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length, BufferList body) override;
  net::Soon<net::error_code> body(BufferList bytes) override;
  net::Soon<net::error_code> flush() override { return client_.response.flush(); }
  [[nodiscard]] bool sends_files() const override { return false; }
  net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                        std::uint64_t length) override {
    return client_.response.start_file(head, status, length);  // see sends_files()
  }
  net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) override;
  net::Soon<net::error_code> finish() override;

  void abort() override { client_.response.abort(); }
  void close_after() override { client_.response.close_after(); }
  [[nodiscard]] std::optional<std::uint64_t> acknowledged() override {
    return client_.response.acknowledged();
  }
  [[nodiscard]] std::optional<client::RawConnection> raw_connection() override {
    return client_.response.raw_connection();
  }

 private:
  // Adds the bytes. Returns whether they are the last ones, and the body is another one.
  bool is_wrong_with(BufferList bytes);
  net::Task<void> drop_wrong();
  net::Task<net::error_code> cut();
  net::Task<net::error_code> send_bad_gateway();

  client::Client& client_;
  const Order order_;
  std::optional<mirrors::ContentCheck> check_;  // nothing: the response passes
  std::optional<std::uint64_t> left_;           // bytes of the body; nothing: not known
  bool is_refused_ = false;
};

}  // namespace proxy::reply
