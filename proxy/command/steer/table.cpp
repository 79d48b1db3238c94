#include "proxy/command/steer/table.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace proxy::command {
namespace {

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

}  // namespace proxy::command
