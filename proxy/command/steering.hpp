// The subcommands that ask a running proxy: `status`, `reload` and others; its pages in words; and
// what /metrics says, and the difference between two looks at it. All but add_steering() and
// terminal_width() is pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds the subcommands to a program, which has to outlive the returned function. After the parsing,
// that function does what the command line names, says what went wrong, and returns the exit code
// (ask.hpp). Nothing: the command line names none of them. Throws nothing.
std::function<std::optional<int>(const Streams&)> add_steering(CLI::App& program);

// The samples of a page in Prometheus' text format.
class Samples {
 public:
  // Passes over lines that are no samples. Safe on any bytes.
  explicit Samples(std::string_view text);

  // The sample with this name and these labels, written as in the page. Nothing: it is unknown.
  [[nodiscard]] std::optional<double> find(std::string_view name) const;
  // Finds the sample as find() does, with 0 for an unknown one.
  [[nodiscard]] double get(std::string_view name) const { return find(name).value_or(0); }
  // The sum of all samples of this name, whatever their labels.
  [[nodiscard]] double sum(std::string_view name) const;
  // Calls `with` for each sample of this name that has labels, with the labels as in the page.
  void each(std::string_view name,
            const std::function<void(std::string_view labels, double value)>& with) const;

 private:
  std::map<std::string, double, std::less<>> values_;
};

// The value of one of the labels that Samples::each() gives. Nothing: there is none of this name.
std::optional<std::string> label(std::string_view labels, std::string_view name);

struct Rates {
  double requests = 0;              // per second, without those for our own pages
  std::optional<double> hits;       // the share of them that the cache answered
  std::optional<double> byte_hits;  // the share of body bytes that came from the cache
  double to_clients = 0;            // bytes per second
  double from_neighbours = 0;       // likewise
  double from_origins = 0;          // likewise; parents that fetched for us included
  std::optional<double> median;     // seconds to the first byte, if the page has a histogram
  double connections = 0;
  struct Peer {
    std::string name;
    double true_hits = 0;  // per second
    double saved = 0;      // bytes per second
  };
  std::vector<Peer> peers;  // the busiest first
};

// `own_bytes`: how many of the bytes sent meanwhile were the answers to these looks.
Rates rates_between(const Samples& before, const Samples& after,
                    std::chrono::duration<double> passed, std::uint64_t own_bytes = 0);

// The rates in lines of at most 38 columns, for a phone.
std::string top_text(const Rates& rates);
// The rates as one line with one JSON object.
std::string top_json(const Rates& rates);

// The pages of a running proxy in words. Each function returns nothing if the text is no such page.

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

// Whether one URL was purged or many. Of many, those on disk are not counted.
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
