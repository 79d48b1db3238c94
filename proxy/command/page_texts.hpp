// The pages of a running proxy in words. Each function returns nothing if the text is no such page.
// Pure but for terminal_width().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/rates.hpp"

namespace proxy::command {

// The pages /health, /digest and /metrics.
std::optional<std::string> status_text(const std::string& health, const std::string& digest,
                                       const Samples& metrics);

// The peers of the page /digest as a table of at most this width: see table().
std::optional<std::string> peers_text(const std::string& digest, std::size_t width);

// The page /hearsay/origins as tables of at most this width: see table().
std::optional<std::string> origins_text(const std::string& page, std::size_t width);

// The page /admin/explain.
std::optional<std::string> explain_text(const std::string& page);

// The page /admin/reload.
std::optional<std::string> reload_text(const std::string& page);

// The answer of /admin/purge. If the purge is of many URLs, those on disk are not counted.
enum class Purged : std::uint8_t { one, many };
std::optional<std::string> purge_text(const std::string& page, Purged purged);

// The link in the page /admin/tickets, and a hint for the person who opens it.
struct SignInLink {
  std::string link;
  std::string about;
};
std::optional<SignInLink> sign_in_link(const std::string& page);

// The answer of /admin/tickets/revoke: "2 browsers are signed out...\n".
std::optional<std::string> revoked_text(const std::string& page);

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
