// What we answer when we do not answer: a status, and one line that says why.
#pragma once

#include <optional>
#include <string>

#include "proxy/cache/policy.hpp"
#include "proxy/client/client.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy {

struct Refusal {
  unsigned status = 500;
  std::string reason;  // for a person
  Tag tag = Tag::none;
  http::CacheStatus cache_status;
  std::string_view allow = {};  // of a 405: the methods that would do

  static Refusal loop();
  // To only-if-cached: 504, whose detail says "gone" of what was claimed lately.
  static Refusal not_held(const cache::Verdict& verdict, const cache::Found& found);
  static Refusal offline(http::Forward reason);
  static Refusal forbidden(std::string reason);
  static Refusal bad(std::string reason);
  static Refusal malformed(http::HeadError error);
  static Refusal unknown_url();  // not in the mapping's file of known URLs: 404
  static Refusal failure(const Failure& failure);
};

// Whether this client may use the proxy, and for this destination; nothing if so.
std::optional<Refusal> check_access(const Client& client, const Request& request);

// A neighbour's only-if-cached is refused by 504, unless it is malformed: a Squid would hand any
// other status to its user. If the reason is not that nothing is held, the detail is "refused/" and
// the reason.
net::Task<void> refuse(Client& client, const Request& request, Refusal refusal);
// `reason`: why the request went forward, in vain.
net::Task<void> refuse(Client& client, const Request& request, Failure failure,
                       http::Forward reason = http::Forward::none);
// Of a request that could not be read, so that nothing after it can be either: closes.
net::Task<void> refuse_unread(Client& client, Refusal refusal);
net::Task<void> refuse_malformed(Client& client, http::HeadError error);

}  // namespace proxy
