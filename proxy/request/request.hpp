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
#include "proxy/request/arrival.hpp"

namespace proxy {

struct Mapping;
struct Policy;
class SiteRule;
class SiteRules;

using cache::kReverseSpace;

// Refers to the bytes of its head, which the caller keeps. Its Range is what http::heeded_range()
// leaves: none if the client's asks for too much or cannot be understood, and no part of it twice.
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

  [[nodiscard]] bool is_connect() const { return target.form() == http::Target::Form::authority; }
  [[nodiscard]] bool asks_for_websocket() const { return http::asks_for_websocket(head, framing); }

  // The policy that holds for the request until its end; before anything below.
  void pin(std::shared_ptr<const Policy> policy) { policy_ = std::move(policy); }
  [[nodiscard]] const Policy& policy() const { return *policy_; }

  // How the request arrived, and for Arrival::reverse the mapping that names its origin; null if
  // there is none. To be called before anything below is asked.
  void arrive(Arrival how, const Mapping* mapping = nullptr);
  [[nodiscard]] Arrival arrival() const { return arrival_; }
  [[nodiscard]] const Mapping* mapping() const { return mapping_; }

  // Whether the mapping may have the URL, as it is or as the site's rule reduces it.
  [[nodiscard]] bool may_exist() const;

  // Rewrites Forwarded and X-Forwarded-For as the setting `forwarded` says. To be called before a
  // variant is selected, as a response may vary by these fields.
  void tell_of_client(config::Forwarded how, const config::Address& client);

  // Finds the site's rule and applies it to the facts and to stored_as(). After arrive(). The rules
  // outlive the request.
  void follow(const SiteRules& rules);
  [[nodiscard]] const SiteRule* rule() const { return rule_; }  // null: none

  // The name that the response is stored under: the URL without the parameters that the site's rule
  // drops. In reverse mode the client chooses the host and we choose the origin: unless the mapping
  // is shared, the name is then one that no URL has.
  [[nodiscard]] const std::string& stored_as() const {
    return own_name_.empty() ? target.url() : own_name_;
  }
  // The same for another URL of that site.
  [[nodiscard]] std::string stored_as(const http::Target& other) const;
  // Whether neighbours may know of the response and be asked for it: only if it is stored under its
  // URL. To them, a URL without its parameters is another URL.
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
  Arrival arrival_ = Arrival::forward;
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
