// Follows the redirects of an origin in place of the client, for hosts of the setting
// mirrors.hosts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/freshness.hpp"
#include "proxy/mirrors/redirects.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::sources {

// Whether redirects of the request's origin are followed. If not, they are the client's business:
// the host is not listed, a mapping names the origin, or the request has a body or another method
// than GET and HEAD.
bool follows_redirects(const policy::Request& request);

// One question with its redirects. A value that outlives the request.
class Follow {
 public:
  // Null: no redirect is followed. `head`: as it is sent to the origin. A request by a path of ours
  // gets a failure in place of a redirect that may not be followed; for any other, such a redirect
  // is the answer.
  static std::unique_ptr<Follow> of(const policy::Request& request, const std::string& head);

  // What to ask in place of this answer, which arrived at `now`; or a failure. Nothing: the answer
  // counts.
  std::optional<upstream::Outcome<upstream::FetchPlan>> instead_of(const http::ResponseHead& answer,
                                                                   cache::Time now);
  // For how long all redirects so far stay as they are, at most: http::kForever before the first.
  [[nodiscard]] std::chrono::seconds lasts() const { return lasts_; }

  // The question is given up: no other one follows.
  void abandon() { abandoned_ = true; }
  [[nodiscard]] bool abandoned() const { return abandoned_; }

 private:
  Follow(const policy::Request& request, std::string head);
  upstream::FetchPlan plan() const;

  const std::shared_ptr<const policy::Policy> policy_;
  const bool strict_;
  std::string head_;
  mirrors::Redirects redirects_;
  std::chrono::seconds lasts_ = http::kForever;
  bool abandoned_ = false;
};

}  // namespace proxy::sources
