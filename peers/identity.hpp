// How a peer proves that an answer is its own. Pure; every byte of an answer is foreign.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peers/site.hpp"

namespace peers {

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
