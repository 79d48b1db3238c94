#include "proxy/command/squid/parts.hpp"

#include <algorithm>

#include "config/load.hpp"
#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLongestComment = 400;
// No setting has a name that begins so: comments lie among the members until they are written.
constexpr const char* kComment = "//";

bool is_comment(std::string_view key) {
  return key.starts_with(kComment);
}

// Lines of Squid may have any bytes, of which nlohmann's own writer takes UTF-8 alone.
std::string scalar_text(const Json& json) {
  if (!json.is_string()) return json.dump();
  std::string out = "\"";
  for (const char c : json.get_ref<const std::string&>()) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out + '"';
}

std::string quoted(const std::string& key) {
  return '"' + key + "\": ";
}

// Whether a comment stands between the lines of the value, not just above it.
bool has_comments_inside(const Json& json) {
  if (!json.is_structured()) return false;
  const auto items = json.items();
  return std::any_of(items.begin(), items.end(), [](const auto& item) {
    const bool above = item.value().is_object() && item.value().contains(kComment);
    return item.key() != kComment &&
           (is_comment(item.key()) || above || has_comments_inside(item.value()));
  });
}

void write_comments(std::string& out, const Json& comments, std::size_t indent) {
  const std::string begin = std::string(indent, ' ') + kComment;
  for (const Json& comment : comments) {
    const std::string line =
        config::printable(comment.get_ref<const std::string&>(), kLongestComment);
    std::string_view rest = line;
    while (!rest.empty()) {
      auto end = rest.size();
      if (begin.size() + 1 + end > kWidth) {
        // A word is never broken: it may be a path or an expression that somebody looks for.
        const auto blank = rest.rfind(' ', kWidth - begin.size() - 1);
        end = blank == rest.npos || blank == 0 ? std::min(rest.find(' '), rest.size()) : blank;
      }
      out.append(begin).append(" ").append(rest.substr(0, end)).append("\n");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

void write(std::string& out, const Json& json, std::size_t indent) {
  const std::string line = in_one_line(json);
  const auto begin = out.rfind('\n') + 1;  // 0 if there is none
  // Short lists stay in one line, or a file of many rules could not be surveyed.
  const bool is_whole = indent == 0 && !json.empty();
  const bool fits =
      !is_whole && !has_comments_inside(json) && out.size() - begin + line.size() < kWidth;
  if (fits || !json.is_structured()) {
    out += line;
    return;
  }
  const std::size_t inner = indent + 2;
  out += json.is_array() ? "[" : "{";
  bool is_first = true;
  for (const auto& [key, value] : json.items()) {
    if (is_comment(key)) continue;
    out += std::exchange(is_first, false) ? "\n" : ",\n";
    const auto above = kComment + key;
    if (json.is_object() && json.contains(above)) write_comments(out, json.at(above), inner);
    if (value.is_object() && value.contains(kComment)) {
      write_comments(out, value.at(kComment), inner);
    }
    out.append(inner, ' ');
    if (json.is_object()) out += quoted(key);
    write(out, value, inner);
  }
  out.append("\n").append(indent, ' ') += json.is_array() ? ']' : '}';
}

}  // namespace

void add_comment(Json& object, const std::string& text, const std::string& key) {
  object[kComment + key].push_back(text);
}

std::string in_one_line(const Json& json) {
  if (!json.is_structured()) return scalar_text(json);
  std::string out;
  for (const auto& [key, value] : json.items()) {
    if (is_comment(key)) continue;
    if (!out.empty()) out += ", ";
    if (json.is_object()) out += quoted(key);
    out += in_one_line(value);
  }
  if (json.is_array()) return '[' + out + ']';
  return out.empty() ? "{}" : "{ " + out + " }";
}

std::string written(const Json& json) {
  std::string out;
  if (json.contains(kComment)) write_comments(out, json.at(kComment), 0);
  write(out, json, 0);
  return out + '\n';
}

Json& member_at(Json& settings, std::string_view path) {
  const auto dot = path.find('.');
  Json& section = dot == path.npos ? settings : settings[std::string(path.substr(0, dot))];
  return section[std::string(path.substr(dot + 1))];
}

std::string fault_of(const std::string& path, const Json& value) {
  // The settings' own reader judges, so that the import has no limits of its own that could differ.
  Json whole;
  member_at(whole, path) = value;
  const auto settings = config::load(written(whole));
  return settings ? "" : path + ": " + settings.error().front().what;
}

}  // namespace proxy::command::squid
