// Tables for a terminal. Pure but for terminal_width().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::command {

struct Column {
  std::string_view title;
  enum class Align { left, right } align = Align::left;
};

using Row = std::vector<std::string>;  // one cell for each column; ASCII

// The rows below their titles, aligned, with two blanks between columns. If a line would be longer
// than `width`, which is 0 for no limit, each row is a paragraph instead: its first cell, and below
// it a line with title and value for each other cell that is not empty. Nothing is cut off.
std::string table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                  std::size_t width);

// The columns of the terminal that the descriptor is; 0 if it is none.
std::size_t terminal_width(int descriptor);

}  // namespace proxy::command
