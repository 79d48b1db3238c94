// Which responses that a neighbour holds close at hand are stored here, too.
#pragma once

#include <cstdint>
#include <optional>

#include "config/settings.hpp"
#include "digest/key.hpp"
#include "proxy/cache/asked_counts.hpp"

namespace proxy {

// Carries out the setting digest.duplicates. Any thread.
class Placement {
 public:
  // Counts requests in 1/512 of the budget's memory, and charges it.
  explicit Placement(cache::Budget& budget);

  // Records that one of our own clients has requested the URL: not a neighbour, which asks for what
  // we hold.
  void note_asked(const digest::Key& url_key);
  // Whether our clients have requested the URL before, besides the present request.
  [[nodiscard]] bool was_asked_before(const digest::Key& url_key) const {
    return asked_.of(url_key) > 1;
  }
  // Whether a neighbour's response is stored. If so, its requests are counted anew; those that are
  // answered by what is stored count, too. `length`: of the whole body, if known.
  bool stores_duplicate(config::Duplicates setting, const digest::Key& url_key,
                        std::optional<std::uint64_t> length);

 private:
  cache::AskedCounts asked_;
};

}  // namespace proxy
