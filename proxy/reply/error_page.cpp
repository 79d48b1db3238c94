#include "proxy/reply/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/text.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/mirrors/image_name.hpp"

namespace proxy::reply {
namespace {

struct Words {
  std::string_view title;
  std::string_view advice;
};

// In the order of ErrorPage.
constexpr Words kWords[policy::kErrorPages] = {
    {"This address is blocked", "If you need it, ask for an exception."},
    {"This is not allowed here", "If you need it, ask for permission."},
    {"Please sign in", "Try again, and give your user name and your password."},
    {"This page could not be fetched",
     "The fault is at the server or on the way to it. Try again in a minute."},
    {"The proxy did not do this", "Ask if this does not explain itself."}};
constexpr std::string_view kBusy = "Try again in a minute.";
constexpr std::string_view kNobody = "whoever runs this proxy";

// A page of the site runs no scripts: a browser takes it for one of the site that was asked for,
// and would let them act in its name.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; style-src http: https: 'unsafe-inline'; img-src http: https: data:; "
    "font-src http: https: data:; form-action http: https:; base-uri 'none'";

std::string_view advice_of(const Refusal& refusal) {
  if (!refusal.advice.empty()) return refusal.advice;
  // These pass by themselves, so nobody need be asked.
  if (refusal.status == 429 || refusal.status == 503) return kBusy;
  return kWords[static_cast<std::size_t>(page_of(refusal))].advice;
}

}  // namespace

bool is_browser(const policy::Request& request) {
  return http::has_member(request.head.fields, http::field::accept, "text/html");
}

policy::ErrorPage page_of(const Refusal& refusal) {
  if (refusal.by_list) return policy::ErrorPage::blocked;
  if (refusal.status == 407) return policy::ErrorPage::sign_in;
  if (refusal.status == 403) return policy::ErrorPage::denied;
  return refusal.tag == observe::Tag::failed ? policy::ErrorPage::failed : policy::ErrorPage::error;
}

namespace {

std::string time_now(const client::Client& client) {
  return http::format_date(machine::whole_seconds(client.access.clock().shown()));
}

OwnMessage error_page(const client::Client& client, const policy::Request& request,
                      const Refusal& refusal) {
  const auto& policy = request.policy();
  const auto page = page_of(refusal);
  const auto time = time_now(client);
  const auto status =
      std::to_string(refusal.status).append(" ").append(http::reason_phrase(refusal.status));
  const auto& contact = policy.settings.pages.contact;
  policy::ErrorFacts facts;
  const auto set = [&facts](policy::Placeholder what, std::string_view value) {
    facts[static_cast<std::size_t>(what)] = value;
  };
  set(policy::Placeholder::advice, advice_of(refusal));
  set(policy::Placeholder::client, client.address_text);
  set(policy::Placeholder::contact, contact.empty() ? kNobody : contact);
  set(policy::Placeholder::proxy, client.access.name());
  set(policy::Placeholder::reason, refusal.reason);
  set(policy::Placeholder::status, status);
  set(policy::Placeholder::time, time);
  set(policy::Placeholder::title, kWords[static_cast<std::size_t>(page)].title);
  set(policy::Placeholder::url, request.target.url());
  set(policy::Placeholder::user, client.record.user);
  auto message = own_message(client, refusal.status, "text/html; charset=utf-8",
                             policy.error_pages.filled(page, facts), refusal.cache_status);
  message.set("Content-Security-Policy", kContentPolicy);
  message.set("X-Content-Type-Options", "nosniff");
  return message;
}

// The URL is ASCII without blanks. A long one is cut.
std::string error_line(const client::Client& client, const policy::Request* request,
                       const Refusal& refusal) {
  constexpr std::size_t kMostOfUrl = 500;
  auto line = fmt::format("{}: {}", client.access.name(), refusal.reason);
  if (request)
    line += fmt::format("; URL: <{}>", config::printable(request->target.url(), kMostOfUrl));
  line += fmt::format("; time: {}. {}", time_now(client), advice_of(refusal));
  const auto& contact = client.access.policy->settings.pages.contact;
  return contact.empty() ? line : fmt::format("{} Whom to ask: {}", line, contact);
}

// As clients of a registry show it (OCI Distribution Specification 1.1, error codes).
std::string_view registry_code(unsigned status) {
  switch (status) {
    case 400:
      return "NAME_INVALID";
    case 403:
      return "DENIED";
    case 404:
      return "NAME_UNKNOWN";
    case 405:
      return "UNSUPPORTED";
    case 429:
      return "TOOMANYREQUESTS";
    default:
      return "UNKNOWN";
  }
}

bool is_for_registry(const policy::Request& request) {
  return request.terms().mirrored != mirrors::Mirrored::no &&
         request.policy().rules.registries().any() &&
         mirrors::is_registry_path(request.target.path());
}

// The line has no control characters.
std::string registry_error(unsigned status, std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return fmt::format(R"({{"errors":[{{"code":"{}","message":"{}"}}]}})", registry_code(status),
                     text);
}

}  // namespace

OwnMessage error_message(const client::Client& client, const policy::Request* request,
                         const Refusal& refusal) {
  const bool is_question = request && request->asks_as_sibling();
  if (request && !is_question && is_browser(*request)) return error_page(client, *request, refusal);
  // A script that reads our own pages, and a neighbour, want the reason and no advice.
  const bool is_ours =
      client.door == policy::Door::control || client.record.tag == observe::Tag::own_page;
  auto line = is_ours || is_question ? refusal.reason : error_line(client, request, refusal);
  if (request && !is_question && is_for_registry(*request)) {
    return own_message(client, refusal.status, "application/json",
                       registry_error(refusal.status, line), refusal.cache_status);
  }
  return own_message(client, refusal.status, "text/plain; charset=utf-8", std::move(line) + '\n',
                     refusal.cache_status);
}

}  // namespace proxy::reply
