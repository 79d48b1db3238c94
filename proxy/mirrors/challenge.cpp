#include "proxy/mirrors/challenge.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

using std::chrono::seconds;

constexpr std::string_view kSpaces = " \t";
constexpr seconds kLongestLife = std::chrono::hours(24);

void skip(std::string_view& text, std::string_view what) {
  text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
}

// A token or a quoted string (RFC 9110 5.6.4). Nothing: it is neither.
std::optional<std::string> take_value(std::string_view& text) {
  if (!text.starts_with('"')) {
    const auto token = http::leading(http::kTokenChar, text);
    text.remove_prefix(token.size());
    if (token.empty()) return std::nullopt;
    return std::string(token);
  }
  std::string value;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return value;
    }
    if (text[at] == '\\' && ++at == text.size()) break;
    value += text[at];
  }
  text = {};
  return std::nullopt;
}

// The first challenge of Bearer with a realm. `bearer`: what has been read of one; nothing after
// the name of another scheme.
std::optional<BearerChallenge> parse_line(std::string_view line) {
  std::optional<BearerChallenge> bearer;
  for (;;) {
    skip(line, " \t,");
    const auto word = http::leading(http::kTokenChar, line);
    line.remove_prefix(word.size());
    skip(line, kSpaces);
    if (word.empty() || !line.starts_with('=')) {
      if (bearer && !bearer->realm.empty()) return bearer;
      if (line.empty() && word.empty()) return std::nullopt;
      // A scheme; what is neither a scheme nor a parameter ends the one before.
      bearer.reset();
      if (http::same_word(word, "Bearer")) bearer.emplace();
      if (word.empty()) line.remove_prefix(std::min(line.find(','), line.size()));
      continue;
    }
    line.remove_prefix(1);
    skip(line, kSpaces);
    auto value = take_value(line);
    if (!value) {  // of a scheme that is followed by base64, or by nothing known
      line.remove_prefix(std::min(line.find(','), line.size()));
      continue;
    }
    if (!bearer) continue;
    if (http::same_word(word, "realm")) bearer->realm = std::move(*value);
    if (http::same_word(word, "service")) bearer->service = std::move(*value);
    if (http::same_word(word, "scope")) bearer->scope = std::move(*value);
  }
}

bool is_address(std::string_view host) {
  const auto last = host.substr(host.rfind('.') + 1);
  return host.find(':') != host.npos || http::all(http::kDigit, last);
}

// Empty: none.
std::string_view domain_of(std::string_view host) {
  if (is_address(host)) return {};
  const auto dot = host.find('.');
  if (dot == host.npos) return {};
  const auto domain = host.substr(dot + 1);
  const auto labels = 1 + std::ranges::count(domain, '.');
  // "co.uk" and "com.au" are no domain of anybody.
  return labels > 2 || (labels == 2 && domain.find('.') > 3) ? domain : std::string_view();
}

void append_parameter(std::string& url, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  url += url.find('?') == url.npos ? '?' : '&';
  (url += name) += '=';
  for (const char c : value) {
    const bool is_plain = http::is_letter(c) || http::is(http::kDigit, c) ||
                          std::string_view("-._~:/,").find(c) != std::string_view::npos;
    if (is_plain) {
      url += c;
    } else {
      http::append_percent_encoded(url, c);
    }
  }
}

bool is_fit_for_field(std::string_view text) {
  return !text.empty() && text.size() <= 16 * 1024 &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::optional<BearerChallenge> BearerChallenge::parse(const http::Fields& answer) {
  for (const auto& line : answer) {
    if (line.id != http::field::www_authenticate) continue;
    if (auto challenge = parse_line(line.value)) return challenge;
  }
  return std::nullopt;
}

bool may_ask_for_token(const http::Target& realm, const http::Target& registry) {
  const bool is_usual_port = realm.port() == 443 || realm.port() == registry.port();
  if (!realm.https() || realm.had_userinfo() || !is_usual_port) return false;
  if (realm.host() == registry.host()) return true;
  const auto domain = domain_of(registry.host());
  if (domain.empty() || is_address(realm.host())) return false;
  const auto host = realm.host();
  return host == domain || (host.size() > domain.size() && host.ends_with(domain) &&
                            host[host.size() - domain.size() - 1] == '.');
}

std::optional<http::Target> token_url(const BearerChallenge& challenge, std::string_view name) {
  auto url = challenge.realm.substr(0, challenge.realm.find('#'));
  append_parameter(url, "service", challenge.service);
  // Never more than to read what was asked for, whatever the challenge says. Some registries have
  // scopes of their own.
  const bool is_of_repository = challenge.scope.starts_with("repository:");
  const auto scope = "repository:" + std::string(name) + ":pull";
  append_parameter(url, "scope", is_of_repository ? scope : challenge.scope);
  auto target = http::parse_target("GET", url);
  if (!target || !target->https() || target->had_userinfo()) return std::nullopt;
  return std::move(*target);
}

std::optional<AnonymousToken> AnonymousToken::parse(std::string_view body) {
  if (body.size() > kMostBytes) return std::nullopt;
  // Without callbacks and exceptions; nesting costs memory that the size bounds.
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  AnonymousToken token;
  for (const char* const key : {"access_token", "token"}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) continue;
    const auto& text = found->get_ref<const std::string&>();
    if (is_fit_for_field(text)) token.text = text;
  }
  if (token.text.empty()) return std::nullopt;
  const auto lasts = json.find("expires_in");
  if (lasts != json.end() && lasts->is_number_integer()) {
    token.lasts = std::clamp(seconds(lasts->get<std::int64_t>()), seconds(0), kLongestLife);
  }
  return token;
}

}  // namespace proxy::mirrors
