#include "proxy/http/fields.hpp"

#include <algorithm>

#include "proxy/http/field_id.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {

std::size_t member_end(std::string_view text) {
  const auto comma = std::min(text.find(','), text.size());
  if (text.substr(0, comma).find('"') == std::string_view::npos) return comma;  // nearly always
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (c == '\\' && quoted)
      ++i;
    else if (c == ',' && !quoted)
      return i;
  }
  return text.size();
}

void Fields::append(std::string_view name, std::string_view value) {
  append(field_id(name), name, value);
}

const Field* Fields::search(field id) const {
  for (const Field& line : lines_)
    if (line.id == id) return &line;
  return nullptr;
}

const Field* Fields::find(std::string_view name) const {
  for (const Field& line : lines_)
    if (same_word(line.name, name)) return &line;
  return nullptr;
}

std::size_t Fields::count(field id) const {
  if (!may_have(id)) return 0;
  return static_cast<std::size_t>(
      std::count_if(begin(), end(), [id](const Field& line) { return line.id == id; }));
}

std::string_view Fields::only_value(std::string_view name) const {
  const Field* only = nullptr;
  for (const Field& line : lines_) {
    if (!same_word(line.name, name)) continue;
    if (only) return {};
    only = &line;
  }
  return only ? only->value : std::string_view();
}

std::string_view Fields::value(field id) const {
  const Field* line = find(id);
  return line ? line->value : std::string_view{};
}

bool Members::next_line() {
  while (line_ != end_) {
    const Field& line = *line_++;
    if (line.id != id_) continue;
    rest_ = line.value;
    return true;
  }
  return false;
}

std::optional<std::string_view> Members::next() {
  do {
    while (!rest_.empty()) {
      const std::size_t end = member_end(rest_);
      const std::string_view member = trim(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (!member.empty()) return member;
    }
  } while (next_line());
  return {};
}

namespace {

bool has_member(std::string_view list, std::string_view member) {
  const bool is_one = list.find(',') == std::string_view::npos;  // nearly always
  if (is_one) return same_word(list, member);
  Members members(list);
  while (const auto next = members.next())
    if (same_word(*next, member)) return true;
  return false;
}

}  // namespace

bool has_member(const Fields& fields, field id, std::string_view member) {
  if (!fields.may_have(id)) return false;
  return std::any_of(fields.begin(), fields.end(), [&](const Field& line) {
    return line.id == id && has_member(line.value, member);
  });
}

}  // namespace proxy::http
