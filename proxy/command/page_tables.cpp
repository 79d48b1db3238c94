#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "config/text.hpp"
#include "proxy/command/page_texts.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;
using enum Column::Align;

constexpr std::size_t kGap = 2;

std::vector<std::size_t> widths_of(const std::vector<Column>& columns,
                                   const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(columns[i].title.size());
    for (const auto& row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

// Without blanks at its end.
void append_line(std::string& out, const std::vector<Column>& columns,
                 const std::vector<std::size_t>& widths, const auto& cell) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    const bool right = columns[i].align == Column::Align::right;
    const auto filled = right ? fmt::format("{:>{}}", cell(i), widths[i])
                              : fmt::format("{:<{}}", cell(i), widths[i]);
    line += filled;
  }
  out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

std::string paragraphs(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::size_t widest = 0;
  for (const auto& column : columns) widest = std::max(widest, column.title.size());
  std::string out;
  for (const auto& row : rows) {
    out += row.front() + '\n';
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (row[i].empty()) continue;
      fmt::format_to(std::back_inserter(out), "  {:<{}}  {}\n", columns[i].title, widest, row[i]);
    }
  }
  return out;
}

// The value in words; "-" if it is null or missing.
template <class T, class Words>
std::string known(const json& peer, const char* name, Words words) {
  const auto found = peer.find(name);
  if (found == peer.end() || found->is_null()) return "-";
  return words(found->get<T>());
}

std::string count(const json& peer, const char* name) {
  return known<std::uint64_t>(
      peer, name, [](std::uint64_t n) { return fmt::format("{}", fmt::group_digits(n)); });
}

std::string text(const json& peer, const char* name) {
  return known<std::string>(peer, name, [](const std::string& word) { return escaped(word); });
}

// Why its state is what it is; empty if that needs no words.
std::string why(const json& peer) {
  const auto error = peer.find("last_error");
  if (error != peer.end() && error->is_string()) return escaped(error->get<std::string>());
  const auto reason = peer.find("reason");
  if (reason == peer.end() || !reason->is_string()) return {};
  const bool refuses = *reason == "refuses-us" && peer.value("kind", "") == "hearsay";
  if (refuses) return "refuses us: not in its access.clients";
  return escaped(reason->get<std::string>());
}

Row row_of(const json& peer) {
  const auto age = [](double seconds) {
    return short_time(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
  };
  return {
      text(peer, "name"),
      text(peer, "role"),
      text(peer, "state"),
      count(peer, "entries"),
      known<double>(peer, "age_seconds", age),
      count(peer, "claims"),
      count(peer, "true_hits"),
      count(peer, "false_hits"),
      known<double>(peer, "first_byte_ms", [](double ms) { return fmt::format("{:.1f} ms", ms); }),
      known<std::uint64_t>(peer, "bytes_saved", config::short_size),
      why(peer)};
}

std::string time(const json& origin, const char* name) {
  return known<double>(origin, name, [](double ms) {
    return ms < 1000 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.1f} s", ms / 1000);
  });
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
    rows.push_back({text(origin, "origin"), count(origin, "requests"), count(origin, "failed"),
                    time(origin, "first_byte_p50_ms"), time(origin, "first_byte_p99_ms"),
                    known<std::uint64_t>(origin, "bytes", config::short_size),
                    count(origin, "waiting"), causes_of(origin)});
  }
  return rows.empty() ? "no origin was asked in the last hour\n" : table(columns, rows, width);
}

std::string waits_table(const json::array_t& requests, std::size_t width) {
  const std::vector<Column> columns{
      {"WAITS", right}, {"FOR", left}, {"OF", left}, {"REQUEST", left}};
  std::vector<Row> rows;
  for (const auto& one : requests) {
    const auto of = text(one, "of");
    rows.push_back({fmt::format("{:.0f} s", one.at("seconds").get<double>()),
                    text(one, "waits_for"), (of == "origin" ? "" : of + " ") + text(one, "server"),
                    text(one, "method") + ' ' + text(one, "url")});
  }
  return table(columns, rows, width);
}

}  // namespace

std::string table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                  std::size_t width) {
  const auto widths = widths_of(columns, rows);
  const auto longest = std::accumulate(widths.begin(), widths.end(), kGap * (columns.size() - 1));
  if (width > 0 && longest > width) return paragraphs(columns, rows);
  std::string out;
  append_line(out, columns, widths, [&](std::size_t i) { return columns[i].title; });
  for (const auto& row : rows) {
    append_line(out, columns, widths, [&](std::size_t i) -> std::string_view { return row[i]; });
  }
  return out;
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::optional<std::string> peers_text(const std::string& digest, std::size_t width) try {
  const auto page = json::parse(digest);
  using enum Column::Align;
  const std::vector<Column> columns{{"PEER", left},   {"ROLE", left},   {"STATE", left},
                                    {"HOLDS", right}, {"AGE", right},   {"CLAIMS", right},
                                    {"TRUE", right},  {"FALSE", right}, {"FIRST BYTE", right},
                                    {"SAVED", right}, {"WHY", left}};
  std::vector<Row> rows;
  for (const auto& peer : page.at("peers").get_ref<const json::array_t&>())
    rows.push_back(row_of(peer));
  if (rows.empty()) return "no neighbours (setting peers)\n";
  return table(columns, rows, width);
} catch (const json::exception&) {
  return std::nullopt;
}

std::optional<std::string> origins_text(const std::string& page, std::size_t width) try {
  const auto told = json::parse(page);
  auto words = origins_table(told.at("origins").get_ref<const json::array_t&>(), width);
  const auto into = std::back_inserter(words);
  const auto& notes = told.at("notes").get_ref<const json::array_t&>();
  if (!notes.empty()) words += '\n';
  for (const auto& note : notes) {
    const auto origin = escaped(note.value("origin", ""));
    fmt::format_to(into, "{}{}{}\n", origin, origin.empty() ? "" : ": ",
                   escaped(note.at("text").get<std::string>()));
  }
  const auto waiting = told.at("waiting").get<std::uint64_t>();
  if (waiting == 0) return words;
  fmt::format_to(into, "\n{} waiting now, the longest first:\n",
                 waiting == 1 ? "1 request is" : fmt::format("{} requests are", waiting));
  return words + waits_table(told.at("under_way").get_ref<const json::array_t&>(), width);
} catch (const json::exception&) {
  return std::nullopt;
}

}  // namespace proxy::command
