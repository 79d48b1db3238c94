#include "tests/soak/hostile_neighbour.hpp"

#include <chrono>
#include <random>
#include <utility>

#include "digest/native_digest.hpp"
#include "tests/soak/world.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kBombEntries = 500'000;

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

digest::BloomFilter filter_of(std::uint64_t bits) {
  return *digest::BloomFilter::create({.bits = bits,
                                       .hashes = 8,
                                       .derivation = digest::Derivation::salted,
                                       .layout = digest::Layout::plain,
                                       .salt = {6, 6, 6}});
}

Bytes snapshot_of(digest::BloomFilter filter, std::uint64_t entries, std::uint64_t generation) {
  const auto checksum = digest::checksum_of(filter.bytes());
  return digest::encode_snapshot({.epoch = 0x666,
                                  .generation = generation,
                                  .capacity = entries,
                                  .entries = entries,
                                  .checksum = checksum,
                                  .filter = std::move(filter)});
}

std::string good_digest(const std::string& origin) {
  constexpr auto kAll = World::kSmall + World::kLarge;
  auto filter = filter_of(12 * kAll);
  for (std::size_t i = 0; i < kAll; ++i) {
    filter.insert(digest::key_of(digest::Method::get, origin + World::path_of(i)));
  }
  return text_of(snapshot_of(std::move(filter), kAll, 1));
}

// Sparse, so that it is sent as gaps, which take longest to decode. Wrong in the last byte, so that
// the reader finds it out at the very end.
std::string late_fault() {
  auto filter = filter_of(100 * kBombEntries);
  std::mt19937_64 random(6);
  for (std::size_t i = 0; i < kBombEntries; ++i) {
    digest::Key key;
    for (auto& byte : key.bytes) byte = static_cast<std::uint8_t>(random());
    filter.insert(key);
  }
  auto bytes = snapshot_of(std::move(filter), kBombEntries, 2);
  bytes.back() ^= 0x55;
  return text_of(bytes);
}

// A header of 104 bytes for a filter of nearly 64 MiB.
std::string large_and_empty() {
  return text_of(snapshot_of(filter_of((std::uint64_t{64} << 23) - 8), 1, 3));
}

std::string garbage() {
  std::string bytes(1 << 20, '\0');
  std::mt19937_64 random(66);
  for (auto& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace

HostileNeighbour::HostileNeighbour(const std::string& origin) {
  const auto good = good_digest(origin);
  digests_in_turn_ = {good, late_fault(), good, large_and_empty(), good, garbage()};
  server_.record_nothing();
  server_.sign_as("hostile");
  server_.otherwise([this](const support::Request& request) {
    if (request.path.starts_with("/digest/")) return next_digest();
    ++false_hits_;
    return support::Reply(504).slow(900ms, 0);
  });
}

support::Reply HostileNeighbour::next_digest() {
  const auto number = digests_++;
  return support::Reply(200, {{"Server", "Hearsay/0.1.0"},
                              {"Content-Type", "application/vnd.hearsay.digest"},
                              {"ETag", '"' + std::to_string(number) + '"'}})
      .body(digests_in_turn_[number % digests_in_turn_.size()]);
}

}  // namespace soak
