#include "proxy/sources/attempt.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "proxy/http/date.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/checking.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::sources {

using net::Task;

namespace {

// RFC 9110 15.2 allows any number of interim responses; an origin that only sends those would hold
// the request for ever.
constexpr int kMostInterims = 32;
constexpr unsigned kProcessing = 102;
constexpr upstream::Failure kMalformed{
    upstream::Failure::Where::upstream, upstream::Failure::What::malformed, {}};
constexpr std::chrono::milliseconds kDrainWait{20};

std::chrono::microseconds whole_us(Attempt::Steady::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time);
}

// Shared by the two coroutines that wait, since each may end first.
struct Rest {
  Attempt attempt;
  std::function<bool(Attempt&)> fits;
  Attempt* silent;  // null: the race is over
  bool won = false;
};

Task<void> ask_for(std::shared_ptr<Rest> rest) {
  try {
    const auto answered = co_await rest->attempt.ask();
    rest->won = answered && rest->silent && rest->fits(rest->attempt);
  } catch (const std::exception& bug) {
    spdlog::error("a question for the rest of a body failed inside this proxy: {}", bug.what());
  }
  if (rest->won) rest->silent->abandon();  // ends the wait for it
}

// An answer found by a redirect lasts no longer than the redirect, unless a rule says so.
cache::FreshnessBounds bounded(cache::FreshnessBounds bounds, const Follow* follow) {
  const bool is_by_rule = bounds.least > std::chrono::seconds(0);
  if (follow && !is_by_rule) bounds.most = std::min(bounds.most, follow->lasts());
  return bounds;
}

}  // namespace

peers::SelfNaming self_naming_in(const http::ResponseHead& answer) {
  peers::SelfNaming said;
  for (const auto& line : answer.fields) {
    if (line.id == http::field::via) said.via = line.value;
    if (line.id != http::field::unknown) continue;
    if (http::same_word(line.name, peers::kEpochField)) said.epochs = line.value;
    if (http::same_word(line.name, "Cache-Status")) said.cache_status = line.value;
    if (http::same_word(line.name, "X-Cache")) said.x_cache = line.value;
    if (http::same_word(line.name, "X-Cache-Lookup")) said.x_cache_lookup = line.value;
  }
  return said;
}

observe::Hierarchy hierarchy_of(const peers::Peer& claimant) {
  return claimant.role == config::Role::parent ? observe::Hierarchy::parent_hit
                                               : observe::Hierarchy::sibling;
}

Attempt::Attempt(SourceAccess& access, upstream::FetchPlan&& plan, const policy::Request& request)
    : access_(&access),
      lead_(Lead::claim),
      follow_(Follow::of(access, request, plan.head)),
      fetch_(std::make_unique<upstream::Fetch>(access.upstream, std::move(plan))) {}

Attempt::Attempt(SourceAccess& access, upstream::FetchPlan&& plan, peers::PeerRef peer,
                 Directory directory, Lead lead)
    : access_(&access),
      peer_(std::move(peer)),
      directory_(std::move(directory)),
      lead_(lead),
      fetch_(std::make_unique<upstream::Fetch>(access.upstream, std::move(plan))) {}

Task<upstream::Outcome<void>> Attempt::ask(OnInterim interim) {
  times_.request = access_->cache.cache.clock.now();
  begun_ = access_->now();
  auto answered = co_await fetch_->start(begun_);
  for (int interims = 0; answered; ++interims) {
    const auto head = co_await fetch_->response();
    if (!head) {
      answered = head.error();
    } else if (!(*head)->interim()) {
      // What a neighbour has stored is no live stream.
      if (peer_ && (*head)->icy) answered = kMalformed;
      if (!follow_) break;
      const auto goes_on = co_await follow_->go_on(*access_, fetch_, begun_);
      if (goes_on && !*goes_on) break;
      if (!goes_on) answered = goes_on.error();
    } else if (!may_be_interim(**head, interims)) {
      answered = kMalformed;
    } else if ((*head)->status != 100) {  // a GET expects no 100 (RFC 9110 15.2.1)
      waits_itself_ = !!peer_;
      if (!interim) continue;
      auto passed_on = interim(**head);
      co_await passed_on;
    }
  }
  if (answered && peer_) answered = prove();
  waited_ = whole_us(access_->now() - begun_);
  // Read after the head, whatever came before: RFC 9111 4.2.3 counts the age from here.
  times_.response = access_->cache.cache.clock.now();
  times_.ahead = access_->cache.cache.clock.ahead();
  outcome_ = answered;
  record_origin();
  co_return answered;
}

