#include "peers/native_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "config/text.hpp"
#include "peers/site.hpp"

namespace peers {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  // from_chars stops at the first foreign character: "17x" must not be read as 17.
  const bool is_whole = error == std::errc{} && stop == end;
  return is_whole ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view query, std::string_view name, int base) {
  while (!query.empty()) {
    const auto pair = config::take_until(query, '&');
    if (pair.starts_with(name)) return whole_number(pair.substr(name.size()), base);
  }
  return std::nullopt;
}

std::string_view query_of(std::string_view target) {
  config::take_until(target, '?');
  return target;
}

}  // namespace

std::optional<NativeBase> parse_native_etag(std::string_view etag) {
  const auto dash = etag.find('-');
  const bool quoted = etag.size() > 2 && etag.front() == '"' && etag.back() == '"';
  if (!quoted || dash == std::string_view::npos) return std::nullopt;
  const auto epoch = parse_epoch(etag.substr(1, dash - 1));
  const auto generation = whole_number(etag.substr(dash + 1, etag.size() - dash - 2), 10);
  if (!epoch || !generation) return std::nullopt;
  return NativeBase{*epoch, *generation};
}

std::string native_target(const digest::NativeDigest* base_digest, std::chrono::milliseconds hold) {
  if (base_digest == nullptr) return std::string(kNativePath);
  auto target = fmt::format("{}?epoch={:016x}&since={}", kNativePath, base_digest->epoch,
                            base_digest->generation);
  // An older Hearsay knows no `wait` and ignores it, so there is no version to agree on.
  if (hold.count() > 0) target += fmt::format("&wait={}", hold.count());
  return target;
}

NativeBase native_base(std::string_view target) {
  const auto query = query_of(target);
  const auto epoch = number_of(query, "epoch=", 16);
  const auto generation = number_of(query, "since=", 10);
  // Half a base is none: a delta from a guess would be one that does not fit.
  if (!epoch || !generation) return {};
  return {*epoch, *generation};
}

std::chrono::milliseconds hold_asked(std::string_view target) {
  constexpr std::chrono::milliseconds longest = kLongestHold;
  const auto asked = number_of(query_of(target), "wait=", 10).value_or(0);
  return std::min<std::uint64_t>(asked, longest.count()) * std::chrono::milliseconds{1};
}

}  // namespace peers
