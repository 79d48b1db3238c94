#include "proxy/pages/badges.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>

#include "digest/random_words.hpp"

namespace proxy::pages {
namespace {

std::string random_secret() {
  const auto random = digest::unpredictable();
  std::string text;
  while (text.size() < Badges::kLength) text += fmt::format("{:016x}", random());
  text.resize(Badges::kLength);
  return text;
}

}  // namespace

// Compares all bytes with all secrets, so that the time does not tell how much of a guess is right.
Badges::Secrets::const_iterator Badges::find(const Secrets& secrets, std::string_view text) {
  auto found = secrets.end();
  if (text.size() != kLength) return found;
  for (auto one = secrets.begin(); one != secrets.end(); ++one) {
    if (CRYPTO_memcmp(one->text.data(), text.data(), kLength) == 0) found = one;
  }
  return found;
}

std::string Badges::add(Secrets& secrets, std::size_t most, Time ends,
                        const config::Address& from) {
  // The oldest gives way. To refuse the new one would lock out whoever may sign in.
  if (secrets.size() >= most) secrets.erase(secrets.begin());
  secrets.push_back({random_secret(), ends, from});
  return secrets.back().text;
}

std::string Badges::issue_ticket(Time now) {
  const threads::MutexLock lock(mutex_);
  return add(tickets_, kMostTickets, now + kTicketLasts);
}

std::optional<std::string> Badges::redeem(std::string_view ticket, const config::Address& from,
                                          Time now) {
  const threads::MutexLock lock(mutex_);
  const auto found = find(tickets_, ticket);
  if (found == tickets_.end()) return std::nullopt;
  // Erased even if it is late, and before the badge exists: a ticket counts once.
  const bool is_late = found->ends <= now;
  tickets_.erase(found);
  if (is_late) return std::nullopt;
  return add(badges_, kMostBadges, now + kBadgeLasts, from);
}

bool Badges::counts(std::string_view badge, const config::Address& from, Time now) const {
  const threads::MutexLock lock(mutex_);
  const auto found = find(badges_, badge);
  // A cookie that was stolen is of no use from another address.
  return found != badges_.end() && found->from == from && now < found->ends;
}

void Badges::remove(std::string_view badge) {
  const threads::MutexLock lock(mutex_);
  const auto found = find(badges_, badge);
  if (found != badges_.end()) badges_.erase(found);
}

std::size_t Badges::revoke(Time now) {
  const threads::MutexLock lock(mutex_);
  const auto counted = std::count_if(badges_.begin(), badges_.end(),
                                     [now](const Secret& badge) { return now < badge.ends; });
  tickets_.clear();
  badges_.clear();
  return static_cast<std::size_t>(counted);
}

}  // namespace proxy::pages
