// Forwards a request to the origin as it is, and reads the head of the answer.
#pragma once

#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

// Belongs to one coroutine. Order: ask(), then fetch() to read the answer.
class PassedRequest {
 public:
  PassedRequest(Client& client, const Request& request, RequestBody& body);

  // Sends head and body, passes on interim answers, and waits for the final head. An error: no
  // final head came, or the client failed to send its body. The body may be sent only in part: see
  // sent_whole().
  net::Task<Outcome<void>> ask();

  [[nodiscard]] Fetch& fetch() { return fetch_; }
  [[nodiscard]] const http::ResponseHead& head() const { return fetch_.head(); }
  // Whether the origin was sent the whole request. It may answer before that.
  [[nodiscard]] bool sent_whole() const { return sent_whole_; }
  // A buffer for the answer's body, after ask() has returned.
  [[nodiscard]] const PooledBuffer& buffer() const { return buffer_; }

 private:
  net::Task<Outcome<void>> send_body();
  net::Task<bool> await_continue();
  net::Task<Outcome<unsigned>> next_head();
  net::Task<Outcome<void>> final_head();

  Client& client_;
  const Request& request_;
  RequestBody& body_;
  const PooledBuffer buffer_;
  Fetch fetch_;
  bool have_head_ = false;  // the final head
  // Why no further head can be read. What follows a head that is no head is not an answer.
  std::optional<Failure> no_head_;
  int interims_ = 0;
  bool sent_whole_ = false;
};

}  // namespace proxy
