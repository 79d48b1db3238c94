#include "tests/support/message.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>

namespace support {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter);
}

}  // namespace

bool Head::has(std::string_view name) const {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return same_name(field.first, name); });
}

std::string Head::field(std::string_view name) const {
  std::string joined;
  for (const auto& [candidate, value] : fields) {
    if (same_name(candidate, name)) joined += (joined.empty() ? "" : ", ") + value;
  }
  return joined;
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) !=
             text.end() ||
         part.empty();
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string authority_of(std::string_view url) {
  const auto start = url.find("://") + 3;
  return std::string(url.substr(start, url.find_first_of("/?", start) - start));
}

std::string path_of(std::string_view target) {
  const auto scheme = target.find("://");
  if (scheme == std::string_view::npos) return std::string(target);
  const auto slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : std::string(target.substr(slash));
}

std::string http_date(std::chrono::seconds from_now) {
  const std::time_t time = std::time(nullptr) + from_now.count();
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string head_text(std::string_view start_line, const Fields& fields) {
  std::string text(start_line);
  for (const auto& [name, value] : fields) text += "\r\n" + name + ": " + value;
  return text + "\r\n\r\n";
}

std::string chunk(std::string_view bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

}  // namespace support
