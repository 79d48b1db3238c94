#include "tests/scenario/model/message.hpp"

#include <algorithm>
#include <cctype>

namespace model {
namespace {

std::string text(const Fields& fields) {
  std::string all;
  for (const Field& line : fields) all += "    " + line.name + ": " + line.value + "\n";
  return all;
}

}  // namespace

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trim(std::string text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool same_word(std::string_view a, std::string_view b) {
  return lower(std::string(a)) == lower(std::string(b));
}

bool has(const Fields& fields, std::string_view name) {
  return !lines(fields, name).empty();
}

std::vector<std::string> lines(const Fields& fields, std::string_view name) {
  std::vector<std::string> found;
  for (const Field& line : fields) {
    if (same_word(line.name, name)) found.push_back(line.value);
  }
  return found;
}

std::string value(const Fields& fields, std::string_view name) {
  const auto found = lines(fields, name);
  return found.empty() ? "" : found.front();
}

void remove(Fields& fields, std::string_view name) {
  std::erase_if(fields, [&](const Field& line) { return same_word(line.name, name); });
}

std::string path_of(int url) {
  return "/" + std::to_string(url);
}

std::string body_of(int url, int version) {
  const auto size = 40 + static_cast<std::size_t>(version);
  std::string body = "page " + std::to_string(url) + " version " + std::to_string(version) + " ";
  while (body.size() < size) body += static_cast<char>('a' + body.size() % 26);
  return body;
}

std::string text(const Ask& ask) {
  return "  " + ask.method + " " + path_of(ask.url) + "\n" + text(ask.fields);
}

std::string text(const Answer& answer) {
  if (answer.cut) return "  nothing: the connection was cut\n";
  return "  " + std::to_string(answer.status) + "\n" + text(answer.fields);
}

}  // namespace model
