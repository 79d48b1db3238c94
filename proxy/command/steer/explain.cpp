#include "proxy/command/steer/explain.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

// The text of a member; empty if it is null or missing.
std::string text_of(const json& in, const char* name) {
  const auto found = in.find(name);
  return found != in.end() && found->is_string() ? escaped(found->get<std::string>())
                                                 : std::string();
}

// A line "label   text", or nothing without a text.
void line(std::string& out, std::string_view label, std::string_view text) {
  if (!text.empty()) fmt::format_to(std::back_inserter(out), "{:<11}{}\n", label, text);
}

}  // namespace

std::optional<std::string> explain_text(const std::string& text) try {
  const auto page = json::parse(text);
  auto out = fmt::format("{} {}\n{}\n\n", text_of(page, "method"), text_of(page, "url"),
                         text_of(page, "verdict"));
  for (const auto& sentence : page.at("sentences")) {
    line(out, text_of(sentence, "about"), text_of(sentence, "text"));
  }
  return out;
} catch (const json::exception&) {
  return std::nullopt;
}

SteerResult explain(const Steer& steer, const ExplainOptions& options) {
  auto target = "/admin/explain?url=" + percent_encoded(options.url);
  if (!options.method.empty()) target += "&method=" + percent_encoded(options.method);
  if (!options.client.empty()) target += "&client=" + percent_encoded(options.client);
  if (!options.user.empty()) target += "&user=" + percent_encoded(options.user);
  const auto page = ask_for(steer.place, {target});
  if (!page) return page.error();
  const auto text = explain_text(*page);
  if (!text) return no_page(steer.place, "/admin/explain");
  const bool allowed = nlohmann::json::parse(*page).at("allowed").get<bool>();
  return print_answer(steer, steer.json ? *page : *text, allowed ? 0 : kRefusal);
}

}  // namespace proxy::command
