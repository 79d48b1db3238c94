#include "peers/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "config/text.hpp"
#include "digest/little_endian.hpp"

namespace peers {
namespace {

constexpr std::size_t kDigits = 16;

bool is_hex_digit(char c) {
  return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f');
}

// The finalizer of SplitMix64: each bit of the result depends on each bit of the word.
std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9U;
  word = (word ^ word >> 27) * 0x94D049BB133111EBU;
  return word ^ word >> 31;
}

constexpr std::size_t kMostEpochs = 2;
constexpr std::size_t kLongestName = 255;
using Names = std::array<std::string_view, 4>;  // empty: none

std::string_view trim(std::string_view text) {
  return config::trimmed(text, " \t");
}

// The member that the nearest sender has appended to the list. A comma within a comment or a string
// separates nothing.
std::string_view last_member(std::string_view list) {
  std::size_t begin = 0;
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    // A quoted pair (RFC 9110 5.6.4): the next character ends nothing.
    if (c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (!quoted && c == '(') ++depth;
    if (!quoted && c == ')' && depth > 0) --depth;
    if (!quoted && depth == 0 && c == ',') begin = i + 1;
  }
  return trim(list.substr(begin));
}

std::string_view up_to(std::string_view text, std::string_view ends) {
  return text.substr(0, text.find_first_of(ends));
}

// RFC 9110 7.6.3: protocol, white space, name.
std::string_view name_in_via(std::string_view via) {
  const auto member = last_member(via);
  const auto space = member.find_first_of(" \t");
  if (space == member.npos) return {};
  return up_to(trim(member.substr(space)), " \t(");
}

// RFC 9211 2: a token or a string.
std::string_view name_in_cache_status(std::string_view status) {
  auto name = trim(up_to(last_member(status), ";"));
  if (name.size() > 1 && name.front() == '"' && name.back() == '"')
    name = name.substr(1, name.size() - 2);
  return name;
}

// Squid up to version 5 writes "HIT from NAME", as its own kind of text.
std::string_view name_in_x_cache(std::string_view told) {
  constexpr std::string_view kFrom = " from ";
  const auto member = last_member(told);
  const auto from = member.find(kFrom);
  return from == member.npos ? std::string_view() : member.substr(from + kFrom.size());
}

std::string_view without_port(std::string_view name) {
  const auto colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(0, colon);
}

Names names_in(const SelfNaming& said) {
  Names names{name_in_via(said.via), name_in_cache_status(said.cache_status),
              name_in_x_cache(said.x_cache), without_port(name_in_x_cache(said.x_cache_lookup))};
  for (auto& name : names) {
    if (name.size() > kLongestName) name = {};
  }
  return names;
}

template <class Found>
bool any_epoch(std::string_view list, Found found) {
  for (std::size_t n = 0; n < kMostEpochs && !list.empty(); ++n) {
    const auto epoch = parse_epoch(trim(config::take_until(list, ',')));
    if (epoch && found(*epoch)) return true;
  }
  return false;
}

}  // namespace

std::string to_text(Epoch epoch) {
  return fmt::format("{:016x}", epoch);
}

std::optional<Epoch> parse_epoch(std::string_view text) {
  // from_chars alone takes fewer digits, and capitals, which no Hearsay writes.
  const bool is_one = text.size() == kDigits && std::all_of(text.begin(), text.end(), is_hex_digit);
  if (!is_one) return std::nullopt;
  Epoch epoch = 0;
  std::from_chars(text.data(), text.data() + text.size(), epoch, 16);
  return epoch;
}

std::string to_text(const SiteQuestion& question) {
  auto text = to_text(question.asker);
  for (const auto epoch : question.given_up) text.append(", ").append(to_text(epoch));
  return text;
}

std::optional<SiteQuestion> parse_site_question(std::string_view text) {
  const auto asker = parse_epoch(trim(config::take_until(text, ',')));
  if (!asker) return std::nullopt;
  SiteQuestion question{*asker};
  while (question.given_up.size() < SiteQuestion::kMostGivenUp && !text.empty()) {
    if (const auto epoch = parse_epoch(trim(config::take_until(text, ','))))
      question.given_up.push_back(*epoch);
  }
  return question;
}

// The mixing at the end decides: by XOR alone, one member would own whole ranges of keys.
std::uint64_t bid_for(const digest::Key& key, Epoch member) {
  return mixed(digest::load64(key.bytes.data()) ^ mixed(member));
}

std::string epochs_text(Epoch current, Epoch earlier) {
  auto text = to_text(current);
  if (earlier != 0 && earlier != current) text.append(", ").append(to_text(earlier));
  return text;
}

Identity::Identity(const SelfNaming& said)
    : epoch_(parse_epoch(trim(up_to(said.epochs, ",")))), names_epoch_(epoch_.has_value()) {
  for (const auto name : names_in(said)) {
    const bool is_new = std::find(names_.begin(), names_.end(), name) == names_.end();
    if (!name.empty() && is_new) names_.emplace_back(name);
  }
}

void Identity::learn_epoch_of_digest(Epoch epoch) {
  if (!names_epoch_) epoch_ = epoch;
}

Identity Identity::after(const Identity& before) const {
  auto now = *this;
  // A response 304 has no digest. The epoch of the digest before stays.
  if (!names_epoch_ && !epoch_) now.epoch_ = before.epoch_;
  now.earlier_ = now.epoch_ == before.epoch_ ? before.earlier_ : before.epoch_;
  return now;
}

Proof Identity::proof_in(const SelfNaming& said) const {
  const bool is_known =
      any_epoch(said.epochs, [&](Epoch epoch) { return epoch == epoch_ || epoch == earlier_; });
  const auto names = names_in(said);
  const bool is_named = std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  // A name can be guessed, an epoch cannot: whoever proves itself by epochs is not believed by its
  // name.
  if (is_known || (is_named && !names_epoch_)) return Proof::given;
  const bool is_hearsay = any_epoch(said.epochs, [](Epoch) { return true; });
  return epoch_ && (is_named || is_hearsay) ? Proof::awaited : Proof::none;
}

}  // namespace peers
