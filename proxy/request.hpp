// One request as the rules see it: parsed, with all that is derived from it once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/cache/policy.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy {

// Refers to the bytes of its head, which the caller keeps.
struct Request {
  http::RequestHead head;
  http::Target target;
  http::Framing framing;
  cache::RequestFacts facts;

  Request(http::RequestHead parsed, http::Target aimed, http::Framing framed)
      : head(std::move(parsed)), target(std::move(aimed)), framing(framed), facts(head) {}
  Request(const Request&) = delete;  // facts refer to head
  Request& operator=(const Request&) = delete;

  [[nodiscard]] bool is_head() const { return facts.method == cache::RequestFacts::Method::head; }
};

// A GET request that outlives the client that sent it, as a fill needs.
class OwnedRequest {
 public:
  explicit OwnedRequest(const Request& original);
  OwnedRequest(const OwnedRequest&) = delete;
  OwnedRequest& operator=(const OwnedRequest&) = delete;

  [[nodiscard]] const Request& get() const { return *request_; }

 private:
  std::string text_;
  std::optional<Request> request_;
};

// Parses the bytes of one head, target, Host and framing included. `size` is that of the head.
http::HeadResult<std::unique_ptr<Request>> parse_request(std::string_view head,
                                                         const http::HeadLimits& limits);

}  // namespace proxy
