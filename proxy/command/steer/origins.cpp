#include "proxy/command/steer/origins.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "config/text.hpp"
#include "proxy/command/steer/table.hpp"
#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;
using enum Column::Align;

std::string text_in(const json& object, const char* name) {
  return escaped(object.at(name).get<std::string>());
}

std::string count_in(const json& object, const char* name) {
  return fmt::format("{}", fmt::group_digits(object.at(name).get<std::uint64_t>()));
}

std::string time_in(const json& object, const char* name) {
  const auto& milliseconds = object.at(name);
  if (milliseconds.is_null()) return "-";
  const auto ms = milliseconds.get<double>();
  return ms < 1000 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.1f} s", ms / 1000);
}

std::string causes_of(const json& origin) {
  std::string causes;
  for (const auto& [cause, number] : origin.at("failures").items()) {
    fmt::format_to(std::back_inserter(causes), "{}{} {}", causes.empty() ? "" : ", ",
                   escaped(cause), number.get<std::uint64_t>());
  }
  return causes;
}

std::string origins_table(const json::array_t& origins, std::size_t width) {
  const std::vector<Column> columns{{"ORIGIN", left}, {"REQUESTS", right}, {"FAILED", right},
                                    {"P50", right},   {"P99", right},      {"BYTES", right},
                                    {"WAIT", right},  {"CAUSES", left}};
  std::vector<Row> rows;
  for (const auto& origin : origins) {
    rows.push_back({text_in(origin, "origin"), count_in(origin, "requests"),
                    count_in(origin, "failed"), time_in(origin, "first_byte_p50_ms"),
                    time_in(origin, "first_byte_p99_ms"),
                    config::short_size(origin.at("bytes").get<std::uint64_t>()),
                    count_in(origin, "waiting"), causes_of(origin)});
  }
  return rows.empty() ? "no origin was asked in the last hour\n" : table(columns, rows, width);
}

std::string waits_table(const json::array_t& requests, std::size_t width) {
  const std::vector<Column> columns{
      {"WAITS", right}, {"FOR", left}, {"OF", left}, {"REQUEST", left}};
  std::vector<Row> rows;
  for (const auto& one : requests) {
    const auto of = text_in(one, "of");
    rows.push_back({fmt::format("{:.0f} s", one.at("seconds").get<double>()),
                    text_in(one, "waits_for"),
                    (of == "origin" ? "" : of + " ") + text_in(one, "server"),
                    text_in(one, "method") + ' ' + text_in(one, "url")});
  }
  return table(columns, rows, width);
}

}  // namespace

std::optional<std::string> origins_text(const std::string& page, std::size_t width) try {
  const auto told = json::parse(page);
  auto text = origins_table(told.at("origins").get_ref<const json::array_t&>(), width);
  const auto into = std::back_inserter(text);
  const auto& notes = told.at("notes").get_ref<const json::array_t&>();
  if (!notes.empty()) text += '\n';
  for (const auto& note : notes) {
    const auto origin = escaped(note.value("origin", ""));
    fmt::format_to(into, "{}{}{}\n", origin, origin.empty() ? "" : ": ",
                   escaped(note.at("text").get<std::string>()));
  }
  const auto waiting = told.at("waiting").get<std::uint64_t>();
  if (waiting == 0) return text;
  fmt::format_to(into, "\n{} waiting now, the longest first:\n",
                 waiting == 1 ? "1 request is" : fmt::format("{} requests are", waiting));
  return text + waits_table(told.at("under_way").get_ref<const json::array_t&>(), width);
} catch (const json::exception&) {
  return std::nullopt;
}

SteerResult origins(const Steer& steer) {
  constexpr const char* kPage = "/hearsay/origins";
  const auto page = ask_for(steer.place, view(kPage));
  if (!page) return page.error();
  if (steer.json) return print_answer(steer, *page);
  const auto text = origins_text(*page, terminal_width(steer.streams.out));
  if (!text) return no_page(steer.place, kPage);
  return print_answer(steer, *text);
}

}  // namespace proxy::command
