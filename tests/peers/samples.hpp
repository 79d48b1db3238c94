// Keys, digests and settings for tests of peers.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "digest/squid_digest.hpp"
#include "peers/peer.hpp"

namespace peers::samples {

inline digest::Key key(const std::string& name) {
  return digest::key_of(digest::Method::get, "http://origin.test/" + name);
}

inline digest::SquidDigest digest_of(std::initializer_list<const char*> names,
                                     std::uint32_t capacity = 1000) {
  auto digest = *digest::SquidDigest::empty(capacity, 10);
  for (const char* name : names) digest.insert(key(name));
  return digest;
}

inline std::string body_of(const digest::SquidDigest& digest) {
  const auto bytes = *digest::encode(digest);
  return {bytes.begin(), bytes.end()};
}

inline digest::NativeDigest native_of(std::initializer_list<const char*> names,
                                      std::uint64_t generation = 5, std::uint64_t capacity = 1000) {
  auto filter = *digest::BloomFilter::create({.bits = 12 * capacity,
                                              .hashes = 8,
                                              .derivation = digest::Derivation::salted,
                                              .layout = digest::Layout::plain,
                                              .salt = {1, 2, 3}});
  for (const char* name : names) filter.insert(key(name));
  const auto checksum = digest::checksum_of(filter.bytes());
  return {.epoch = 0xab,
          .generation = generation,
          .capacity = capacity,
          .entries = names.size(),
          .checksum = checksum,
          .filter = std::move(filter)};
}

inline std::string body_of(const digest::NativeDigest& digest) {
  const auto bytes = digest::encode_snapshot(digest);
  return {bytes.begin(), bytes.end()};
}

// The delta that turns `from` into `to`.
inline std::string delta_of(const digest::NativeDigest& from, const digest::NativeDigest& to) {
  const auto bytes = digest::encode_delta(digest::head_of(to), from.generation,
                                          digest::flips_between(from.filter, to.filter));
  return {bytes.begin(), bytes.end()};
}

inline config::PeerSettings peer(const std::string& name, std::uint16_t port = 3128) {
  config::PeerSettings peer;
  peer.name = name;
  peer.host = "127.0.0.1";
  peer.port = port;
  peer.url = "http://127.0.0.1:" + std::to_string(port);
  return peer;
}

// The report after a good poll at `now` whose digest holds these names.
inline PollReport report_of(std::initializer_list<const char*> names, SteadyTime now) {
  PollReport report;
  report.kind = PeerKind::hearsay;
  report.claims = Claims(native_of(names));
  report.confirmed = now;
  report.usable_until = now + std::chrono::seconds{60};
  report.polls.made = 1;
  return report;
}

}  // namespace peers::samples
