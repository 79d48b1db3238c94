// The sockets of all transfers under way, and libcurl's timer, as one wait.
#pragma once

#include <poll.h>

#include <chrono>
#include <vector>

#include "peers/curl.hpp"

namespace peers {

// Tells libcurl which sockets are ready. curl_multi_perform() would look at every transfer, with a
// system call for each, whenever one of them gets on; in a mesh the cost of a poll would grow with
// the number of peers. For one thread; it owns the multi handle.
class Sockets {
 public:
  Sockets();
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

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

}  // namespace peers
