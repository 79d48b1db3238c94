#include "tests/fuzz/mutate/lines.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>

namespace fuzz {

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

bool is_field(std::string_view line) {
  const auto colon = line.find(':');
  return colon != 0 && colon < 40 && std::all_of(line.begin(), line.begin() + colon, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
         });
}

std::vector<std::size_t> fields_in(const Lines& lines) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_field(lines[i])) found.push_back(i);
  }
  return found;
}

bool same_name(std::string_view line, std::string_view other) {
  const auto name = line.substr(0, line.find(':')), theirs = other.substr(0, other.find(':'));
  return std::equal(name.begin(), name.end(), theirs.begin(), theirs.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

std::vector<Chunk> chunks_in(std::string_view text) {
  std::vector<Chunk> chunks;
  for (std::size_t at = text.find("\r\n"); at != std::string_view::npos;
       at = text.find("\r\n", at)) {
    at += 2;
    std::size_t size = 0;
    const auto* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data() + at, end, size, 16);
    const auto data = static_cast<std::size_t>(after - text.data()) + 2;
    if (error != std::errc() || size == 0 || size > text.size() || data + size + 2 > text.size()) {
      continue;
    }
    if (text.substr(data - 2, 2) == "\r\n" && text.substr(data + size, 2) == "\r\n") {
      chunks.push_back({at, data, size});
      at = data + size;
    }
  }
  return chunks;
}

std::string chunk_text(std::string_view data) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + std::string(data) + "\r\n";
}

}  // namespace fuzz
