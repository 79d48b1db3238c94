// How the proxies of one site name themselves: which Hearsay owns a key that none of them claims,
// and how a peer proves that an answer is its own. Pure; every byte of an answer is foreign.
#pragma once

#include <boost/container/static_vector.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "digest/key.hpp"

namespace peers {

// The epoch of a Hearsay's digest is its name within the site: all its neighbours know it. It
// changes with a restart, and when the digest grows.
using Epoch = std::uint64_t;

// The field of a question to a Hearsay that does not claim the key. Its value is the epoch of the
// asker, which is about to fetch the response. The Hearsay answers from its store, or from its own
// fetch. If it has neither, it remembers the asker, and names the asker to the Hearsays that ask
// next. A Hearsay that waits for its own fetch sends a 102 each kHeartbeat. A 102 that has the
// field, with kWanted as its value, is followed by another one.
inline constexpr std::string_view kFetchField = "Hearsay-Fetch";
inline constexpr std::chrono::milliseconds kHeartbeat{250};

// The value of kFetchField. `given_up`: the members of the site that the asker no longer waits for,
// because they failed, fell silent, or take too long. The asked Hearsay names none of them.
struct SiteQuestion {
  static constexpr std::size_t kMostGivenUp = 2;
  // The last place is for a fetcher that the asked Hearsay knows to be lost.
  using GivenUp = boost::container::static_vector<Epoch, kMostGivenUp + 1>;

  Epoch asker = 0;
  GivenUp given_up = {};

  bool operator==(const SiteQuestion&) const = default;
};
std::string to_text(const SiteQuestion& question);  // epochs with commas between them
// Parses foreign text; returns nothing unless it begins with an epoch. Further epochs beyond the
// bound, and what is no epoch, are ignored. A Hearsay that knows only the asker's epoch takes a
// list of several for no question, and denies the key.
std::optional<SiteQuestion> parse_site_question(std::string_view text);

// The field of an answer to a neighbour that names the epoch of our digest (epochs_text()), and so
// proves that the answer is ours. A neighbour asks for it by the same field with kWanted. It is for
// the next hop alone: a proxy neither forwards nor stores it.
inline constexpr std::string_view kEpochField = "Hearsay-Epoch";
inline constexpr std::string_view kWanted = "?1";  // true, RFC 8941 3.3.6

std::string to_text(Epoch epoch);  // 16 hex digits
// Parses foreign text; returns nothing if it is not exactly 16 hex digits.
std::optional<Epoch> parse_epoch(std::string_view text);

// Rendezvous hashing (Thaler and Ravishankar 1998): the key's owner is the member of the site with
// the greatest bid. Each member computes the same owner, as far as each knows the others.
std::uint64_t bid_for(const digest::Key& key, Epoch member);

// What an answer says of the proxy that sent it: the last line of each field, which the nearest
// sender added. Empty: the answer has no such field.
struct SelfNaming {
  std::string_view epochs = {};  // kEpochField
  std::string_view via = {};
  std::string_view cache_status = {};
  std::string_view x_cache = {};         // "HIT from squid-a.test"; Squid up to version 5
  std::string_view x_cache_lookup = {};  // "HIT from squid-a.test:3128"; likewise
};

enum class Proof : std::uint8_t {
  given,
  // The answer names another epoch than the polls have shown, or the peer's name but no epoch: the
  // peer may have begun anew. The next poll tells.
  awaited,
  none,  // somebody else answers at the peer's address
};

// Returns the value of kEpochField: the current epoch and, if there was one, the epoch before. A
// neighbour's last poll may be older than our digest's last rebuild.
std::string epochs_text(Epoch current, Epoch earlier);

// How a peer names itself in its answers to our polls. A Hearsay names the epoch of its digest; its
// other answers must name that epoch, too. A Squid, and a Hearsay whose polls name no epoch, use
// the names in Via, Cache-Status, X-Cache and X-Cache-Lookup: their other answers must have one of
// these names, or name the epoch of the native digest.
class Identity {
 public:
  Identity() = default;
  explicit Identity(const SelfNaming& said);
  // The answer held a native digest of this epoch.
  void learn_epoch_of_digest(Epoch epoch);
  // Returns the identity that a newer poll shows, with what only `before` knows.
  [[nodiscard]] Identity after(const Identity& before) const;

  [[nodiscard]] Proof proof_in(const SelfNaming& said) const;
  // The epoch that the answers name, or that of the native digest.
  [[nodiscard]] std::optional<Epoch> epoch() const { return epoch_; }
  // Whether it has neither an epoch nor a name, so that no answer can be proven.
  [[nodiscard]] bool is_nobody() const { return !epoch_ && names_.empty(); }

  bool operator==(const Identity&) const = default;

 private:
  std::optional<Epoch> epoch_;
  std::optional<Epoch> earlier_;  // the one before: an answer may be older than the last poll
  bool names_epoch_ = false;      // its answers name the epoch, not only its digest
  std::vector<std::string> names_;
};

}  // namespace peers
