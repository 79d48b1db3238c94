// The holdings of a cache, listed by a test.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "peers/holdings.hpp"

namespace peers::samples {

class ListedHoldings : public Holdings {
 public:
  void add(const digest::Key& key) {
    if (held_.insert(key).second) changes_.push_back({key, KeyChange::What::added});
  }
  void remove(const digest::Key& key) {
    if (held_.erase(key) > 0) changes_.push_back({key, KeyChange::What::removed});
  }
  void overflow() {
    changes_.clear();
    overflowed_ = true;
  }
  int lists() const { return lists_; }

  Collected collect(WallTime, std::vector<KeyChange>& changes) override {
    if (std::exchange(overflowed_, false)) return Collected::overflowed;
    changes.insert(changes.end(), changes_.begin(), changes_.end());
    changes_.clear();
    return Collected::complete;
  }
  void list(WallTime, std::vector<digest::Key>& keys) override {
    ++lists_;
    changes_.clear();
    keys.insert(keys.end(), held_.begin(), held_.end());
  }

 private:
  std::set<digest::Key> held_;
  std::vector<KeyChange> changes_;
  bool overflowed_ = false;
  int lists_ = 0;
};

}  // namespace peers::samples
