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

  peers::Collected collect(peers::WallTime now, std::vector<peers::KeyChange>& changes) override {
    collected_.clear();
    const auto how = store_.collect(now, collected_);
    for (const auto& change : collected_) {
      const bool added = change.what == cache::KeyChange::What::added;
      changes.push_back(
          {change.key, added ? peers::KeyChange::What::added : peers::KeyChange::What::removed});
    }
    return how == cache::Collected::complete ? peers::Collected::complete
                                             : peers::Collected::overflowed;
  }

  void list(peers::WallTime now, std::vector<digest::Key>& keys) override {
    store_.list_claimed(now, keys);
  }

 private:
  cache::Store& store_;
  std::vector<cache::KeyChange> collected_;
};

}  // namespace proxy
