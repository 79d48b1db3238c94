// One request as the rules see it: parsed, with all that is derived from it once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/owned_fields.hpp"
#include "proxy/http/target.hpp"
#include "proxy/http/upgrade.hpp"

namespace proxy {

struct Mapping;
struct Policy;
class SiteRule;
class SiteRules;

using cache::kReverseSpace;

// Refers to the bytes of its head, which the caller keeps. A Range that asks for too much, or for
// nothing that can be understood, is not in it, and one that asks for the same twice does so once:
// see http::heeded_range().
struct Request {
  http::RequestHead head;
  http::Target target;
  http::Framing framing;
  cache::RequestFacts facts;

  Request(http::RequestHead&& parsed, http::Target aimed, http::Framing framed)
      : head(std::move(parsed)), target(std::move(aimed)), framing(framed), facts(head) {
    heed_range();
    facts.for_origin = facts.for_origin || framing.has_body() || asks_for_websocket();
  }
  Request(const Request&) = delete;  // facts refer to head
  Request& operator=(const Request&) = delete;

  [[nodiscard]] bool is_head() const { return facts.method == cache::RequestFacts::Method::head; }

  [[nodiscard]] bool asks_for_websocket() const { return http::asks_for_websocket(head, framing); }

  // The policy that holds for the request until its end; before anything below.
  void pin(std::shared_ptr<const Policy> policy) { policy_ = std::move(policy); }
  [[nodiscard]] const Policy& policy() const { return *policy_; }

  // For an origin that we stand in for; before anything below is asked. Null: as the URL says.
  void map_to(const Mapping* mapping);
  [[nodiscard]] const Mapping* mapping() const { return mapping_; }

  // False: its mapping knows no such URL, neither as it is nor as the site's rule reduces it.
  [[nodiscard]] bool may_exist() const;

  // Does with Forwarded and X-Forwarded-For what the setting says, before they select a variant.
  void tell_of_client(config::Forwarded how, const config::Address& client);

  // Finds the rule of its site and lets the facts, and the name below, follow it; after map_to().
  // The rules must outlive the request.
  void follow(const SiteRules& rules);
  [[nodiscard]] const SiteRule* rule() const { return rule_; }  // null: none

  // What its response is stored as: the URL without the parameters that the site's rule drops, but
  // in reverse mode a name that no URL is unless the mapping is shared, for there the client
  // chooses the host and we the origin.
  [[nodiscard]] const std::string& stored_as() const {
    return own_name_.empty() ? target.url() : own_name_;
  }
  // The same for another URL of that site.
  [[nodiscard]] std::string stored_as(const http::Target& other) const;
  // Whether neighbours may know the response and be asked for it: it is stored as its URL. One
  // that lost parameters is another URL to them.
  [[nodiscard]] bool may_be_shared() const { return own_name_.empty(); }
  // The Host field for the origin.
  [[nodiscard]] std::string_view origin_host() const;

 private:
  friend class OwnedRequest;
  void heed_range();
  void name_it();
  [[nodiscard]] bool is_apart() const;  // in the space of reverse mode
  [[nodiscard]] std::string in_its_space(std::string url) const;

  std::shared_ptr<const Policy> policy_;
  const Mapping* mapping_ = nullptr;
  const SiteRules* rules_ = nullptr;
  const SiteRule* rule_ = nullptr;
  std::string own_name_;  // empty: the URL
  // What fields of `head` refer to.
  http::ForwardedValues forwarded_;
  std::string range_;
};

// A GET request that outlives the client that sent it, as a fill needs. It keeps the policy.
class OwnedRequest {
 public:
  explicit OwnedRequest(const Request& original);
  OwnedRequest(const OwnedRequest&) = delete;
  OwnedRequest& operator=(const OwnedRequest&) = delete;

  [[nodiscard]] const Request& get() const { return *request_; }

 private:
  const std::string target_;
  const http::OwnedFields fields_;
  std::optional<Request> request_;
};

// Parses the bytes of one head, target, Host and framing included. `size` is that of the head.
http::HeadResult<std::unique_ptr<Request>> parse_request(std::string_view head,
                                                         const http::HeadLimits& limits);

}  // namespace proxy
