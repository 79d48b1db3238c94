#include "proxy/command/steer/purge.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace proxy::command {
namespace {

using nlohmann::json;

std::string order_of(const PurgeOptions& options) {
  json order;
  if (!options.url.empty()) order["url"] = options.url;
  if (!options.prefix.empty()) order["prefix"] = options.prefix;
  if (!options.host.empty()) order["host"] = options.host;
  return order.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::uint64_t purged_in(const std::string& page) {
  const auto answer = json::parse(page, nullptr, false);
  return answer.is_object() ? answer.value("purged", std::uint64_t{0}) : 0;
}

}  // namespace

std::optional<std::string> purge_text(const std::string& page, bool of_one) try {
  const auto answer = json::parse(page);
  const auto purged = answer.at("purged").get<std::uint64_t>();
  const auto* const where = of_one ? "" : " from memory, and all that match from disk";
  auto text = fmt::format("dropped {} {}{}\n", fmt::group_digits(purged),
                          purged == 1 ? "response" : "responses", where);
  if (answer.value("owed", false)) {
    text +=
        "the disk rests: the purge is written to it later, and a crash before that brings the "
        "responses back\n";
  }
  return text;
} catch (const json::exception&) {
  return std::nullopt;
}

SteerResult purge(const Steer& steer, const PurgeOptions& options) {
  const auto page = ask_for(steer.place, {"/admin/purge", order_of(options)});
  if (!page) return page.error();
  const bool of_one = !options.url.empty();
  const int code = of_one && purged_in(*page) == 0 ? kRefusal : 0;
  const auto text = steer.json ? *page : purge_text(*page, of_one);
  if (!text) return no_page(steer.place, "/admin/purge");
  return print_answer(steer, *text, code);
}

}  // namespace proxy::command
