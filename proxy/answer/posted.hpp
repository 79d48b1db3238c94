// An answer to POST that is kept as that to a GET of its URL, collected while it is passed on.
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/request/request.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

class Posted {
 public:
  // Null where it may not be kept. To be made after what the POST changed has been invalidated.
  static std::unique_ptr<Posted> begin(Worker& worker, const Request& request,
                                       const http::ResponseHead& answer, const cache::Times& times);

  // Freshness left, for Cache-Status; before anything is appended.
  cache::seconds ttl() const;

  // The next bytes of the body. Beyond what may be stored all of it is given up.
  void append(std::span<const char> bytes);
  // The body has come whole: what was given up stays so, and so does what has changed since.
  void store();

 private:
  Posted(Worker& worker, const Request& request, const cache::Received& received);

  Worker& worker_;
  const digest::Key key_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::shared_ptr<cache::Entry> entry_;  // null: given up
};

}  // namespace proxy
