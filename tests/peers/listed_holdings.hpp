// The holdings of a cache, listed by a test.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "peers/publisher.hpp"

namespace peers::samples {

class ListedHoldings : public Holdings {
 public:
  void add(const digest::Key& key, digest::RuleMark rule = 0) {
    if (held_.insert({key, rule}).second) changes_.push_back({key, KeyChange::What::added, rule});
  }
  void remove(const digest::Key& key, digest::RuleMark rule = 0) {
    if (held_.erase({key, rule}) > 0) changes_.push_back({key, KeyChange::What::removed, rule});
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
  void list(WallTime, std::vector<digest::Claim>& claims) override {
    ++lists_;
    changes_.clear();
    claims.insert(claims.end(), held_.begin(), held_.end());
  }

 private:
  std::set<digest::Claim> held_;
  std::vector<KeyChange> changes_;
  bool overflowed_ = false;
  int lists_ = 0;
};

}  // namespace peers::samples
