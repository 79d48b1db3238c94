#include "proxy/command/steer/dashboard.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

constexpr std::string_view kTickets = "/admin/tickets";
constexpr std::string_view kRevocation = "/admin/tickets/revoke";

std::uint32_t number(const json& page, const char* name) {
  return page.at(name).get<std::uint32_t>();
}

bool is_loopback(std::string_view link) {
  return link.starts_with("http://127.") || link.starts_with("http://[::1]");
}

SteerResult print_link(const Steer& steer, const std::string& page) {
  const auto told = sign_in_link(page);
  if (!told) return no_page(steer.place, kTickets);
  auto printed = print_answer(steer, told->link + '\n');
  if (printed) say(steer.streams.err, told->about);
  return printed;
}

}  // namespace

std::optional<SignInLink> sign_in_link(const std::string& page) try {
  const auto told = json::parse(page);
  auto link = escaped(told.at("link").get<std::string>());
  auto about = fmt::format(
      "The link works once, within {} minutes, and signs one browser in for {} hours. Keep it to "
      "yourself.\nIf the browser reaches this proxy by another address, or by a name of "
      "access.own_names, put that in its place.\n",
      number(told, "link_seconds") / 60, number(told, "session_seconds") / 3600);
  if (is_loopback(link)) {
    about +=
        "The proxy listens on loopback alone: for a browser elsewhere, forward the port first "
        "(ssh -L).\n";
  }
  return SignInLink{std::move(link), std::move(about)};
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<std::string> revoked_text(const std::string& page) try {
  const auto browsers = json::parse(page).at("revoked").get<std::uint64_t>();
  return fmt::format("{} {} signed out; links that were not used do not work any more\n", browsers,
                     browsers == 1 ? "browser is" : "browsers are");
} catch (const json::exception&) {
  return std::nullopt;
}

SteerResult dashboard(const Steer& steer, bool revoke) {
  const auto target = std::string(revoke ? kRevocation : kTickets);
  const auto page = ask_for(steer.place, {target, ""});
  if (!page) return page.error();
  if (steer.json) return print_answer(steer, *page);
  if (!revoke) return print_link(steer, *page);
  const auto text = revoked_text(*page);
  if (!text) return no_page(steer.place, kRevocation);
  return print_answer(steer, *text);
}

}  // namespace proxy::command
