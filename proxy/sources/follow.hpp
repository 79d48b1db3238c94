// Asks on in place of the client where an answer is not the final one, for hosts of the setting
// mirrors.hosts: follows redirects, and shows a registry the token that it wants.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/freshness.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/mirrors/redirects.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::sources {

struct SourceAccess;

// Whether a refusal with this status, of the URL that the request names, is a 404 for its client:
// what not everybody may have does not exist for a client without credentials, if the site's rule
// says so. The client then asks the server itself, with its own.
bool is_absent_for(const policy::Request& request, unsigned status);
// The head of that 404. Refers to the refusal.
http::ResponseHead absent_head(const http::ResponseHead& refusal);

// One question with its redirects. Outlives the request.
class Follow {
 public:
  using SteadyTime = machine::Clock::SteadyTime;

  // Null: redirects are the client's business. So they are unless the request is a GET or HEAD
  // without a body for a listed host, by a path of ours or for an https URL. Through a proxy,
  // browsers ask for http URLs alone: a page that one host gives under the URL of another one would
  // have the other one's origin. `head`: as it is sent to the first origin; gets the token for it,
  // if one is known.
  static std::unique_ptr<Follow> of(const SourceAccess& access, const policy::Request& request,
                                    std::string& head);

  // `fetch` has the final head of an answer. If that is a redirect to follow, or the 401 of a
  // registry that gives anonymous tokens, asks the target, or once more, by a new fetch, which
  // takes the place of the old one, and returns true: call this again once it has a final head,
  // too. Returns false if the answer counts; the answer may be a redirect that leads out or in a
  // circle, or one that says all that was asked (mirrors::LinkedFile). A registry's refusal of a
  // request without credentials is a failure (Errc::needs_credentials), since its body tells that
  // there is an image. All questions together get one FetchPlan::first_byte from `begun` on.
  net::Task<upstream::Outcome<bool>> go_on(SourceAccess& access,
                                           std::unique_ptr<upstream::Fetch>& fetch,
                                           SteadyTime begun);

  // After go_on() has returned false: the answer's head as that of an answer to the first URL
  // (mirrors::SaidOnTheWay). To a request without credentials, a refusal is a 404 if the site's
  // rule says so. Null: the head stays as it is.
  [[nodiscard]] const http::ResponseHead* head() const { return head_ ? &*head_ : nullptr; }
  // For how long the answer may be fresh, counted as its own lifetime is: http::kForever if no
  // redirect was followed.
  [[nodiscard]] std::chrono::seconds lasts() const { return said_.lasts; }

 private:
  // A question to a registry, which may want a token.
  struct Anonymous {
    mirrors::ImagePart image;
    std::string token = {};  // that was sent; empty: none
    bool is_new = false;     // the token was got for this question
  };
  // The clients for whom answers are.
  struct Audience {
    bool shows_credentials;  // the last URL gets them
    bool by_class;           // a rule says that they are for everybody
    bool stores_cookies;     // likewise, with Set-Cookie
    bool hides_denied;       // a refusal is a 404
  };
  Follow(const SourceAccess& access, const policy::Request& request, std::string& head);
  static Audience audience_of(const policy::Request& request);
  bool follows(const http::ResponseHead& answer, const cache::Times& times);
  void record(const http::ResponseHead& redirect, const cache::Times& times);
  void finish(const http::ResponseHead& answer, const cache::Times& times);
  void add_vary(const http::ResponseHead& answer);
  void write_anew(const http::ResponseHead& answer);
  net::Task<upstream::Outcome<bool>> gets_token(SourceAccess& access,
                                                std::unique_ptr<upstream::Fetch>& fetch);
  [[nodiscard]] bool is_hidden(const http::ResponseHead& answer) const;
  upstream::FetchPlan plan() const;

  const std::shared_ptr<const policy::Policy> policy_;
  const http::Targets targets_;
  Audience audience_;
  std::optional<Anonymous> anonymous_;
  std::string asked_;  // the head that is sent
  mirrors::Redirects redirects_;
  mirrors::SaidOnTheWay said_;
  std::optional<mirrors::LinkedFile> linked_;
  cache::Time until_ = cache::Time::max();  // all redirects so far stay as they are
  mirrors::WrittenAnew anew_;               // head_ refers to it
  std::optional<http::ResponseHead> head_;
};

}  // namespace proxy::sources
