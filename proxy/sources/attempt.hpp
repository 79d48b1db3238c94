// Asks one source for one response: sends the request, and reads the head of the answer. Also skips
// bytes of a body that no reader wants, and races a silent body with another source.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "peers/directory.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/sources/candidates.hpp"
#include "proxy/sources/follow.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::policy {
struct Request;
}

namespace proxy::sources {

struct SourceAccess;

// The names by which the proxy that sent the answer calls itself.
peers::SelfNaming self_naming_in(const http::ResponseHead& answer);

// How the access log names the source of a response that a peer gave and its digest claims.
observe::Hierarchy hierarchy_of(const peers::Peer& claimant);

// Order: ask(), then the body from fetch(). An attempt may be moved while its coroutine does not
// wait. Two attempts may wait at once. Dropping an attempt closes its connection. Belongs to one
// thread, whose worker outlives it.
class Attempt {
 public:
  using Steady = std::chrono::steady_clock;
  using OnInterim = std::function<net::Soon<void>(const http::ResponseHead&)>;

  using Directory = std::shared_ptr<const peers::PeerDirectory>;

  // Asks the origin of the request, by the plan's route, and follows its redirects if they are not
  // the client's business (Follow::of).
  Attempt(SourceAccess& access, upstream::FetchPlan&& plan, const policy::Request& request);
  // Asks `peer`, which is of `directory`.
  Attempt(SourceAccess& access, upstream::FetchPlan&& plan, peers::PeerRef peer,
          Directory directory, Lead lead = Lead::claim);

  // Sends the request, and waits for the head of the final answer. Records how long an origin took
  // (SourceAccess::origin_times). `interim`, if set, is called with each interim head other than
  // 100, and is awaited.
  //
  // These are failures, too:
  // - More than 32 interim heads.
  // - An interim head of a neighbour, because a neighbour sends a stored response at once. With
  //   Lead::site a 102 is none: the neighbour says by it that it waits for its own fetch.
  // - An answer at a neighbour's address that does not prove to be the neighbour's
  //   (peers/site.hpp): Errc::unproven_peer if the next poll may prove it, else Errc::not_the_peer.
  //   After not_the_peer the neighbour rests, and its responses that no origin has confirmed are
  //   dropped.
  net::Task<upstream::Outcome<void>> ask(OnInterim interim = nullptr);
  // After ask() has succeeded: waits for the first bytes of the body (Fetch::body_begins), which
  // then count as the first byte. Returns whether they are here.
  net::Task<bool> body_begins();
  // Makes a wait for the source fail soon. Called from outside the coroutine that waits.
  void abandon() { fetch_->abandon(); }

  // How ask() ended. A failure before that.
  [[nodiscard]] const upstream::Outcome<void>& outcome() const { return outcome_; }
  // The answer. Call these only after ask() has succeeded.
  [[nodiscard]] const http::ResponseHead& head() const {
    const auto* const of_first = follow_ ? follow_->head() : nullptr;
    return of_first ? *of_first : fetch_->head();
  }
  [[nodiscard]] std::optional<std::uint64_t> length() const;  // of the body, if known
  [[nodiscard]] upstream::Fetch& fetch() { return *fetch_; }
  // The answer in the form that the store needs. `url`: canonical. The result refers to the
  // attempt, the request and `url`.
  [[nodiscard]] cache::Received received(const policy::Request& request,
                                         std::string_view url) const;

  [[nodiscard]] const peers::PeerRef& peer() const { return peer_; }  // null: the origin
  [[nodiscard]] Lead lead() const { return lead_; }
  // Whether the neighbour has said, by an interim head, that it waits for a source of its own. If
  // so, its time to first byte and the end of its body say nothing about the neighbour.
  [[nodiscard]] bool waits_itself() const { return waits_itself_; }
  [[nodiscard]] cache::SourceKind source() const;
  [[nodiscard]] cache::Giver giver() const;
  [[nodiscard]] observe::Hierarchy hierarchy() const;
  // The source's name, and the status if an origin has answered.
  [[nodiscard]] fill::Provenance provenance() const;
  [[nodiscard]] observe::Inquiry inquiry() const;
  [[nodiscard]] const cache::Times& times() const { return times_; }
  [[nodiscard]] Steady::time_point begun() const { return begun_; }  // just before the request
  // The time from the request to the head, to the first bytes of the body if body_begins() has
  // waited for them, or to the failure.
  [[nodiscard]] std::chrono::microseconds waited() const { return waited_; }

 private:
  [[nodiscard]] const std::string& name_of_proxy() const;  // empty: an origin is asked
  [[nodiscard]] bool may_be_interim(const http::ResponseHead& head, int number) const;
  [[nodiscard]] upstream::Outcome<void> prove() const;
  void record_origin() const;

  SourceAccess* access_;
  peers::PeerRef peer_;
  Directory directory_;  // of peer_
  Lead lead_;
  bool waits_itself_ = false;
  std::unique_ptr<Follow> follow_;  // null: no redirect is followed
  std::unique_ptr<upstream::Fetch> fetch_;
  cache::Times times_{};
  Steady::time_point begun_{};
  std::chrono::microseconds waited_{};
  upstream::Outcome<void> outcome_ =
      upstream::Failure{upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}};
};

// The failure of a body that does not have the digest that names it. Logs it. `url`: under which it
// was to be stored.
upstream::Failure wrong_content(const Attempt& attempt, std::string_view url);

// Reads the rest of the body for at most 20 ms, then finishes the fetch. A refusal's body is short
// and mostly here already. Once the body is read, the connection can serve another request.
net::Task<void> drain_body(SourceAccess& access, upstream::Fetch& fetch);

// Reads past the first `bytes` of the body. A shorter body is the failure `cut`. `idle`: the
// longest wait for the next bytes.
net::Task<upstream::Outcome<void>> skip_body(SourceAccess& access, upstream::Fetch& fetch,
                                             std::uint64_t bytes, std::chrono::milliseconds idle);

// Reads the whole body, however slowly it arrives, until `end`. Nothing: it has more bytes than
// `most`.
net::Task<upstream::Outcome<std::optional<std::string>>> read_short_body(SourceAccess& access,
                                                                         upstream::Fetch& fetch,
                                                                         std::size_t most,
                                                                         peers::SteadyTime end);

// Whether reading the body has ended because a neighbour that fetches it itself is silent. The
// connection is still usable if the wait has lasted at least 1 s: see Fetch::body().
bool is_silent(const upstream::Outcome<void>& body, const Attempt& attempt);

// Asks `rest`, and waits meanwhile for more of the body of `silent`, for at most `idle`. Returns
// `rest` if its answer comes first and `fits`: then `silent` is abandoned. Else returns nothing and
// gives `rest` up: the body of `silent` goes on, has failed, or is still silent.
net::Task<std::optional<Attempt>> race_for_rest(SourceAccess& access, Attempt& silent, Attempt rest,
                                                std::function<bool(Attempt&)> fits,
                                                std::chrono::milliseconds idle);

}  // namespace proxy::sources
