#include "proxy/command/terminal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "config/counted.hpp"

namespace proxy::command {

std::string escaped(std::string_view text, std::size_t most) {
  std::string out;
  const auto kept = text.substr(0, most);
  out.reserve(kept.size());
  for (const char c : kept) {
    if (c >= ' ' && c <= '~' && c != '\\') {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (text.size() > most)
    out += fmt::format("... and {} more", config::counted(text.size() - most, "byte"));
  return out;
}

std::string short_time(std::chrono::seconds time) {
  const auto count = std::max<std::int64_t>(time.count(), 0);
  if (count < 60) return fmt::format("{}s", count);
  if (count < 3600) return fmt::format("{}m", count / 60);
  if (count < 86'400) return fmt::format("{}h", count / 3600);
  return fmt::format("{}d", count / 86'400);
}

}  // namespace proxy::command
