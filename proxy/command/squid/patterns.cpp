#include "proxy/command/squid/patterns.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "config/endpoint.hpp"
#include "config/sections.hpp"
#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongest = 256;

// What has a meaning in an expression, beside "*" for any text and "?" for any character. No
// expression has these bytes itself.
constexpr char kStart = '\x01';
constexpr char kEnd = '\x02';
constexpr char kNoSlash = '\x03';  // any text without a slash
constexpr char kOpen = '\x04';
constexpr char kOr = '\x05';
constexpr char kClose = '\x06';
constexpr char kMaybe = '\x07';  // what precedes it may be absent

struct Sign {
  std::string_view from, to;
};

// The first that fits is taken, so a longer sign stands before the sign that it begins with.
constexpr std::array kSigns{Sign{".*", "*"},       Sign{".+", "?*"},  Sign{"[^/]*", "\x03"},
                            Sign{"[^/]+", "\x03"}, Sign{"^", "\x01"}, Sign{"$", "\x02"},
                            Sign{"(?:", "\x04"},   Sign{"(", "\x04"}, Sign{"|", "\x05"},
                            Sign{")", "\x06"},     Sign{"?", "\x07"}, Sign{".", "?"}};

// "[34]" as "(3|4)". Who writes "[i|u]" means the letters, and a URL has no bar.
bool add_set(std::string& out, std::string_view& text) {
  const auto end = text.find(']');
  if (end == text.npos || end > 16) return false;
  std::string set;
  for (const char c : text.substr(1, end - 1)) {
    if (c == '|') continue;
    if (c <= ' ' || c > '~' || std::string_view("^\\[*?-").find(c) != std::string_view::npos) {
      return false;
    }
    set.append(set.empty() ? 0 : 1, kOr) += c;
  }
  text.remove_prefix(end + 1);
  out += kOpen + set + kClose;
  return !set.empty();
}

// The expression in signs. Nothing if some of it has no sign.
std::optional<std::string> in_signs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto* const sign = std::find_if(kSigns.begin(), kSigns.end(), [&](const Sign& each) {
      return text.starts_with(each.from);
    });
    if (sign != kSigns.end()) {
      // A repetition is one character or more of a glob, and none of them may be absent alone.
      const bool repeats =
          out.empty() || out.back() == kMaybe || out.back() == '*' || out.back() == kNoSlash;
      if (sign->to.front() == kMaybe && repeats) return std::nullopt;
      out += sign->to;
      text.remove_prefix(sign->from.size());
    } else if (text.front() == '[') {
      if (!add_set(out, text)) return std::nullopt;
    } else {
      const bool escaped = text.front() == '\\';
      text.remove_prefix(escaped ? 1 : 0);
      const char c = text.empty() ? '\0' : text.front();
      const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
      const bool special = std::string_view("*+{}").find(c) != std::string_view::npos;
      if (c <= ' ' || c > '~' || c == '*' || c == '?' || (escaped ? letter : special)) {
        return std::nullopt;
      }
      out += c;
      text.remove_prefix(1);
    }
  }
  return out;
}

// Appends the texts without choices that the signs stand for: `\.(deb|rpm)` has two. Returns
// whether there are not too many, and groups and signs are complete.
bool expand(const std::string& text, Texts& into) {
  if (text.size() > kLongest || into.size() >= kMostTexts) return false;
  const auto group = text.find(kOpen);
  int depth = 0;
  auto close = text.npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == kOr && depth == 0) {
      return expand(text.substr(0, at), into) && expand(text.substr(at + 1), into);
    }
    depth += text[at] == kOpen ? 1 : text[at] == kClose ? -1 : 0;
    if (depth < 0) return false;
    if (text[at] == kClose && depth == 0) close = std::min(close, at);
  }
  if (depth != 0) return false;
  auto begin = group;
  Texts choices;
  if (group != text.npos) {
    if (!expand(text.substr(group + 1, close - group - 1), choices)) return false;
  } else if ((close = text.find(kMaybe)) == text.npos) {
    into.push_back(text);
    return true;
  } else if (close == 0) {
    return false;
  } else {
    begin = --close;
    choices.emplace_back(1, text[begin]);
  }
  const bool maybe = text.substr(close + 1).starts_with(kMaybe);
  if (maybe) choices.emplace_back();
  return std::all_of(choices.begin(), choices.end(), [&](const std::string& choice) {
    return expand(text.substr(0, begin) + choice + text.substr(close + (maybe ? 2 : 1)), into);
  });
}

struct Glob {
  std::string text;
  bool from_start = false;  // the expression begins with ^
  bool to_end = false;      // it ends with $
};

// Globs of the settings are compared with the path alone, so that there may be a query goes without
// saying. Nothing if globs cannot say it, or if there are too many.
std::optional<std::vector<Glob>> globs_of(std::string_view expression) {
  constexpr std::string_view kAnyQuery = "(\\?.*)?$";
  std::string text(expression);
  if (text.ends_with(kAnyQuery)) text.replace(text.size() - kAnyQuery.size(), text.npos, "$");
  const auto signs = in_signs(text);
  Texts texts;
  if (!signs || !expand(*signs, texts)) return std::nullopt;
  std::vector<Glob> globs;
  for (std::string_view each : texts) {
    Glob& glob = globs.emplace_back();
    glob.from_start = each.starts_with(kStart);
    glob.to_end = each.ends_with(kEnd);
    each.remove_prefix(std::min(each.find_first_not_of(kStart), each.size()));
    each = each.substr(0, each.find_last_not_of(kEnd) + 1);
    for (const char c : each) {
      if (c == kStart || c == kEnd) return std::nullopt;  // matches nothing, or is beyond us
      if (c != '*' || !glob.text.ends_with('*')) glob.text += c;
    }
  }
  return globs;
}

