// Which stored response a message is about: RFC 9111 3.1, 3.2, 4.1, 4.3, RFC 9110 13.
#include <algorithm>

#include "tests/scenario/model/stored.hpp"

namespace model {
namespace {

std::vector<std::string> selectors(const Stored& stored) {
  std::vector<std::string> names;
  for (const auto& name : members(stored.answer.fields, "Vary")) names.push_back(lower(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Members as written, without the blanks around them; empty members count.
std::vector<std::string> verbatim(const Fields& fields, const std::string& name) {
  std::vector<std::string> words;
  for (const auto& line : lines(fields, name)) {
    std::string word;
    for (const char c : line + ',') {
      if (c != ',') {
        word += c;
        continue;
      }
      const auto first = word.find_first_not_of(' ');
      const auto last = word.find_last_not_of(' ');
      words.push_back(first == word.npos ? "" : word.substr(first, last + 1 - first));
      word.clear();
    }
  }
  return words;
}

// Lines are combined. In Accept-Encoding and Accept-Language, case and order do not matter.
std::optional<std::vector<std::string>> selecting_value(const Fields& fields,
                                                        const std::string& name) {
  if (!has(fields, name)) return {};
  if (name == "cookie") return lines(fields, name);
  if (name != "accept-encoding" && name != "accept-language") return verbatim(fields, name);
  auto words = members(fields, name);
  for (auto& word : words) {
    word = lower(word);
    std::erase(word, ' ');
  }
  std::sort(words.begin(), words.end());
  return words;
}

// Weak comparison. A tag without quotes equals the same tag with quotes.
std::string opaque(std::string tag) {
  if (tag.rfind("W/", 0) == 0) tag.erase(0, 2);
  const bool quoted = tag.size() > 1 && tag.front() == '"' && tag.back() == '"';
  return quoted ? tag.substr(1, tag.size() - 2) : tag;
}

bool ends_here(const Fields& fields, const std::string& name) {
  static const std::string kHop[] = {"connection", "keep-alive", "proxy-connection", "te",
                                     "trailer",    "upgrade",    "transfer-encoding"};
  if (std::find(std::begin(kHop), std::end(kHop), lower(name)) != std::end(kHop)) return true;
  for (const auto& option : members(fields, "Connection")) {
    if (same_word(option, name)) return true;
  }
  return false;
}

}  // namespace

std::string agreed(const Fields& fields, std::string_view name) {
  const auto all = lines(fields, name);
  for (const auto& line : all) {
    if (line != all[0]) return "";
  }
  return all.empty() ? "" : all[0];
}

bool selects(const Stored& stored, const Ask& ask) {
  for (const auto& name : selectors(stored)) {
    if (name == "*") return false;
    if (selecting_value(ask.fields, name) != selecting_value(stored.ask.fields, name)) return false;
  }
  return true;
}

bool same_selection(const Stored& a, const Stored& b) {
  return selectors(a) == selectors(b) && selects(a, b.ask);
}

bool is_preferred(const Stored& a, const Stored& b, Seconds slack) {
  const bool varies = !selectors(a).empty();
  if (varies != !selectors(b).empty()) return varies;
  return date_of(a) > date_of(b) + slack;
}

bool unmodified(const Stored& stored, const Ask& ask) {
  const std::string etag = agreed(stored.answer.fields, "ETag");
  if (has(ask.fields, "If-None-Match")) {
    const auto tags = members(ask.fields, "If-None-Match");
    return std::any_of(tags.begin(), tags.end(), [&](const auto& tag) {
      return tag == "*" || (!etag.empty() && opaque(tag) == opaque(etag));
    });
  }
  const auto since = parse_date(value(ask.fields, "If-Modified-Since"), stored.answered);
  if (!since) return false;
  const std::string modified = agreed(stored.answer.fields, "Last-Modified");
  const auto changed =
      modified.empty() ? std::optional(date_of(stored)) : parse_date(modified, stored.answered);
  return changed && *changed <= *since;
}

bool identifies(const Answer& unmodified, const Stored& stored, bool alone) {
  for (const char* name : {"ETag", "Last-Modified"}) {
    if (agreed(unmodified.fields, name) != value(unmodified.fields, name)) return false;
  }
  const std::string etag = value(unmodified.fields, "ETag");
  const std::string held = agreed(stored.answer.fields, "ETag");
  if (!etag.empty()) {
    return etag == held || (etag.rfind("W/", 0) == 0 && opaque(etag) == opaque(held));
  }
  const std::string modified = value(unmodified.fields, "Last-Modified");
  return modified.empty() ? alone : modified == agreed(stored.answer.fields, "Last-Modified");
}

void freshen(Stored& stored, const Exchange& exchange) {
  static const std::string kOfTheBytes[] = {"content-length", "content-type", "content-encoding",
                                            "content-range"};
  Fields updates;
  for (const Field& line : exchange.got.fields) {
    const bool of_the_bytes = std::find(std::begin(kOfTheBytes), std::end(kOfTheBytes),
                                        lower(line.name)) != std::end(kOfTheBytes);
    if (!of_the_bytes && !ends_here(exchange.got.fields, line.name)) updates.push_back(line);
  }
  stored.answer.fields = kept_fields(stored);
  remove(stored.answer.fields, "Date");  // the Date of the earlier message
  for (const Field& line : updates) remove(stored.answer.fields, line.name);
  for (const Field& line : updates) stored.answer.fields.push_back(line);
  if (!may_keep_cookie(stored.control())) remove(stored.answer.fields, "Set-Cookie");
  stored.ask.fields = exchange.sent.fields;
  stored.asked = exchange.asked;
  stored.answered = exchange.answered;
}

Fields kept_fields(const Stored& stored) {
  Fields kept;
  const Control control = stored.control();
  auto named = control.names("private");
  for (const auto& name : control.names("no-cache")) named.push_back(name);
  for (const Field& line : stored.answer.fields) {
    const bool for_who_asked = std::any_of(
        named.begin(), named.end(), [&](const auto& name) { return same_word(name, line.name); });
    if (for_who_asked || ends_here(stored.answer.fields, line.name)) continue;
    if (same_word(line.name, "Age") || same_word(line.name, "Content-Length")) continue;
    kept.push_back(line);
  }
  return kept;
}

}  // namespace model
