// Refusals and errors: a status, and one line of text that says why.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "proxy/cache/judge.hpp"
#include "proxy/client/client.hpp"
#include "proxy/policy/access.hpp"
#include "proxy/policy/error_pages.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::reply {

struct Refusal {
  unsigned status = 500;
  std::string reason;  // for a person
  observe::Tag tag = observe::Tag::none;
  http::CacheStatus cache_status;
  std::string_view allow = {};  // of a 405: the allowed methods
  std::string challenge = {};   // of a 407: Proxy-Authenticate
  std::chrono::seconds retry_after{0};
  bool by_list = false;  // the setting access.block
  // Advice for the person at a browser. Empty: the advice for all refusals of this kind.
  std::string_view advice = {};

  static Refusal loop();
  // The 504 for only-if-cached. `departed` is what the store says of the key. The detail is "gone"
  // if the response has left our digest since `closed`, when the digest that claims it was closed,
  // and "unknown", without `fwd`, if that is not known. Without `closed`: if the response has left
  // lately.
  static Refusal not_held(const cache::Verdict& verdict, const cache::Found& found,
                          const cache::Departed& departed = {},
                          std::optional<cache::Time> closed = std::nullopt);
  static Refusal offline(http::Forward reason);
  static Refusal forbidden(std::string reason);
  static Refusal denied(const policy::NoAccess& no_access);
  static Refusal guessed_too_often();  // wrong passwords: 429
  static Refusal too_many_checks();    // of passwords: 503
  static Refusal bad(std::string reason);
  static Refusal malformed(http::HeadError error);
  static Refusal no_tunnel();  // the connection carries other exchanges: 501
  static Refusal draining();   // this proxy is about to end: 503
  static Refusal no_room();    // too many connections: 503
  static Refusal too_many();   // too many requests of this client under way: 429
  // The refusal of a CONNECT whose tunnel a parent does not open. The client gets the parent's
  // status.
  static Refusal refused_by_parent(unsigned status, const std::string& parent);
  static Refusal failure(const upstream::Failure& failure);
};

// Answers with the refusal. With only-if-cached, every refusal of a well-formed request has status
// 504: a Squid that asks us as its sibling would pass any other status on to its user. If the cache
// was not consulted, the detail then begins with "refused/".
net::Task<void> refuse(client::Client& client, const policy::Request& request, Refusal refusal);
// Answers with an upstream's failure. `reason`: why the request went forward.
net::Task<void> refuse(client::Client& client, const policy::Request& request,
                       upstream::Failure failure, http::Forward reason = http::Forward::none);
// Why the client must not get an answer with this status: the client asks by a mirror path, and the
// answer is a redirect that was not followed (sources::Follow). Its Location may be relative to the
// other server, and would here name a path of ours.
std::optional<upstream::Failure> why_kept_back(const client::Client& client, unsigned status);

// Refuses a request that could not be read to its end, and closes the connection: the beginning of
// the next request is unknown.
net::Task<void> refuse_unread(client::Client& client, Refusal refusal);
net::Task<void> refuse_malformed(client::Client& client, http::HeadError error);

// The functions below, in error_page.cpp, put a refusal into words.

// Whether the client's Accept names text/html.
bool is_browser(const policy::Request& request);

// Which page of a site tells of this refusal. Pure.
policy::ErrorPage page_of(const Refusal& refusal);

// The whole response, with the status and the Cache-Status of the refusal: a page for a browser,
// else the line "cache-a: REASON; URL: <URL>; time: TIME. ADVICE Whom to ask: CONTACT". The proxy's
// own pages, and answers to only-if-cached, say the reason alone. `request`: null if it could not
// be read.
OwnMessage error_message(const client::Client& client, const policy::Request* request,
                         const Refusal& refusal);

}  // namespace proxy::reply
