#include "peers/native_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace peers {
namespace {

std::optional<std::uint64_t> number_of(std::string_view query, std::string_view name, int base) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (!pair.starts_with(name)) continue;
    const char* const end = pair.data() + pair.size();
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(pair.data() + name.size(), end, number, base);
    if (error == std::errc{} && stop == end) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

std::string_view query_of(std::string_view target) {
  const auto mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

}  // namespace

std::string native_target(const digest::NativeDigest* base_digest, std::chrono::milliseconds hold) {
  if (base_digest == nullptr) return std::string(kNativePath);
  auto target = fmt::format("{}?epoch={:016x}&since={}", kNativePath, base_digest->epoch,
                            base_digest->generation);
  if (hold.count() > 0) target += fmt::format("&wait={}", hold.count());
  return target;
}

NativeBase native_base(std::string_view target) {
  const auto query = query_of(target);
  const auto epoch = number_of(query, "epoch=", 16);
  const auto generation = number_of(query, "since=", 10);
  if (!epoch || !generation) return {};
  return {*epoch, *generation};
}

std::chrono::milliseconds hold_asked(std::string_view target) {
  constexpr std::chrono::milliseconds longest = kLongestHold;
  const auto asked = number_of(query_of(target), "wait=", 10).value_or(0);
  return std::min<std::uint64_t>(asked, longest.count()) * std::chrono::milliseconds{1};
}

}  // namespace peers
