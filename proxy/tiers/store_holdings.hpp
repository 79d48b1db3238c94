// The store as the publisher of its digest sees it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "peers/publisher.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::tiers {

// For the control thread, but for the first list().
//
// At a start the publisher lists the holdings before any request is answered, and to make filters
// of a million claims takes a fifth of a second. If the first list is put off, it is empty, and the
// first collect(), which the control thread calls at once, makes the publisher list the holdings
// again. Until then our digest claims nothing.
class StoreHoldings final : public peers::Holdings {
 public:
  enum class FirstList : std::uint8_t { at_once, put_off };
  explicit StoreHoldings(cache::Store& store, FirstList first = FirstList::at_once)
      : store_(store), puts_off_(first == FirstList::put_off) {}

  digest::Collected collect(peers::WallTime now, std::vector<digest::KeyChange>& changes) override {
    if (std::exchange(is_put_off_, false)) return digest::Collected::overflowed;
    return store_.collect(now, changes);
  }

  void list(peers::WallTime now, std::vector<digest::Claim>& claims) override {
    is_put_off_ = std::exchange(puts_off_, false);
    if (!is_put_off_) store_.list_claimed(now, claims);
  }

 private:
  cache::Store& store_;
  bool puts_off_;
  bool is_put_off_ = false;
};

}  // namespace proxy::tiers
