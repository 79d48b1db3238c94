#include "proxy/command/squid/json.hpp"

#include <algorithm>

#include "config/load.hpp"
#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLongestComment = 400;

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out + '"';
}

void write_comment(std::string& out, std::string_view text, std::size_t indent) {
  const std::string line = config::printable(text, kLongestComment);
  const std::string begin = std::string(indent, ' ') + "//";
  std::string_view rest = line;
  while (!rest.empty()) {
    auto end = rest.size();
    if (begin.size() + 1 + end > kWidth) {
      const auto blank = rest.rfind(' ', kWidth - begin.size() - 1);
      end = blank == rest.npos || blank == 0 ? std::min(rest.find(' '), rest.size()) : blank;
    }
    out.append(begin).append(" ").append(rest.substr(0, end)).append("\n");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

Json Json::text(std::string_view text) {
  return literal(json_string(text));
}

Json Json::literal(std::string text) {
  Json json;
  json.kind_ = Kind::scalar;
  json.scalar_ = std::move(text);
  return json;
}

Json Json::list(std::vector<Json> items) {
  Json json;
  json.kind_ = Kind::list;
  for (Json& item : items) json.members_.push_back({"", std::move(item)});
  return json;
}

Json Json::texts(const std::vector<std::string>& texts) {
  std::vector<Json> items;
  for (const std::string& each : texts) items.push_back(text(each));
  return list(std::move(items));
}

Json& Json::add(std::string key, Json value) {
  return members_.emplace_back(Member{std::move(key), std::move(value)}).value;
}

void Json::append(Json object) {
  for (Member& member : object.members_) members_.push_back(std::move(member));
}

bool Json::has(std::string_view key) const {
  return std::any_of(members_.begin(), members_.end(),
                     [key](const Member& member) { return member.key == key; });
}

Json& Json::comment(std::string text) {
  comments_.push_back(std::move(text));
  return *this;
}

std::string Json::written() const {
  std::string out;
  for (const std::string& each : comments_) write_comment(out, each, 0);
  write(out, 0);
  return out + '\n';
}

bool Json::has_comments_inside() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
    return !member.value.comments_.empty() || member.value.has_comments_inside();
  });
}

std::string Json::in_one_line() const {
  if (kind_ == Kind::scalar) return scalar_;
  std::string out;
  for (const auto& [key, value] : members_) {
    if (!out.empty()) out += ", ";
    if (kind_ == Kind::object) out += json_string(key) + ": ";
    out += value.in_one_line();
  }
  if (kind_ == Kind::list) return '[' + out + ']';
  return out.empty() ? "{}" : "{ " + out + " }";
}

void Json::write(std::string& out, std::size_t indent) const {
  const std::string line = in_one_line();
  const auto begin = out.rfind('\n') + 1;  // 0 if there is none
  const bool is_whole = indent == 0 && !members_.empty();
  const bool fits =
      !is_whole && !has_comments_inside() && out.size() - begin + line.size() < kWidth;
  if (fits || kind_ == Kind::scalar) {
    out += line;
    return;
  }
  const std::size_t inner = indent + 2;
  out += kind_ == Kind::list ? "[\n" : "{\n";
  for (const auto& [key, value] : members_) {
    for (const std::string& each : value.comments_) write_comment(out, each, inner);
    out.append(inner, ' ');
    if (kind_ == Kind::object) out += json_string(key) + ": ";
    value.write(out, inner);
    out += &value == &members_.back().value ? "\n" : ",\n";
  }
  out.append(indent, ' ') += kind_ == Kind::list ? ']' : '}';
}

std::string fault_of(std::string_view section, const std::string& key, const Json& value) {
  Json part;
  part.add(key, value);
  Json whole;
  if (!section.empty()) whole.add(std::string(section), part);
  const auto settings = config::load((section.empty() ? part : whole).written());
  if (settings) return {};
  const std::string name = section.empty() ? key : std::string(section) + '.' + key;
  return name + ": " + settings.error().front().what;
}

}  // namespace proxy::command::squid
