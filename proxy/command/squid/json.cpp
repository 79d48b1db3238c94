#include "proxy/command/squid/json.hpp"

#include <algorithm>

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

Json::Json() : content_(Members{}) {}

Json Json::text(std::string_view text) {
  Json json;
  json.content_ = json_string(text);
  return json;
}

Json Json::number(unsigned long long number) {
  Json json;
  json.content_ = std::to_string(number);
  return json;
}

Json Json::truth(bool truth) {
  Json json;
  json.content_ = std::string(truth ? "true" : "false");
  return json;
}

Json Json::list(Items items) {
  Json json;
  json.content_ = std::move(items);
  return json;
}

Json Json::texts(const std::vector<std::string>& texts) {
  Items items;
  for (const std::string& each : texts) items.push_back(text(each));
  return list(std::move(items));
}

Json& Json::add(std::string key, Json value) {
  auto& members = std::get<Members>(content_);
  return members.emplace_back(Member{std::move(key), std::move(value)}).value;
}

void Json::append(Json object) {
  for (Member& member : std::get<Members>(object.content_)) {
    add(std::move(member.key), std::move(member.value));
  }
}

bool Json::is_empty_object() const {
  const auto* members = std::get_if<Members>(&content_);
  return members && members->empty();
}

std::string Json::written() const {
  std::string out;
  for (const std::string& each : comments_) write_comment(out, each, 0);
  write(out, 0);
  return out + '\n';
}

bool Json::has_comments_inside() const {
  const auto has = [](const Json& json) {
    return !json.comments_.empty() || json.has_comments_inside();
  };
  if (const auto* members = std::get_if<Members>(&content_)) {
    return std::any_of(members->begin(), members->end(),
                       [&](const Member& member) { return has(member.value); });
  }
  const auto* items = std::get_if<Items>(&content_);
  return items && std::any_of(items->begin(), items->end(), has);
}

std::string Json::in_one_line() const {
  if (const auto* scalar = std::get_if<std::string>(&content_)) return *scalar;
  std::string out;
  const auto separate = [&out] { out += out.empty() ? "" : ", "; };
  if (const auto* items = std::get_if<Items>(&content_)) {
    for (const Json& item : *items) {
      separate();
      out += item.in_one_line();
    }
    return '[' + out + ']';
  }
  for (const Member& member : std::get<Members>(content_)) {
    separate();
    out += json_string(member.key) + ": " + member.value.in_one_line();
  }
  return out.empty() ? "{}" : "{ " + out + " }";
}

void Json::write(std::string& out, std::size_t indent) const {
  const auto line_begin = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  const bool is_whole = indent == 0 && !is_empty_object();
  if (!is_whole && !has_comments_inside()) {
    const std::string line = in_one_line();
    if (out.size() - line_begin + line.size() < kWidth ||
        std::holds_alternative<std::string>(content_)) {
      out += line;
      return;
    }
  }
  write_block(out, indent);
}

void Json::write_block(std::string& out, std::size_t indent) const {
  const std::size_t inner = indent + 2;
  const auto* items = std::get_if<Items>(&content_);
  out += items ? "[\n" : "{\n";
  const auto put = [&](const std::string& key, const Json& value, bool last) {
    for (const std::string& each : value.comments_) write_comment(out, each, inner);
    out.append(inner, ' ');
    if (!items) out += json_string(key) + ": ";
    value.write(out, inner);
    out += last ? "\n" : ",\n";
  };
  if (items) {
    for (const Json& item : *items) put("", item, &item == &items->back());
  } else {
    const auto& members = std::get<Members>(content_);
    for (const Member& member : members) put(member.key, member.value, &member == &members.back());
  }
  out.append(indent, ' ');
  out += items ? ']' : '}';
}

}  // namespace proxy::command::squid
