// The digest requests to one peer, one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "config/networks.hpp"
#include "peers/curl.hpp"
#include "peers/peer.hpp"
#include "peers/poll_plan.hpp"
#include "peers/poll_response.hpp"

namespace peers {

// The body bytes that all transfers hold at this moment. A transfer within `share` is never refused
// for the others' sake; beyond that, it may go on while all together hold no more than `limit`.
struct InFlight {
  std::size_t limit = 0;
  std::size_t share = 0;
  std::size_t bytes = 0;
};

// Each request has a libcurl handle of its own, from begin() to end(): libcurl 7.88 keeps pointers
// into the freed head of the response before, and follows them if a line of the next head begins
// with a space. Connections stay with the multi handle, for the next request.
//
// Legal calls: (begin, [finish, response()...], end)*. Control thread only. libcurl keeps a pointer
// to this object, so it must not move.
class Transfer {
 public:
  Transfer(CURLM* multi, InFlight& in_flight, const Peer& peer, const std::string& agent,
           const PollLimits& limits);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  struct Request {
    std::string target;                 // origin-form
    std::string_view accept;            // a media type
    std::string etag;                   // sent as If-None-Match unless empty
    std::size_t max_body;               // a longer body is refused
    std::chrono::milliseconds hold{0};  // how long the peer is asked to wait; see PollLimits
    std::chrono::milliseconds silence;  // likewise
  };

  void begin(const Request& request);

  // Returns what went wrong, in our words; empty if response() is complete.
  std::string finish(CURLcode code);
  // Whether that is that the name of the peer's host was not resolved.
  bool unresolved() const { return unresolved_; }

  const PollResponse& response() const { return response_; }
  std::size_t received() const { return received_; }
  // Whether the peer has begun its answer.
  bool began() const { return head_bytes_ > 0; }
  // How long the peer took to begin its answer, once it had the request.
  std::chrono::milliseconds waited() const;
  // The peer has failed if it has sent nothing more until then.
  SteadyTime silent_until() const { return silent_until_; }
  // The address that was reached; empty if there was no connection.
  std::optional<config::Address> address() const;

  // Discards the response; aborts the transfer if it is still running.
  void end();

  // Null unless a request has begun and not ended.
  CURL* handle() const { return easy_.get(); }

 private:
  void make_handle();
  std::size_t refuse(std::string_view why);
  static std::size_t on_head(char* bytes, std::size_t one, std::size_t count, void* self) noexcept;
  static std::size_t on_body(char* bytes, std::size_t one, std::size_t count, void* self) noexcept;
  void hear();
  std::size_t take_line(std::string_view line);
  std::size_t take(const char* bytes, std::size_t count);
  std::string field(const char* name) const;
  long status() const;
  void read_head();

  CURLM* const multi_;
  const std::string place_;  // the URL without a target
  const std::string agent_;
  const std::string authorization_;  // the value of Proxy-Authorization; empty: none
  const PollLimits limits_;
  InFlight& in_flight_;
  CurlEasy easy_;
  CurlList fields_;
  PollResponse response_;
  std::chrono::milliseconds silence_{0};
  SteadyTime silent_until_{};
  std::size_t max_body_ = 0;
  std::size_t head_bytes_ = 0;
  std::size_t received_ = 0;
  bool unresolved_ = false;
  bool in_field_ = false;     // the last line of a head or trailer belongs to a field
  std::string_view refused_;  // why we broke off
};

}  // namespace peers
