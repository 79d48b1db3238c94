// Requests for digests of peers, and the wait for their sockets.
#pragma once

#include <poll.h>

#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"
#include "peers/curl.hpp"
#include "peers/peer.hpp"
#include "peers/poll.hpp"

namespace peers {

// Tells libcurl which sockets are ready. curl_multi_perform() would look at every transfer, with a
// system call for each, whenever one of them gets on; in a mesh the cost of a poll would grow with
// the number of peers. For one thread; it owns the multi handle.
class Sockets : boost::noncopyable {
 public:
  Sockets();

  CURLM* multi() const { return multi_.get(); }

  // Lets libcurl read and write what is ready now, and end what has timed out.
  void serve();
  // Waits until a socket is ready, libcurl's timer is due, one of the two descriptors (-1: none) is
  // readable, or the time is over. Returns whether the first descriptor is readable.
  bool wait(int first, int second, std::chrono::milliseconds at_most);

 private:
  static int follow(CURL* easy, curl_socket_t socket, int events, void* self,
                    void* of_socket) noexcept;
  [[nodiscard]] std::chrono::milliseconds until_timer(std::chrono::milliseconds at_most) const;

  std::vector<pollfd> waits_;
  std::vector<pollfd> ready_;  // a copy, since libcurl changes waits_ meanwhile
  const CurlMulti multi_;      // last: its end closes sockets, which follow() hears of
};

// What all transfers share. The body bytes that they hold at this moment are bounded: a transfer
// within `share` is never refused for the others' sake; beyond that, it may go on while all
// together hold no more than `limit`.
struct Transfers {
  CURLM* multi;
  std::string agent;  // our User-Agent
  PollLimits limits;
  std::function<SteadyTime()> now;
  std::size_t limit = 0;
  std::size_t share = 0;
  std::size_t bytes = 0;
};

// One digest request to a peer, for as long as the object lives. It has a libcurl handle of its
// own: libcurl 7.88 keeps pointers into the freed head of the response before, and follows them if
// a line of the next head begins with a space. Connections stay with the multi handle, for the next
// request.
//
// Call finish() once, when libcurl has ended the transfer, and response() only after that. Control
// thread only. libcurl keeps a pointer to this object, so it must not move.
class Transfer {
 public:
  struct Request {
    std::string target;                 // origin-form
    std::string_view accept;            // a media type
    std::string etag;                   // sent as If-None-Match unless empty
    std::size_t max_body;               // a longer body is refused
    std::chrono::milliseconds hold{0};  // how long the peer is asked to wait; see PollLimits
    std::chrono::milliseconds silence;  // likewise
  };

  // Begins the request. `all` outlives the transfer.
  Transfer(Transfers& all, const Peer& peer, const Request& request);
  // Aborts the transfer if it is still running.
  ~Transfer();

  // Returns what went wrong, in our words; empty if response() is complete.
  std::string finish(CURLcode code);
  // Whether finish() found that the name of the peer's host was not resolved.
  bool unresolved() const { return unresolved_; }

  const PollResponse& response() const { return response_; }
  std::size_t received() const { return received_; }
  // Whether the peer has begun its answer.
  bool began() const { return head_bytes_ > 0; }
  // How long the peer took to begin its answer, once it had the request.
  std::chrono::milliseconds waited() const;
  // The time at which the peer counts as failed if it has sent nothing more by then.
  SteadyTime silent_until() const { return silent_until_; }
  // The address that was reached; empty if there was no connection.
  std::optional<config::Address> address() const;

  CURL* handle() const { return easy_.get(); }

 private:
  std::size_t refuse(std::string_view why);
  static std::size_t on_head(char* bytes, std::size_t one, std::size_t count, void* self) noexcept;
  static std::size_t on_body(char* bytes, std::size_t one, std::size_t count, void* self) noexcept;
  void record_sign_of_life();
  std::size_t read_line(std::string_view line);
  std::size_t read_body(const char* bytes, std::size_t count);
  std::string field(const char* name) const;
  long status() const;
  void read_head();

  Transfers& all_;
  const CurlEasy easy_;
  CurlList fields_;
  PollResponse response_;
  const std::chrono::milliseconds silence_;
  SteadyTime silent_until_;
  const std::size_t max_body_;
  std::size_t head_bytes_ = 0;
  std::size_t received_ = 0;
  bool unresolved_ = false;
  bool in_field_ = false;     // the last line of a head or trailer belongs to a field
  std::string_view refused_;  // why we broke off
};

}  // namespace peers
