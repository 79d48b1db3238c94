#include "proxy/http/forwarded.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

// Names of fields, each between two spaces: in lower case, and none that is registered.
// X-Forwarded-* is not listed. No standard has them, so the lists are what gateways and servers in
// use are known to write and to read.
constexpr std::string_view kOfClient =
    " cf-connecting-ip cf-connecting-ipv6 client-ip cloudfront-viewer-address fastly-client-ip"
    " fly-client-ip forwarded-for proxy-client-ip true-client-ip wl-proxy-client-ip"
    " x-azure-clientip x-client-ip x-cluster-client-ip x-envoy-external-address"
    " x-original-forwarded-for x-originating-ip x-proxyuser-ip x-real-ip x-remote-addr "
    "x-remote-ip ";
constexpr std::string_view kOfRequest =
    " cf-visitor cloudfront-forwarded-proto fly-forwarded-proto front-end-https wl-proxy-ssl"
    " x-arr-ssl x-envoy-original-host x-envoy-original-path x-forwarded x-host x-host-override"
    " x-http-destinationurl x-http-host-override x-http-method x-http-method-override"
    " x-method-override x-original-host x-original-method x-original-path x-original-proto"
    " x-original-scheme x-original-uri x-original-url x-proxy-url x-real-host x-rewrite-uri"
    " x-rewrite-url x-scheme x-script-name x-url-scheme ";
constexpr std::string_view kXForwarded = "x-forwarded-";

// The letters with which the names begin: most fields that browsers send begin with others.
constexpr std::string_view kInitials = "cfptwx";
constexpr bool all_begin_with_initials(std::string_view names) {
  for (std::size_t at = 1; at < names.size(); ++at) {
    if (names[at - 1] == ' ' && kInitials.find(names[at]) == std::string_view::npos) return false;
  }
  return true;
}
static_assert(all_begin_with_initials(kOfClient) && all_begin_with_initials(kOfRequest));

// The byte as servers read it that make variables of field names.
char folded(char c) {
  return is_letter(c) || is(kDigit, c) ? lower(c) : '-';
}

bool begins(std::string_view name, std::string_view lower_case) {
  return name.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), name.begin(),
                    [](char a, char b) { return a == folded(b); });
}

bool is_listed(std::string_view names, std::string_view name) {
  std::array<char, 32> word;  // longer than each of them
  if (name.size() + 2 > word.size()) return false;
  word.front() = ' ';
  const auto fold = [](char c) { return folded(c); };
  *std::transform(name.begin(), name.end(), word.begin() + 1, fold) = ' ';
  return names.find({word.data(), name.size() + 2}) != std::string_view::npos;
}

// Whether the name of a parameter of Forwarded ends before the "=" at `at` and is this word.
bool names_only_nodes(std::string_view value) {
  while (!value.empty()) {
    const auto end = std::min(value.find('='), value.size());
    auto name = value.substr(0, end);
    name.remove_prefix(std::min(name.find_last_of(",;\" \t") + 1, name.size()));
    if (!same_word(name, "for") && !same_word(name, "by") && end < value.size()) return false;
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return true;
}

bool names(std::span<const std::string> names, const Field& line) {
  return std::ranges::any_of(names, [&line](std::string_view name) {
    return name.size() == line.name.size() &&
           std::equal(name.begin(), name.end(), line.name.begin(),
                      [](char a, char b) { return folded(a) == folded(b); });
  });
}

void append_member(std::string& list, std::string_view member) {
  if (!list.empty() && !member.empty()) list += ", ";
  list += member;
}

}  // namespace

bool is_x_forwarded_for(const Field& line) {
  return line.name.size() == kXForwardedFor.size() && begins(line.name, "x-forwarded-for");
}

Tells classify_forwarded(const Field& line) {
  if (line.id == field::forwarded) {
    return names_only_nodes(line.value) ? Tells::client : Tells::request;
  }
  if (line.id != field::unknown) return Tells::nothing;  // nearly always
  const auto name = line.name;
  if (kInitials.find(folded(name.front())) == std::string_view::npos) return Tells::nothing;
  if (is_x_forwarded_for(line) || is_listed(kOfClient, name)) return Tells::client;
  return begins(name, kXForwarded) || is_listed(kOfRequest, name) ? Tells::request : Tells::nothing;
}

std::optional<Fields> without_forwarded(const Fields& fields) {
  return without(fields, is_forwarded_field);
}

std::optional<Fields> visible_fields(const Fields& fields, const Heeded& heeded) {
  const auto passes = [&heeded](const Field& line) { return names(heeded.pass, line); };
  const auto is_removed = [&](const Field& line) {
    return !heeded.family && !passes(line) &&
           (is_forwarded_field(line) || names(heeded.drop, line));
  };
  const auto selects = [&](const Field& line) {
    return passes(line) || classify_forwarded(line) == Tells::request;
  };
  const bool all_matter = !heeded.drop.empty() || !heeded.pass.empty();
  const auto matters = [&](const Field& line) {
    if (!all_matter && line.id != field::unknown && line.id != field::forwarded) return false;
    return is_removed(line) || selects(line);
  };
  if (std::ranges::none_of(fields, matters)) return std::nullopt;
  Fields remaining;
  for (const Field& line : fields) {
    if (!is_removed(line)) remaining.append({line.id, line.name, line.value, selects(line)});
  }
  return remaining;
}

ForwardedValues forwarded_for(const Fields& earlier, std::string_view address) {
  ForwardedValues values;
  for (const Field& line : earlier) {
    if (line.id == field::forwarded) append_member(values.forwarded, line.value);
    if (is_x_forwarded_for(line)) append_member(values.x_forwarded_for, line.value);
  }
  const bool v6 = address.find(':') != std::string_view::npos;  // RFC 7239 6
  const std::string text(address);
  append_member(values.forwarded, v6 ? "for=\"[" + text + "]\"" : "for=" + text);
  append_member(values.x_forwarded_for, text);
  return values;
}

}  // namespace proxy::http
