#include "peers/native_target.hpp"

#include <fmt/format.h>

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

}  // namespace

std::string native_target(const digest::NativeDigest* base_digest) {
  if (base_digest == nullptr) return std::string(kNativePath);
  return fmt::format("{}?epoch={:016x}&since={}", kNativePath, base_digest->epoch,
                     base_digest->generation);
}

NativeBase native_base(std::string_view target) {
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return {};
  const auto epoch = number_of(target.substr(mark + 1), "epoch=", 16);
  const auto generation = number_of(target.substr(mark + 1), "since=", 10);
  if (!epoch || !generation) return {};
  return {*epoch, *generation};
}

}  // namespace peers
