// One parsed request, with the facts that are derived from it once.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"
#include "proxy/net/frames.hpp"
#include "proxy/policy/caller.hpp"

namespace proxy::policy {

class SiteRule;

// Refers to the bytes of its head, which the caller keeps. Overlapping ranges of the client's Range
// field are joined (http::joined_range()), unless a signature of the request covers the field. If
// the client asks for too many ranges, the request has no Range field.
//
// Cannot be copied, since `facts` refer to `head`.
struct Request : net::InFrameMemory, private boost::noncopyable {
  http::RequestHead head;
  http::Target target;
  http::Framing framing;
  cache::RequestFacts facts;

  Request(http::RequestHead&& parsed, http::Target aimed, http::Framing framed)
      : head(std::move(parsed)), target(std::move(aimed)), framing(framed) {
    derive_facts();
  }

  // Who asks. Set for questions (asks_as_sibling()), for requests that a proxy sends, and for
  // requests that may be for our own pages or for purges. The rules take all other callers for
  // clients.
  Caller caller;

  [[nodiscard]] bool is_head() const { return facts.method == cache::RequestFacts::Method::head; }

  [[nodiscard]] bool is_connect() const { return target.form() == http::Target::Form::authority; }
  [[nodiscard]] bool asks_for_websocket() const { return http::asks_for_websocket(head, framing); }

  // Whether the request is for what is stored, as a sibling's is: only-if-cached. The request goes
  // no further, every refusal has status 504, and nobody reads its text.
  [[nodiscard]] bool asks_as_sibling() const { return facts.control.only_if_cached; }

  // Sets the policy, which applies until the end of the request. Call this before every function
  // below.
  void pin(std::shared_ptr<const Policy> policy) { policy_ = std::move(policy); }
  [[nodiscard]] const Policy& policy() const { return *policy_; }
  [[nodiscard]] const std::shared_ptr<const Policy>& pinned() const { return policy_; }

  // Sets how the request arrived. `mapping`: for Arrival::reverse the mapping of the host; null if
  // there is none. After Arrival::mirror, the URL that the path stands for is the target.
  // `registry`: for Arrival::mirror, that of the listener; empty: it has none. Call this before
  // every function below.
  void arrive(Arrival how, const Mapping* mapping = nullptr, std::string_view registry = {});
  [[nodiscard]] const Terms& terms() const { return terms_; }
  // The mapping that arrive() was given, for callers that need its origins.
  [[nodiscard]] const Mapping* mapping() const { return mapping_; }

  // Whether the origins of the mapping may have the URL, as requested or without the parameters
  // that the site's rule drops.
  [[nodiscard]] bool may_exist() const;

  // Removes and writes fields about the client as the settings say (http/forwarded.hpp). Call this
  // before a variant is selected, since responses may depend on these fields. `address`: the
  // client's, in text, IPv6 without brackets.
  void write_client_fields(const config::ForwardedSettings& settings, std::string_view address);

  // Removes Proxy-Authorization, which is for this proxy alone: if Vary named it, a stored response
  // would hold a password. Call this once the user is known, before a variant is selected.
  void remove_credentials();

  // Finds the policy's rule for the site, and applies it to the facts and to stored_as(). A request
  // for what is immutable by its class, or whose URL has a digest of the body (content.hpp), then
  // wants no content coding, whatever its client accepts: a digest is that of the plain bytes, and
  // the first response answers all clients. Call this after arrive().
  void apply_site_rule();
  [[nodiscard]] const SiteRule* rule() const { return rule_; }  // null: none

  // The name that the response is stored under: what the site's rule makes of the URL
  // (SiteRule::key_url()), in the space of its terms (cache::StoredName).
  [[nodiscard]] const std::string& stored_as() const {
    return own_name_.empty() ? target.url() : own_name_;
  }
  // The name for another URL of the same site.
  [[nodiscard]] std::string stored_as(const http::Target& other) const;
  // Whether neighbours may learn of the response and be asked for it: only if the response is
  // stored under its full URL, or under a name that all give it who have the rule
  // (SiteRule::names_path()), and no field that a neighbour does not see may have changed it. For
  // a neighbour, a URL without the dropped parameters is another URL. Of https URLs, the setting
  // mirrors.share decides, too.
  [[nodiscard]] bool may_be_shared() const;
  // The Host field for the origin.
  [[nodiscard]] std::string_view origin_host() const;

 private:
  friend class OwnedRequest;
  friend class ActingRequest;
  friend http::HeadResult<std::unique_ptr<Request>> parse_request(std::string_view head,
                                                                  const http::HeadLimits& limits,
                                                                  std::string&& url_memory);
  explicit Request(std::string&& url_memory) : target(std::move(url_memory)) {}
  void derive_facts();
  void apply_range();
  void name_it();
  [[nodiscard]] std::string in_its_space(std::string url) const;

  std::shared_ptr<const Policy> policy_;
  Terms terms_;
  const Mapping* mapping_ = nullptr;
  const SiteRule* rule_ = nullptr;
  std::string own_name_;  // empty: the URL
  // Text that fields of `head` refer to.
  http::ForwardedValues forwarded_;
  std::string range_;
};

// Whether a proxy asks for what is stored, as far as its address and its fields tell, so that the
// answer is for the clients of that proxy.
inline bool is_of_neighbour(const Request& request) {
  const auto& facts = request.facts;
  return facts.control.only_if_cached && (facts.from_proxy || facts.from_neighbour);
}

// The URL for logs and neighbours: without a query that may be a signature, which is for the origin
// alone. So may one that the rule leaves out of the name, and that of a recipe's other responses.
std::string_view url_for_others(const Request& request);

// A GET request that outlives its client, as a fill needs. It keeps the policy.
class OwnedRequest : public net::InFrameMemory, boost::noncopyable {
 public:
  // `anybodys`: as anybody might have sent it: without the fields that may be secret, and for the
  // whole response without conditions.
  enum class Fields : std::uint8_t { the_clients, anybodys };
  explicit OwnedRequest(const Request& original, Fields fields = Fields::the_clients);

  [[nodiscard]] const Request& get() const { return *request_; }

 private:
  // The request's head consists of views of this text. A change of the text would break the views.
  net::FrameString text_;
  std::optional<Request> request_;
};

// A request for another URL on behalf of a client, by the policy and on the terms of its own
// request: to look up what is stored there. Has none of the client's fields.
class ActingRequest : boost::noncopyable {
 public:
  // `name`: the request is for what is stored under this name, which need be no URL; empty: under
  // the URL.
  ActingRequest(const Request& original, std::string_view url, std::string name = {});

  // Null: the URL is none.
  [[nodiscard]] const Request* get() const { return request_.get(); }

 private:
  std::string text_;  // of the head
  std::unique_ptr<Request> request_;
};

// Parses the bytes of one head, including its target, Host and framing. The request lacks the
// fields that its Connection names (RFC 9110 7.6.1): key, variant, rules and origin see one set of
// fields. `url_memory`: see http::Target.
http::HeadResult<std::unique_ptr<Request>> parse_request(std::string_view head,
                                                         const http::HeadLimits& limits,
                                                         std::string&& url_memory = {});

}  // namespace proxy::policy
