#include "proxy/sources/attempt.hpp"

#include <utility>

#include "proxy/http/date.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/disown.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr int kMostInterims = 32;
constexpr unsigned kProcessing = 102;
constexpr Failure kMalformed{Failure::Where::upstream, Failure::What::malformed, {}};

}  // namespace

peers::SelfNaming naming_in(const http::ResponseHead& answer) {
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

Hierarchy hierarchy_of(const peers::Peer& claimant) {
  return claimant.role == config::Role::parent ? Hierarchy::parent_hit : Hierarchy::sibling;
}

Attempt::Attempt(SourceAccess& access, FetchPlan&& plan, peers::PeerRef peer, Directory directory,
                 Lead lead)
    : access_(&access),
      peer_(std::move(peer)),
      directory_(std::move(directory)),
      lead_(lead),
      fetch_(std::make_unique<Fetch>(access.upstream, std::move(plan))) {}

Task<Outcome<void>> Attempt::ask(OnInterim interim) {
  times_.request = access_->cache.cache.clock.now();
  begun_ = Steady::now();
  auto answered = co_await fetch_->start(begun_);
  for (int interims = 0; answered; ++interims) {
    const auto head = co_await fetch_->response();
    if (!head) {
      answered = head.error();
    } else if (!(*head)->interim()) {
      // What a neighbour has stored is no live stream.
      if (peer_ && (*head)->icy) answered = kMalformed;
      break;
    } else if (!may_be_interim(**head, interims)) {
      answered = kMalformed;
    } else if ((*head)->status != 100) {  // a GET expects no 100
      waits_itself_ = !!peer_;
      if (!interim) continue;
      auto passed_on = interim(**head);
      co_await passed_on;
    }
  }
  if (answered && peer_) answered = prove();
  waited_ = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begun_);
  times_.response = access_->cache.cache.clock.now();
  times_.ahead = access_->cache.cache.clock.ahead();
  outcome_ = answered;
  note_time();
  note_clock();
  co_return answered;
}

Task<bool> Attempt::body_begins() {
  const bool begun = co_await fetch_->body_begins();
  waited_ = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begun_);
  co_return begun;
}

bool Attempt::may_be_interim(const http::ResponseHead& head, int number) const {
  if (number == kMostInterims) return false;
  return !peer_ || (lead_ == Lead::site && head.status == kProcessing);
}

Outcome<void> Attempt::prove() const {
  using upstream::Errc;
  const auto proof = directory_->proof_of(peer_, naming_in(head()));
  if (proof == peers::Proof::given) return boost::system::in_place_value;
  const bool is_other = proof == peers::Proof::none;
  if (is_other && peer_->accuracy.not_a_proxy(Steady::now())) disown(*access_, peer_);
  return Failure{Failure::Where::upstream, Failure::What::untrusted,
                 is_other ? Errc::not_the_peer : Errc::unproven_peer};
}

// A time-out counts as what it took. Without neighbours, nobody asks for the time.
void Attempt::note_time() const {
  if (!access_->has_neighbours) return;
  const bool tells = outcome_ || outcome_.error().what == Failure::What::timed_out;
  if (peer_ || !tells || fetch_->server().was_known_to_fail()) return;
  // Without the time that servers took which were asked before.
  const auto now = Steady::now();
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(now - fetch_->server().turned_to());
  access_->origin_times.note(fetch_->aimed_at(), took, now);
}

// A response that a cache on the way gives has an old Date, and says so by Age.
void Attempt::note_clock() const {
  if (!outcome_ || peer_ || fetch_->server().parent() || head().fields.has(http::field::age))
    return;
  const auto ours = machine::whole_seconds(times_.arrived());
  const auto date = http::parse_date(head().fields.value(http::field::date), ours);
  if (!date) return;
  access_->shared.origin_clocks.note(fetch_->server().to().host, *date - ours, begun_ + waited_);
}

std::optional<std::uint64_t> Attempt::length() const {
  const auto& framing = fetch_->framing();
  if (framing.kind == http::Framing::Kind::sized) return framing.length;
  if (framing.kind == http::Framing::Kind::none) return 0;
  return std::nullopt;
}

cache::Received Attempt::received(const Request& request, std::string_view url) const {
  return {.url = url,
          .request = request.head.fields,
          .response = head(),
          .times = times_,
          .our_name = access_->shared.name,
          .source = source(),
          .shared = request.may_be_shared(),
          .targets = targets_for(request, request.policy().settings.cache),
          .bounds = request.facts.freshness,
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

Hierarchy Attempt::hierarchy() const {
  if (peer_) return hierarchy_of(*peer_);
  return fetch_->server().parent() ? Hierarchy::parent : Hierarchy::direct;
}

const std::string& Attempt::name_of_proxy() const {
  static const std::string none;
  if (peer_) return peer_->name;
  return fetch_->server().parent() ? fetch_->server().parent()->name : none;
}

Provenance Attempt::provenance() const {
  Provenance from;
  from.source = source();
  from.hierarchy = hierarchy();
  from.host = fetch_->server().to().host;
  from.peer = name_of_proxy();
  if (!peer_ && outcome_) from.fwd_status = head().status;
  return from;
}

Inquiry Attempt::inquiry() const {
  const auto& name = name_of_proxy();
  return {.source = name.empty() ? std::string(kOrigin) : name,
          .result = outcome_ ? "answered" : word(outcome_.error().what),
          .cause = {},
          .waited = waited_};
}

}  // namespace proxy
