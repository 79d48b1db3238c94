// The store as the publisher of its digest sees it.
#pragma once

#include <vector>

#include "peers/holdings.hpp"
#include "proxy/cache/store.hpp"

namespace proxy {

// For the control thread.
class StoreHoldings final : public peers::Holdings {
 public:
  explicit StoreHoldings(cache::Store& store) : store_(store) {}

  digest::Collected collect(peers::WallTime now, std::vector<digest::KeyChange>& changes) override {
    return store_.collect(now, changes);
  }

  void list(peers::WallTime now, std::vector<digest::Claim>& claims) override {
    store_.list_claimed(now, claims);
  }

 private:
  cache::Store& store_;
};

}  // namespace proxy