Task<bool> Attempt::body_begins() {
  const bool begun = co_await fetch_->body_begins();
  waited_ = whole_us(access_->now() - begun_);
  co_return begun;
}

bool Attempt::may_be_interim(const http::ResponseHead& head, int number) const {
  if (number == kMostInterims) return false;
  return !peer_ || (lead_ == Lead::site && head.status == kProcessing);
}

upstream::Outcome<void> Attempt::prove() const {
  using upstream::Errc;
  const auto proof = directory_->proof_of(peer_, self_naming_in(head()));
  if (proof == peers::Proof::given) return boost::system::in_place_value;
  const bool is_other = proof == peers::Proof::none;
  if (is_other && peer_->accuracy.not_a_proxy(access_->now())) disown(*access_, peer_);
  return upstream::Failure{upstream::Failure::Where::upstream, upstream::Failure::What::untrusted,
                           is_other ? Errc::not_the_peer : Errc::unproven_peer};
}

// Records how long the origin took, and what its Date says of our clock.
void Attempt::record_origin() const {
  if (peer_) return;
  // A time-out counts as what it took. Without neighbours, nobody asks for the time.
  const bool tells = outcome_ || outcome_.error().what == upstream::Failure::What::timed_out;
  auto& server = fetch_->server();
  if (access_->has_neighbours && tells && !server.was_known_to_fail()) {
    // Without the time that servers took which were asked before.
    const auto now = access_->now();
    access_->origin_times.record(fetch_->aimed_at(), whole_us(now - server.turned_to()), now);
  }
  // A response that a cache on the way gives has an old Date, and says so by Age (RFC 9111 4.2.3).
  if (!outcome_ || server.parent() || head().fields.has(http::field::age)) return;
  const auto ours = machine::whole_seconds(times_.arrived());
  const auto date = http::parse_date(head().fields.value(http::field::date), ours);
  if (!date) return;
  access_->shared.servers.clocks.record(server.to().host, *date - ours, begun_ + waited_);
}

std::optional<std::uint64_t> Attempt::length() const {
  const auto& framing = fetch_->framing();
  if (framing.kind == http::Framing::Kind::sized) return framing.length;
  if (framing.kind == http::Framing::Kind::none) return 0;
  return std::nullopt;
}

cache::Received Attempt::received(const policy::Request& request, std::string_view url) const {
  // By its class the response lasts from its arrival here on. Two neighbours that gave it to each
  // other could keep it for ever.
  const auto& bounds = request.facts.freshness;
  const bool begins_anew = peer_ && bounds.by_class && bounds.least < http::kForever;
  return {.url = url,
          .request = request.head.fields,
          .response = head(),
          .times = times_,
          .our_name = access_->shared.name,
          .source = source(),
          .shared = request.may_be_shared() && !begins_anew,
          .targets = targets_for(request, request.policy().settings.cache),
          .bounds = bounded(request.facts.freshness, follow_.get()),
          .giver = giver(),
          .rule = request.facts.rule,
          // What a neighbour gives to those who have the rule, it may have by the rule alone.
          .by_rule_alone = request.facts.open_to_all && (request.facts.has_credentials || peer_)};
}

cache::SourceKind Attempt::source() const {
  if (peer_) return cache::SourceKind::sibling;
  return fetch_->server().parent() ? cache::SourceKind::parent : cache::SourceKind::origin;
}

cache::Giver Attempt::giver() const {
  if (!peer_) return {};
  return {peer_->tag, peer_->trust == config::Trust::guest};
}

observe::Hierarchy Attempt::hierarchy() const {
  if (peer_) return hierarchy_of(*peer_);
  return fetch_->server().parent() ? observe::Hierarchy::parent : observe::Hierarchy::direct;
}

const std::string& Attempt::name_of_proxy() const {
  static const std::string none;
  if (peer_) return peer_->name;
  return fetch_->server().parent() ? fetch_->server().parent()->name : none;
}

