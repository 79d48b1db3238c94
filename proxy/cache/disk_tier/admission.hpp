// Decides which responses are written to the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "proxy/cache/asked_counts.hpp"

namespace proxy::cache {

// At which request of its URL a response is admitted.
enum class Admit : std::uint8_t { first, second };

// Admits every response, or only those whose URL was requested twice, so that responses requested
// once do not wear the disk. Any thread, but follow() is for one.
class Admission {
 public:
  Admission(Budget& budget, Admit at) : budget_(budget) { follow(at); }

  // From now on decides so. Once requests are counted, their counts stay, and their memory, too.
  void follow(Admit at) {
    const bool on_second = at == Admit::second;
    if (on_second && !counts_) {
      counts_ = std::make_unique<AskedCounts>(budget_, AskedCounts::fitting(budget_.limit()));
    }
    asked_.store(on_second ? counts_.get() : nullptr, std::memory_order_release);
  }

  bool is_on_second() const { return asked() != nullptr; }
  // Records that a client requested the URL.
  void note_asked(const digest::Key& url_key) {
    if (auto* const counts = asked()) counts->note(url_key);
  }
  // Whether a response of this URL is admitted. DiskTier also admits a response that replaces one
  // on disk.
  bool admits(const digest::Key& url_key) const {
    const auto* const counts = asked();
    return !counts || counts->of(url_key) >= 2;
  }
  void count_refused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  AskedCounts* asked() const { return asked_.load(std::memory_order_acquire); }

  Budget& budget_;
  std::unique_ptr<AskedCounts> counts_;
  std::atomic<AskedCounts*> asked_ = nullptr;  // null: every response is admitted
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace proxy::cache
