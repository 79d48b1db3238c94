// Captures the answer to a POST while it is passed on, to store it as the answer to a GET of its
// URL (RFC 9110 9.3.3).
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/storability.hpp"
#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

class PostCapture {
 public:
  // Whether the answer may be stored, or why not.
  static cache::Storability judge(const Request& request, const http::ResponseHead& answer,
                                  const cache::Times& times);
  // For an answer that may be stored. Call it after the POST has invalidated stored responses: any
  // later invalidation of the URL keeps the answer from being stored.
  static std::unique_ptr<PostCapture> begin(const ServeAccess& access, const Request& request,
                                            const http::ResponseHead& answer,
                                            const cache::Times& times);

  // How long the answer stays fresh, for Cache-Status. Call it before append().
  [[nodiscard]] cache::seconds ttl() const;

  // Copies the next bytes of the body. If the body is too large to be stored, or memory is short,
  // gives up the capture.
  void append(std::span<const char> bytes);
  // Call this at the end: `yes` if the answer was stored.
  [[nodiscard]] cache::Storability storability() const { return storability_; }
  // Stores the answer, whose body is whole now, unless the capture was given up or the URL was
  // invalidated meanwhile.
  void store();

 private:
  PostCapture(const ServeAccess& access, const Request& request, const cache::Received& received);

  const ServeAccess& access_;
  const digest::Key key_;
  const std::chrono::steady_clock::time_point begun_ = access_.clock().steady();
  cache::Ref<cache::Entry> entry_;  // null: given up, or stored
  cache::Storability storability_ = cache::Storability::incomplete;
};

}  // namespace proxy
