// Browsers that are signed in to the dashboard as administrator.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::pages {

// A ticket signs one browser in, once. The browser then has a badge, which it shows with each
// request, and which counts from the browser's address alone: a browser shows its cookies to all
// servers of a host, whatever their port. Both are random and end by themselves. If there are too
// many of a kind, the oldest ends. Known to this process alone: a restart signs everybody out. Any
// thread.
class Badges {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kTicketLasts{10};
  static constexpr std::chrono::hours kBadgeLasts{12};
  static constexpr std::size_t kMostTickets = 16;
  static constexpr std::size_t kMostBadges = 64;
  static constexpr std::size_t kLength = 40;  // hex digits of 160 random bits

  // Throws std::system_error if the system has no random bytes.
  [[nodiscard]] std::string issue_ticket(Time now);
  // Returns a badge for the browser at `from`, and ends the ticket. Nothing: there is no such
  // ticket, or not any more.
  std::optional<std::string> redeem(std::string_view ticket, const config::Address& from, Time now);
  [[nodiscard]] bool counts(std::string_view badge, const config::Address& from, Time now) const;
  // The browser signs out.
  void remove(std::string_view badge);
  // Ends all tickets and badges. Returns the number of badges that counted.
  std::size_t revoke(Time now);

 private:
  struct Secret {
    std::string text;
    Time ends;
    config::Address from{};  // of a badge
  };
  using Secrets = std::vector<Secret>;  // the oldest first

  static Secrets::const_iterator find(const Secrets& secrets, std::string_view text);
  static std::string add(Secrets& secrets, std::size_t most, Time ends,
                         const config::Address& from = {});

  mutable threads::Mutex mutex_;
  Secrets tickets_ GUARDED_BY(mutex_);
  Secrets badges_ GUARDED_BY(mutex_);
};

}  // namespace proxy::pages
