#include "proxy/cache/disk/purge_rules.hpp"

#include <algorithm>

namespace proxy::cache::disk {

PurgeRules::Covers PurgeRules::as_prefix(std::string_view text) {
  return [prefix = std::string(text)](std::string_view url, GiverTag) {
    return url.starts_with(prefix);
  };
}

PurgeRules::Rule* PurgeRules::find(std::string_view text) {
  const auto found =
      std::ranges::find_if(rules_, [&](const Rule& rule) { return rule.text == text; });
  return found == rules_.end() ? nullptr : &*found;
}

PurgeRules::Rule& PurgeRules::rule_for(std::string_view text) {
  if (Rule* found = find(text)) return *found;
  return rules_.emplace_back(Rule{.text = std::string(text), .covers = reading_(text)});
}

void PurgeRules::publish() {
  std::size_t bytes = 0;
  for (const Rule& rule : rules_) bytes += rule.text.size();
  text_bytes_ = bytes;
  count_.store(rules_.size(), std::memory_order_release);
}

bool PurgeRules::has_room_for(std::string_view text, Room room) const {
  const bool reserved = room == Room::reserved;
  return rules_.size() < kMost + (reserved ? kReserved : 0) &&
         text_bytes_ + text.size() <= kMostBytes + (reserved ? kReservedBytes : 0);
}

PurgeRules::Added PurgeRules::add(std::string_view text, Room room) {
  const threads::WriteLock lock(mutex_);
  if (!find(text) && !has_room_for(text, room)) return Added::too_many;
  rule_for(text).unsettled += 1;
  publish();
  return Added::yes;
}

void PurgeRules::withdraw(std::string_view text) {
  const threads::WriteLock lock(mutex_);
  // Another caller may have replaced all rules by one since.
  Rule* const rule = find(text);
  if (!rule || rule->unsettled == 0) return;
  rule->unsettled -= 1;
  std::erase_if(rules_,
                [](const Rule& one) { return one.unsettled == 0 && one.until == Position(); });
  publish();
}

void PurgeRules::settle(std::string_view text, Position at) {
  const threads::WriteLock lock(mutex_);
  Rule* const added = find(text);
  if (added && added->unsettled > 0) added->unsettled -= 1;
  count_until(text, at);
}

void PurgeRules::learn(std::string_view text, Position at) {
  const threads::WriteLock lock(mutex_);
  count_until(text, at);
}

// Without room, one rule of everything takes the place of those that are settled: entries that
// nobody purged are lost, but none that was purged is found again.
void PurgeRules::count_until(std::string_view text, Position at) {
  if (!find(text) && !has_room_for(text)) {
    std::erase_if(rules_, [&at](const Rule& rule) {
      at = std::max(at, rule.until);
      return rule.unsettled == 0;
    });
    text = "";
  }
  Rule& rule = rule_for(text);
  rule.until = std::max(rule.until, at);
  publish();
}

bool PurgeRules::purged(std::string_view url, Position at, GiverTag giver) const {
  // Nearly always there is no rule. Then look-ups share no lock.
  if (count() == 0) return false;
  const threads::ReadLock lock(mutex_);
  return std::ranges::any_of(rules_, [&](const Rule& rule) {
    return (rule.unsettled > 0 || at < rule.until) && rule.covers(url, giver);
  });
}

void PurgeRules::forget_before(Position at) {
  const threads::WriteLock lock(mutex_);
  std::erase_if(rules_, [at](const Rule& rule) { return rule.unsettled == 0 && rule.until < at; });
  publish();
}

void PurgeRules::forget_settled() {
  const threads::WriteLock lock(mutex_);
  std::erase_if(rules_, [](const Rule& rule) { return rule.unsettled == 0; });
  for (Rule& rule : rules_) rule.until = {};
  publish();
}

// The rule waits for a record as any other does: the writer owes that record.
void PurgeRules::cover_all() {
  const threads::WriteLock lock(mutex_);
  rules_.clear();
  rule_for("").unsettled += 1;
  publish();
}

std::optional<Position> PurgeRules::newest() const {
  const threads::ReadLock lock(mutex_);
  std::optional<Position> newest;
  for (const Rule& rule : rules_) {
    if (rule.unsettled == 0 && (!newest || *newest < rule.until)) newest = rule.until;
  }
  return newest;
}

}  // namespace proxy::cache::disk