fill::Provenance Attempt::provenance() const {
  fill::Provenance from;
  from.source = source();
  from.hierarchy = hierarchy();
  from.host = fetch_->server().to().host;
  from.peer = name_of_proxy();
  if (!peer_ && outcome_) from.fwd_status = head().status;
  return from;
}

observe::Inquiry Attempt::inquiry() const {
  const auto& name = name_of_proxy();
  return {.source = name.empty() ? std::string(observe::kOrigin) : name,
          .result = outcome_ ? "answered" : upstream::word(outcome_.error().what),
          .cause = {},
          .waited = waited_};
}

upstream::Failure wrong_content(const Attempt& attempt, std::string_view url) {
  const auto from = attempt.provenance();
  // A query may be a signature.
  spdlog::warn("{}: the body from {} does not have the digest that names it; it is not stored",
               url.substr(0, url.find('?')), from.peer.empty() ? from.host : from.peer);
  return {upstream::Failure::Where::upstream, upstream::Failure::What::malformed,
          upstream::Errc::wrong_content};
}

Task<void> drain_body(SourceAccess& access, upstream::Fetch& fetch) {
  const net::PooledBuffer scratch(access.upstream.buffers);
  const auto until = access.now() + kDrainWait;
  while (!fetch.body_finished() && access.now() < until) {
    const auto read = co_await fetch.body(scratch.all(), kDrainWait);
    if (!read) break;
  }
  // Also after a body that is longer: its connection is then closed.
  fetch.finish();
}

Task<upstream::Outcome<void>> skip_body(SourceAccess& access, upstream::Fetch& fetch,
                                        std::uint64_t bytes, std::chrono::milliseconds idle) {
  const net::PooledBuffer scratch(access.upstream.buffers);
  while (bytes > 0) {
    const auto size = std::min<std::uint64_t>(bytes, net::BufferPool::kSize);
    const auto into = net::asio::buffer(scratch.all(), static_cast<std::size_t>(size));
    const auto read = co_await fetch.body(into, idle);
    if (!read) co_return read.error();
    if (*read == 0)
      co_return upstream::Failure{
          upstream::Failure::Where::upstream, upstream::Failure::What::cut, {}};
    bytes -= *read;
  }
  co_return boost::system::in_place_value;
}

Task<upstream::Outcome<std::optional<std::string>>> read_short_body(SourceAccess& access,
                                                                    upstream::Fetch& fetch,
                                                                    std::size_t most,
                                                                    peers::SteadyTime end) {
  const net::PooledBuffer buffer(access.upstream.buffers);
  std::string body;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - access.now());
    if (left <= left.zero())
      co_return upstream::Failure{
          upstream::Failure::Where::upstream, upstream::Failure::What::timed_out, {}};
    const auto read = co_await fetch.body(buffer.all(), left);
    if (!read) co_return read.error();
    if (*read == 0) break;
    if (body.size() + *read > most) co_return std::optional<std::string>();
    body.append(buffer.data(), *read);
  }
  fetch.finish();
  co_return std::optional(std::move(body));
}

// A neighbour that has the body, and is silent, is at fault; one that fetches it may only wait, as
// the origin would have us wait.
bool is_silent(const upstream::Outcome<void>& body, const Attempt& attempt) {
  return !body && body.error().what == upstream::Failure::What::timed_out && attempt.peer() &&
         attempt.waits_itself();
}

Task<std::optional<Attempt>> race_for_rest(SourceAccess& access, Attempt& silent, Attempt rest,
                                           std::function<bool(Attempt&)> fits,
                                           std::chrono::milliseconds idle) {
  Rest begun{std::move(rest), std::move(fits), &silent};
  const auto raced = net::make_shared_in_frames<Rest>(std::move(begun));
  // The other coroutine may outlive this one, which an abandoned request destroys where it waits.
  // Ends the race whatever happens.
  struct End {
    Rest& of;
    ~End() {
      of.silent = nullptr;
      if (!of.won) of.attempt.abandon();
    }
  } const end{*raced};
  access.hedges.count_rest();
  net::spawn(access.executor, ask_for(raced));
  co_await silent.fetch().body_goes_on(idle);
  if (!raced->won) co_return std::nullopt;
  co_return std::move(raced->attempt);
}

}  // namespace proxy::sources