// A name or an address, perhaps with a port.
bool is_host(std::string_view text) {
  return config::parse_host_pattern(text).has_value() && text.find('*') == text.npos;
}

// Adds a pattern for the rest of the glob from `at` on, which is open where the expression leaves
// the end open. Returns false if the settings cannot say it.
bool add(UrlPatterns& into, const std::string& host, const Glob& glob, std::string path) {
  if (!path.empty() && !glob.to_end && !path.ends_with('*')) path += '*';
  // A rule without paths is for all paths of its hosts.
  if (path == "*" || path == "/*") path.clear();
  if (path.find(kNoSlash) != path.npos) return false;
  if (!path.empty() && !config::is_path_glob(path)) return false;
  if (!config::parse_host_pattern(host)) return true;  // no name is below an address
  const UrlPattern pattern{host, std::move(path)};
  if (std::find(into.begin(), into.end(), pattern) == into.end()) into.push_back(pattern);
  return true;
}

// `text`: from the host on, after "//".
bool add_authority(const Glob& glob, std::string_view text, UrlPatterns& into) {
  const auto slash = std::min(text.find('/'), text.size());
  std::string host = config::lower_case(text.substr(0, slash));
  const std::string path(text.substr(slash));
  if (slash == text.size() && !glob.to_end) return false;  // it matches longer hosts, too
  if (host == "*" || host == std::string(1, kNoSlash)) return add(into, "*", glob, path);
  const bool below = host.starts_with("*.") || host.starts_with(std::string{kNoSlash, '.'});
  if (below) host.erase(0, 2);
  return is_host(host) && add(into, (below ? "*." : "") + host, glob, path);
}

// An expression that begins with ^, up to the host.
bool add_from_start(const Glob& glob, UrlPatterns& into) {
  const std::string lower = config::lower_case(glob.text);
  for (const std::string_view scheme :
       {"ftp:", "gopher:", "wais:", "urn:", "whois:", "cache_object:"}) {
    // Without a pattern: Hearsay serves no URL of such a scheme, so nothing is lost.
    if (lower.starts_with(scheme)) return true;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower.starts_with(scheme)) {
      return add_authority(glob, std::string_view(glob.text).substr(scheme.size()), into);
    }
  }
  if (lower.starts_with('*')) return add(into, "*", glob, glob.text);
  const bool every = lower.empty() || lower == "http" || lower == "http:" || lower == "https:";
  return every && !glob.to_end && add(into, "*", glob, "");
}

// A text such as "cgi-bin" or "example.com/a" may begin in the host, of which a path has nothing.
bool add_url(const Glob& glob, UrlPatterns& into) {
  if (glob.from_start) return add_from_start(glob, into);
  std::string_view text = glob.text;
  if (const auto at = text.find("://"); at != text.npos) {
    return add_authority(glob, text.substr(at + 3), into);
  }
  text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
  const auto slash = text.find('/');
  const bool at_end = glob.to_end && slash == text.npos;  // the end of a URL is never its host
  const bool has_dot = text.substr(0, slash).find_first_of(".?") != text.npos;
  const bool is_path =
      at_end || slash == 0 || text.empty() || (!has_dot && text.find_first_of("/=&%") != text.npos);
  return is_path && add(into, "*", glob, "*" + std::string(text));
}

bool add_path(const Glob& glob, UrlPatterns& into) {
  if (glob.from_start && !glob.text.starts_with('/')) return false;
  return add(into, "*", glob, (glob.from_start ? "" : "*") + glob.text);
}

std::optional<UrlPatterns> patterns_of(std::string_view expression,
                                       bool (*add_glob)(const Glob&, UrlPatterns&)) {
  if (expression == ".") return UrlPatterns{{"*", ""}};  // every URL has a character
  const auto globs = globs_of(expression);
  UrlPatterns all;
  const bool taken = globs && std::all_of(globs->begin(), globs->end(),
                                          [&](const Glob& glob) { return add_glob(glob, all); });
  return taken ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

std::optional<UrlPatterns> url_patterns_of(std::string_view expression) {
  return patterns_of(expression, add_url);
}

std::optional<UrlPatterns> path_patterns_of(std::string_view expression) {
  return patterns_of(expression, add_path);
}

std::vector<std::string> hosts_of(std::string_view expression) {
  std::vector<std::string> hosts;
  for (const Glob& glob : globs_of(expression).value_or(std::vector<Glob>{})) {
    std::string name = config::lower_case(glob.text);
    const bool below = !glob.from_start || name.starts_with('*');
    name.erase(0, std::min(name.find_first_not_of('*'), name.size()));
    if (below && !name.starts_with('.')) return {};
    if (below) name.erase(0, 1);
    // A port would make it another rule than the expression, which no host meets.
    if (!glob.to_end || !is_host(name) || name.find_first_of(":[") != name.npos) return {};
    if (below) name.insert(0, "*.");
    if (config::parse_host_pattern(name)) hosts.push_back(name);
  }
  return hosts;
}

std::vector<std::string> hosts_of_domain(std::string_view domain) {
  const bool below = domain.starts_with('.');
  if (below) domain.remove_prefix(1);
  std::string name = config::lower_case(domain);
  while (name.ends_with('.')) name.pop_back();
  // A port would narrow the pattern, and an address has no hosts below it.
  if (!is_host(name) || name.find_first_of(":[") != name.npos) return {};
  if (below && config::parse_host_pattern("*." + name)) return {name, "*." + name};
  return below ? std::vector<std::string>{} : std::vector<std::string>{name};
}

}  // namespace proxy::command::squid
