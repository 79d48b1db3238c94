#include "peers/peer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/text.hpp"
#include "digest/base64.hpp"
#include "digest/crc32c.hpp"

namespace peers {
namespace {

// Whether a product (RFC 9110 section 10.1.5) has this name, with or without a version: "squid",
// "Squid/5.7".
bool names_product(std::string_view text, std::string_view product) {
  if (config::lower_case(text.substr(0, product.size())) != product) return false;
  text.remove_prefix(product.size());
  return text.empty() || text.find_first_of("/ )") == 0;
}

PeerKind product_of(std::string_view text) {
  if (names_product(text, "hearsay")) return PeerKind::hearsay;
  if (names_product(text, "squid")) return PeerKind::squid;
  return PeerKind::unknown;
}

// A CRC, since entries on disk keep the tag, and std::hash may differ from build to build.
std::uint8_t tag_of(std::string_view host, std::uint16_t port) {
  const auto place = std::string(host) + ':' + std::to_string(port);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(place.data());
  // 0 is the tag of the origin, and the tag has seven bits where it is stored.
  return static_cast<std::uint8_t>(digest::crc32c({bytes, place.size()}) % 127 + 1);
}

// The scheme and the authority of a URL.
std::string_view origin_of(std::string_view url) {
  const auto scheme_end = url.find("://");
  if (scheme_end == url.npos) return {};
  return url.substr(0, url.find('/', scheme_end + 3));
}

}  // namespace

std::string_view to_string(PeerKind kind) {
  static constexpr std::array<std::string_view, 3> kTexts{"unknown", "hearsay", "squid"};
  return digest::text_in(kTexts, kind);
}

std::string_view to_string(PeerState state) {
  static constexpr std::array<std::string_view, 8> kTexts{"off",   "waiting", "failing", "usable",
                                                          "stale", "resting", "trying",  "down"};
  return digest::text_in(kTexts, state);
}

Reason reason_of(PeerState state, Reason last) {
  if (state == PeerState::down) return Reason::poll_failed;
  return state == PeerState::resting || state == PeerState::trying ? last : Reason::none;
}

PeerKind kind_of(std::string_view server, std::string_view via, PeerKind known) {
  if (const PeerKind kind = product_of(server); kind != PeerKind::unknown) return kind;
  // The last comment was added by the nearest proxy.
  if (const auto comment = via.rfind('('); comment != std::string_view::npos) {
    const PeerKind kind = product_of(via.substr(comment + 1));
    if (kind != PeerKind::unknown) return kind;
  }
  return known;
}

Peer::Peer(std::size_t index, const config::PeerSettings& settings,
           std::shared_ptr<PeerRecord> earlier)
    : PeerSettings(settings),
      id(index),
      for_all(settings.hosts.only.empty() && settings.hosts.never.empty()),
      authorization(basic_credentials(settings.login)),
      tag(tag_of(host, port)),
      record(std::move(earlier)),
      accuracy(record->accuracy),
      denials(record->denials),
      suspicion(record->suspicion) {}

bool Peer::is_named_by(const config::PeerSettings& settings) const {
  return name == settings.name && host == settings.host && port == settings.port &&
         tls == settings.tls;
}

std::string basic_credentials(std::string_view login) {
  if (login.empty()) return {};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(login.data());
  return "Basic " + digest::to_base64({bytes, login.size()});
}

Claims::Claims(digest::NativeDigest digest)
    : entries(digest.entries),
      native(std::make_shared<const digest::NativeDigest>(std::move(digest))) {
  // It owns the digest through its filter: a reader of either keeps both.
  filter = std::shared_ptr<const digest::BloomFilter>(native, &native->filter);
}

Claims::Claims(digest::SquidDigest digest)
    : filter(std::make_shared<const digest::BloomFilter>(std::move(digest.filter))),
      entries(digest.count) {}

// The first reason counts: a digest that is too old tells nothing, whatever the peer does.
PeerState state_of(const Peer& peer, const PollReport& report, SteadyTime now) {
  if (peer.digest == config::PeerDigest::none) return PeerState::off;
  if (!report.confirmed)
    return report.failures_in_a_row > 0 ? PeerState::failing : PeerState::waiting;
  if (!report.counts(now)) return PeerState::stale;
  if (peer.accuracy.resting(now)) return PeerState::resting;
  if (report.failures_in_a_row >= kDownAfter) return PeerState::down;
  return peer.accuracy.standing().on_probation ? PeerState::trying : PeerState::usable;
}

void Suspicion::origin_varies(std::string_view url, SteadyTime now) {
  const auto origin = origin_of(url);
  const threads::MutexLock lock(mutex_);
  std::erase_if(varying_, [&](const Varying& one) { return one.origin == origin; });
  varying_.push_back({std::string(origin), now});
  if (varying_.size() > kMostOrigins) varying_.pop_front();
}

bool Suspicion::may_testify(std::string_view url, SteadyTime now) const {
  const auto origin = origin_of(url);
  const threads::MutexLock lock(mutex_);
  return std::none_of(varying_.begin(), varying_.end(), [&](const Varying& one) {
    return now < one.seen + kWhile && one.origin == origin;
  });
}

Suspicion::Doubt::Doubt(Suspicion& suspicion, std::string_view url)
    : suspicion_(suspicion), origin_(origin_of(url)) {
  const threads::MutexLock lock(suspicion.mutex_);
  auto& all = suspicion.in_doubt_;
  followed_up_ = all.size() < kMostDoubts && std::count(all.begin(), all.end(), origin_) == 0;
  if (followed_up_) all.push_back(origin_);
}

Suspicion::Doubt::~Doubt() {
  const threads::MutexLock lock(suspicion_.mutex_);
  if (followed_up_) std::erase(suspicion_.in_doubt_, origin_);
}

}  // namespace peers
