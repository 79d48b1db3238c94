// Which responses that a neighbour holds close at hand are stored here, too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "config/settings.hpp"
#include "digest/key.hpp"
#include "peers/first_byte.hpp"
#include "proxy/cache/asked_counts.hpp"

namespace proxy::cache {
struct Totals;
}  // namespace proxy::cache

namespace proxy::tiers {

// Whether the neighbour is known to answer within 5 ms: what it holds is close at hand.
bool is_near(const peers::FirstByte& neighbour);

// A neighbour's answer that may be stored, as far as its place depends on it.
struct Offer {
  config::Role role = config::Role::sibling;  // of the neighbour
  peers::FirstByte takes = {};                // the neighbour, before this answer
  // How long the neighbour took to answer. Nothing: it waited for its own source, so the time would
  // say nothing about the neighbour.
  std::optional<std::chrono::microseconds> took = {};
  bool renews = false;     // what is stored here: the answer validates or replaces it
  bool long_part = false;  // a part of which the client wants more than can be held back
  std::optional<std::uint64_t> length = {};  // of the whole body, if known
};

// Carries out the setting digest.duplicates. Any thread.
class Placement {
 public:
  // Counts requests in 1/512 of the budget's memory, and charges it. `totals`: of the store, which
  // outlives the object; null: nothing tells what the store loses.
  explicit Placement(cache::Budget& budget, const cache::Totals* totals = nullptr);

  // Records that one of our own clients has requested the URL: not a neighbour, which asks for what
  // we hold.
  void record_asked(const digest::Key& url_key);
  // Whether our clients have requested the URL before, besides the present request.
  [[nodiscard]] bool was_asked_before(const digest::Key& url_key) const {
    return asked_.of(url_key) > 1;
  }
  // Whether the answer is left with the neighbour that gave it: a sibling that is near, and the
  // setting does not store what it gives yet. Never if something is stored that the answer renews,
  // nor for a long part: its client needs the rest of the part if the neighbour fails, and only a
  // stored object has that supplied. While the store loses what no neighbour keeps, a duplicate
  // would take the room of such a response, so Duplicates::second asks for more requests
  // (kWhileLosing). If the answer is to be stored, its requests are counted anew; those that are
  // answered by what is stored count, too.
  bool leaves_there(config::Duplicates setting, const digest::Key& url_key, const Offer& offer);

 private:
  bool store_loses();

  const cache::Totals* const totals_;
  cache::AskedCounts asked_;
  std::atomic<std::uint64_t> lost_{0};  // by the store, when that was looked at last
  std::atomic<unsigned> wary_for_{0};   // so many further answers
};

}  // namespace proxy::tiers
