#include "peers/peer.hpp"

#include <algorithm>
#include <utility>

namespace peers {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// "squid", "Squid/5.7": the product (RFC 9110 section 10.1.5) with or without a version.
bool names_product(std::string_view text, std::string_view product) {
  if (text.size() < product.size()) return false;
  const auto same = [](char a, char b) { return a == lower(b); };
  if (!std::equal(product.begin(), product.end(), text.begin(), same)) return false;
  text.remove_prefix(product.size());
  return text.empty() || text.front() == '/' || text.front() == ' ' || text.front() == ')';
}

Kind product_of(std::string_view text) {
  if (names_product(text, "hearsay")) return Kind::hearsay;
  if (names_product(text, "squid")) return Kind::squid;
  return Kind::unknown;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::hearsay:
      return "hearsay";
    case Kind::squid:
      return "squid";
    case Kind::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(State state) {
  switch (state) {
    case State::off:
      return "off";
    case State::waiting:
      return "waiting";
    case State::failing:
      return "failing";
    case State::usable:
      return "usable";
    case State::stale:
      return "stale";
    case State::resting:
      break;
  }
  return "resting";
}

Kind kind_of(std::string_view server, std::string_view via, Kind known) {
  if (const Kind kind = product_of(server); kind != Kind::unknown) return kind;
  // The last comment is that of whoever is nearest to us.
  if (const auto comment = via.rfind('('); comment != std::string_view::npos) {
    const Kind kind = product_of(via.substr(comment + 1));
    if (kind != Kind::unknown) return kind;
  }
  return known;
}

Peer::Peer(std::size_t place, const config::Peer& settings)
    : id(place),
      name(settings.name),
      url(settings.url),
      host(settings.host),
      port(settings.port),
      digest(settings.digest) {}

Claims::Claims(digest::NativeDigest digest)
    : entries(digest.entries),
      native(std::make_shared<const digest::NativeDigest>(std::move(digest))) {
  filter = std::shared_ptr<const digest::BloomFilter>(native, &native->filter);
}

Claims::Claims(digest::SquidDigest digest)
    : filter(std::make_shared<const digest::BloomFilter>(std::move(digest.filter))),
      entries(digest.count) {}

State state_of(const Peer& peer, const Report& report, Time now) {
  if (peer.digest == config::PeerDigest::none) return State::off;
  if (!report.confirmed) return report.failures_in_a_row > 0 ? State::failing : State::waiting;
  if (!report.counts(now)) return State::stale;
  return peer.accuracy.resting(now) ? State::resting : State::usable;
}

}  // namespace peers
