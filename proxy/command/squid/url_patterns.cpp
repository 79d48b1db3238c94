#include "proxy/command/squid/url_patterns.hpp"

#include <algorithm>
#include <array>

#include "config/endpoint.hpp"
#include "config/path_glob.hpp"
#include "config/text.hpp"
#include "proxy/command/squid/regex.hpp"

namespace proxy::command::squid {
namespace {

// Adds what a glob stands for. Returns false if the settings cannot say it.
using Take = bool (*)(const Glob& glob, UrlPatterns& into);

std::optional<UrlPatterns> patterns_of(std::string_view expression, Take take) {
  if (expression == ".") return UrlPatterns{{{"*", ""}}, true};  // every URL has a character
  auto globs = globs_of(expression);
  if (!globs) return std::nullopt;
  std::stable_partition(globs->begin(), globs->end(), [](const Glob& glob) {
    return glob.text.find(kQuestionMark) == std::string::npos;
  });
  UrlPatterns all;
  for (const Glob& glob : *globs) {
    if (!take(glob, all)) return std::nullopt;
  }
  return all;
}

bool is_host(std::string_view text) {
  return config::parse_host_pattern(text).has_value() && text.find('*') == text.npos;
}

// Globs of the settings are compared with the path alone. So of a query the expression may say only
// that there may be any: the pattern without it is there already.
bool has_without_query(const UrlPatterns& into, const std::string& host, const std::string& path) {
  const auto query = path.find(kQuestionMark);
  const UrlPattern without{host, path.substr(0, query)};
  return path.substr(query + 1) == "*" &&
         std::find(into.patterns.begin(), into.patterns.end(), without) != into.patterns.end();
}

bool add(UrlPatterns& into, const std::string& host, std::string path) {
  if (path.find(kNoSlash) != path.npos) return false;
  if (path.find(kQuestionMark) != path.npos) return has_without_query(into, host, path);
  if (path == "*" || path == "/*") path.clear();
  if (!path.empty() && !config::is_path_glob(path)) return false;
  if (!config::parse_host_pattern(host))
    return host.starts_with("*.");  // no name is below an address
  const UrlPattern pattern{host, std::move(path)};
  auto& all = into.patterns;
  if (std::find(all.begin(), all.end(), pattern) == all.end()) all.push_back(pattern);
  return true;
}

// In a host, a dot without a backslash is meant as a dot, though it matches any character.
std::string with_dots(std::string host) {
  std::replace(host.begin(), host.end(), '?', '.');
  return host;
}

// A glob that ends where the expression leaves the end open.
std::string open_end(const Glob& glob, std::string text) {
  if (!glob.to_end && !text.ends_with('*')) text += '*';
  return text;
}

// The hosts of the part of a URL between "//" and the path.
std::vector<std::string> hosts_of_authority(std::string_view text, bool& exact) {
  const std::string lower = config::lower_case(text);
  if (lower == "*" || lower.empty()) return {"*"};
  if (lower.starts_with("*.")) {
    const std::string below = lower.substr(2);
    return is_host(below) ? std::vector<std::string>{lower} : std::vector<std::string>{};
  }
  if (lower.starts_with('*')) {
    const std::string name = lower.substr(1);
    exact = false;
    return is_host(name) ? std::vector<std::string>{name, "*." + name} : std::vector<std::string>{};
  }
  return is_host(lower) ? std::vector<std::string>{lower} : std::vector<std::string>{};
}

// `text`: from the host on.
bool take_authority(const Glob& glob, std::string_view text, UrlPatterns& into) {
  const auto slash = text.find('/');
  std::string host(text.substr(0, slash));
  if (slash == text.npos && !glob.to_end) {
    into.exact = false;  // the expression also matches longer hosts
    if (host.ends_with('*') && host.size() > 1) host.pop_back();
  }
  std::replace(host.begin(), host.end(), kNoSlash, '*');
  if (host.find('?') != host.npos) into.exact = false;
  host = with_dots(std::move(host));
  const auto hosts = hosts_of_authority(host, into.exact);
  const auto path =
      slash == text.npos ? std::string() : open_end(glob, std::string(text.substr(slash)));
  return !hosts.empty() && std::all_of(hosts.begin(), hosts.end(), [&](const std::string& each) {
    return add(into, each, path);
  });
}

bool is_other_scheme(std::string_view text) {
  constexpr std::array<std::string_view, 6> kOthers{
      "ftp:", "gopher:", "wais:", "urn:", "whois:", "cache_object:"};
  return std::any_of(kOthers.begin(), kOthers.end(),
                     [&](std::string_view scheme) { return text.starts_with(scheme); });
}

// "http:" and "https:" and what follows them up to the host.
bool take_from_start(const Glob& glob, UrlPatterns& into) {
  const std::string lower = config::lower_case(glob.text);
  if (is_other_scheme(lower)) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower.starts_with(scheme)) {
      return take_authority(glob, std::string_view(glob.text).substr(scheme.size()), into);
    }
  }
  if (lower.empty() && !glob.to_end) return add(into, "*", "");
  if (lower.starts_with('*')) {
    Glob anywhere = glob;
    anywhere.from_start = false;
    return add(into, "*", open_end(anywhere, glob.text));
  }
  const bool scheme_only =
      !glob.to_end && (lower == "http" || lower == "http:" || lower == "https:");
  return scheme_only && add(into, "*", "");
}

