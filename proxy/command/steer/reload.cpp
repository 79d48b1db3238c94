#include "proxy/command/steer/reload.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

constexpr long kNotApplied = 422;

}  // namespace

std::optional<std::string> reload_text(const std::string& page) try {
  const auto json = nlohmann::json::parse(page);
  const auto file = escaped(json.at("file").get<std::string>());
  std::string text;
  const auto out = std::back_inserter(text);
  for (const auto& error : json.at("errors")) {
    fmt::format_to(out, "{}: {}\n", escaped(error.at("where").get<std::string>()),
                   escaped(error.at("what").get<std::string>()));
  }
  if (!json.at("applied").get<bool>()) {
    fmt::format_to(out, "nothing was reloaded: the settings in force stay, until {} is mended\n",
                   file);
    return text;
  }
  fmt::format_to(out, "the settings of {} are in force\n", file);
  for (const auto& name : json.at("needs_restart")) {
    fmt::format_to(out, "{} changed, which needs a restart\n", escaped(name.get<std::string>()));
  }
  return text;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

SteerResult reload(const Steer& steer) {
  const auto page = ask(steer.place, {"/admin/reload", ""});
  if (!page) return page.error();
  const bool applied = page->status == 200;
  if (!applied && page->status != kNotApplied) return refusal(steer.place, *page);
  const auto text = steer.json ? page->body : reload_text(page->body);
  if (!text) return no_page(steer.place, "/admin/reload");
  return print_answer(steer, *text, applied ? 0 : kRefusal);
}

}  // namespace proxy::command
