// Forwards a request to the origin as it is, and reads the head of the answer.
#pragma once

#include <memory>
#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/follow.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::answer {

// Belongs to one coroutine. Order: ask(), then fetch() to read the answer.
class PassedRequest {
 public:
  PassedRequest(client::Client& client, const policy::Request& request, client::RequestBody& body);

  // Sends head and body, passes on interim answers, and waits for the final head. If a mirrored
  // server refuses several ranges as such, asks for the whole, which answers them, too. An error:
  // no final head came, or the client failed to send its body. The body may be sent only in part:
  // see sent_whole().
  net::Task<upstream::Outcome<void>> ask();

  // The last of them, if redirects were followed (sources::Follow).
  [[nodiscard]] upstream::Fetch& fetch() { return *fetch_; }
  [[nodiscard]] const http::ResponseHead& head() const {
    if (absent_) return *absent_;
    return was_redirected() ? *follow_->head() : fetch_->head();
  }
  [[nodiscard]] bool was_redirected() const { return follow_ && follow_->head(); }
  // Whether the origin was sent the whole request. It may answer before that.
  [[nodiscard]] bool sent_whole() const { return sent_whole_; }
  // A buffer for the answer's body, after ask() has returned.
  [[nodiscard]] const net::PooledBuffer& buffer() const { return buffer_; }

 private:
  PassedRequest(client::Client& client, const policy::Request& request, client::RequestBody& body,
                upstream::FetchPlan plan);
  net::Task<upstream::Outcome<void>> ask_for_whole(sources::Follow::SteadyTime begun);
  net::Task<upstream::Outcome<void>> send_body();
  net::Task<bool> await_continue();
  net::Task<upstream::Outcome<unsigned>> next_head();
  net::Task<upstream::Outcome<void>> final_head();
  net::Task<upstream::Outcome<void>>
  answer_or_absence();  // what is absent for this client has absent_
  net::Task<upstream::Outcome<void>> head_after_redirects(sources::Follow::SteadyTime begun);

  client::Client& client_;
  const policy::Request& request_;
  client::RequestBody& body_;
  const net::PooledBuffer buffer_;
  std::unique_ptr<sources::Follow> follow_;  // null: no redirect is followed
  std::unique_ptr<upstream::Fetch> fetch_;
  std::optional<http::ResponseHead> absent_;  // in place of a refusal
  bool have_head_ = false;                    // the final head
  // Why no further head can be read. What follows a head that is no head is not an answer.
  std::optional<upstream::Failure> no_head_;
  int interims_ = 0;
  bool sent_whole_ = false;
};

}  // namespace proxy::answer