// Whether a text such as "windowsupdate.com/" names a host and then a path.
bool begins_with_host(std::string_view text) {
  const auto slash = text.find('/');
  const auto host = with_dots(std::string(text.substr(0, slash)));
  return slash != text.npos && host.find('.') != host.npos && !host.starts_with('.') &&
         is_host(host);
}

// Whether a text such as "cvmfs*.example.com" is about hosts that no pattern of the settings names.
bool is_about_some_hosts(std::string_view text) {
  const auto host = with_dots(std::string(text.substr(0, text.find('/'))));
  const auto star = host.rfind('*');
  if (star == host.npos) return false;
  auto domain = host.substr(star + 1);
  if (domain.starts_with('.')) domain.erase(0, 1);
  return domain.find('.') != domain.npos && is_host(domain);
}

// "example.com" anywhere in a URL is a host, or a part of a path: the patterns are for both.
bool add_host_of_text(UrlPatterns& into, std::string_view text) {
  std::string host = config::lower_case(with_dots(std::string(text)));
  const bool below = host.starts_with('.');
  if (below) host.erase(0, 1);
  if (host.find('.') == host.npos || !is_host(host)) return true;
  return (below || add(into, host, "")) && add(into, "*." + host, "");
}

bool take_url(const Glob& glob, UrlPatterns& into) {
  if (glob.from_start) return take_from_start(glob, into);
  std::string text = glob.text;
  if (const auto at = text.find("://"); at != text.npos) {
    return take_authority(glob, std::string_view(text).substr(at + 3), into);
  }
  while (text.starts_with('*')) text.erase(0, 1);
  if (begins_with_host(text)) {
    const auto slash = text.find('/');
    const std::string host = config::lower_case(with_dots(text.substr(0, slash)));
    const std::string path = open_end(glob, text.substr(slash));
    into.exact = false;  // the expression also matches hosts that end so, and URLs in a query
    return add(into, host, path) && add(into, "*." + host, path);
  }
  if (!text.starts_with('/') && !(glob.to_end && text.find('/') == text.npos) &&
      is_about_some_hosts(text)) {
    return false;
  }
  // The end of a URL is never its host. Elsewhere the host could match, too; a path alone is less.
  const bool may_be_host = !glob.to_end && !text.empty() && text.find_first_of("/=&%") == text.npos;
  if (may_be_host) into.exact = false;
  if (may_be_host && !add_host_of_text(into, text)) return false;
  return add(into, "*", open_end(glob, "*" + text));
}

bool take_path(const Glob& glob, UrlPatterns& into) {
  if (glob.from_start && !glob.text.starts_with('/')) return false;
  return add(into, "*", open_end(glob, (glob.from_start ? "" : "*") + glob.text));
}

}  // namespace

std::optional<UrlPatterns> url_patterns_of(std::string_view expression) {
  return patterns_of(expression, take_url);
}

std::optional<UrlPatterns> path_patterns_of(std::string_view expression) {
  return patterns_of(expression, take_path);
}

std::optional<std::vector<std::string>> hosts_of(std::string_view expression) {
  const auto globs = globs_of(expression);
  if (!globs) return std::nullopt;
  std::vector<std::string> hosts;
  for (const Glob& glob : *globs) {
    std::string text = config::lower_case(glob.text);
    const bool below = !glob.from_start || text.starts_with('*');
    while (text.starts_with('*')) text.erase(0, 1);
    if (below && !text.starts_with('.')) return std::nullopt;
    const std::string name = below ? text.substr(1) : text;
    if (!glob.to_end || !is_host(name)) return std::nullopt;
    const std::string host = below ? "*." + name : name;
    if (config::parse_host_pattern(host)) hosts.push_back(host);
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
