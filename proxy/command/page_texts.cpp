#include "proxy/command/steering.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "config/counted.hpp"
#include "config/text.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;
using enum Column::Align;

constexpr std::size_t kGap = 2;

// What `write` makes of a page in JSON. Nothing: it is no such page.
template <class Write>
auto in_words(const std::string& page, Write write) -> std::optional<decltype(write(json()))> try {
  return write(json::parse(page));
} catch (const json::exception&) {
  return std::nullopt;
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
  // A proxy of another version may lack a member, which is no reason to show nothing.
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

// Escaped. Throws if the member is missing or no text.
std::string text_of(const json& in, const char* name) {
  return escaped(in.at(name).get<std::string>());
}
// Escaped; empty if the member is missing or no text.
std::string text_or_empty(const json& in, const char* name) {
  const auto found = in.find(name);
  return found != in.end() && found->is_string() ? escaped(found->get<std::string>()) : "";
}

std::string size(double bytes) {
  return config::short_size(static_cast<std::uint64_t>(bytes));
}

// "1 request", "1,234 requests".
std::string counted(double number, std::string_view one) {
  return fmt::format("{} {}{}", fmt::group_digits(static_cast<std::uint64_t>(number)), one,
                     number == 1 ? "" : "s");
}

// The proxy names a neighbour that does not work twice if it is a sibling and a parent.
std::size_t neighbours_down(const json& health) {
  std::set<std::string> down;
  for (const auto& reason : health.at("reasons")) {
    if (reason.at("what") == "peer") down.insert(reason.value("which", ""));
  }
  return down.size();
}

}  // namespace

std::string table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                  std::size_t width) {
  std::vector<Row> lines(1);
  for (const auto& column : columns) lines.front().emplace_back(column.title);
  lines.insert(lines.end(), rows.begin(), rows.end());
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  const auto longest = std::accumulate(widths.begin(), widths.end(), kGap * (columns.size() - 1));
  // A terminal would break long lines anywhere, and no column could be followed.
  if (width > 0 && longest > width) return paragraphs(columns, rows);
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      // Cells are escaped, so each byte of them takes one column.
      const std::string blanks(widths[i] - line[i].size(), ' ');
      if (i > 0) text.append(kGap, ' ');
      text += columns[i].align == right ? blanks + line[i] : line[i] + blanks;
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';  // without blanks at its end
  }
  return out;
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  // A file or a pipe has no width: programs expect one line for each row.
  if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::optional<std::string> peers_text(const std::string& digest, std::size_t width) {
  return in_words(digest, [&](const json& page) -> std::string {
    const std::vector<Column> columns{{"PEER", left},   {"ROLE", left},   {"STATE", left},
                                      {"HOLDS", right}, {"AGE", right},   {"CLAIMS", right},
                                      {"TRUE", right},  {"FALSE", right}, {"FIRST BYTE", right},
                                      {"SAVED", right}, {"WHY", left}};
    std::vector<Row> rows;
    for (const auto& peer : page.at("peers").get_ref<const json::array_t&>())
      rows.push_back(row_of(peer));
    if (rows.empty()) return "no neighbours (setting peers)\n";
    return table(columns, rows, width);
  });
}

std::optional<std::string> origins_text(const std::string& page, std::size_t width) {
  return in_words(page, [&](const json& told) -> std::string {
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
  });
}

std::optional<std::string> status_text(const std::string& health, const std::string& digest,
                                       const Samples& metrics) {
  return in_words(health, [&](const json& said) {
    const auto known = json::parse(digest);
    auto text = fmt::format("{}: {}\n", text_of(known, "name"), text_of(said, "status"));
    const auto out = std::back_inserter(text);
    for (const auto& reason : said.at("reasons")) {
      const auto which = text_or_empty(reason, "which");
      const auto since = text_or_empty(reason, "since");  // an older proxy does not say when
      const auto last = text_or_empty(reason, "last_seen");
      fmt::format_to(out, "  {}{}{}: {}", text_of(reason, "what"), which.empty() ? "" : " ", which,
                     text_of(reason, "text"));
      if (!since.empty() && !last.empty())
        fmt::format_to(out, "; since {}, last seen {}", since, last);
      text += '\n';
    }
    fmt::format_to(out, "memory      {} of {}, {}\n",
                   size(metrics.get("hearsay_memory_used_bytes")),
                   size(metrics.get("hearsay_memory_limit_bytes")),
                   counted(metrics.get("hearsay_cache_entries"), "response"));
    // A proxy without a disk has no such sample.
    if (const auto on_disk = metrics.find("hearsay_disk_used_bytes")) {
      fmt::format_to(out, "disk        {}, {}\n", size(*on_disk),
                     counted(metrics.get("hearsay_disk_entries"), "record"));
    }
    if (const auto count = known.at("peers").size(); count > 0) {
      fmt::format_to(out, "neighbours  {} of {} work\n",
                     count - std::min(count, neighbours_down(said)), count);
    }
    fmt::format_to(out, "clients     {}, {} so far\n",
                   counted(metrics.get("hearsay_connections"), "connection"),
                   counted(metrics.sum("hearsay_requests_total"), "request"));
    return text;
  });
}

std::optional<std::string> explain_text(const std::string& text) {
  return in_words(text, [&](const json& page) -> std::string {
    auto out = fmt::format("{} {}\n{}\n\n", text_or_empty(page, "method"),
                           text_or_empty(page, "url"), text_or_empty(page, "verdict"));
    for (const auto& sentence : page.at("sentences")) {
      const auto words = text_or_empty(sentence, "text");
      if (words.empty()) continue;
      fmt::format_to(std::back_inserter(out), "{:<11}{}\n", text_or_empty(sentence, "about"),
                     words);
    }
    return out;
  });
}

std::optional<std::string> reload_text(const std::string& text) {
  return in_words(text, [&](const json& page) -> std::string {
    const auto file = text_of(page, "file");
    std::string words;
    const auto out = std::back_inserter(words);
    for (const auto& error : page.at("errors")) {
      fmt::format_to(out, "{}: {}\n", text_of(error, "where"), text_of(error, "what"));
    }
    if (!page.at("applied").get<bool>()) {
      fmt::format_to(out, "nothing was reloaded: the settings in force stay, until {} is mended\n",
                     file);
      return words;
    }
    fmt::format_to(out, "the settings of {} are in force\n", file);
    for (const auto& name : page.at("needs_restart")) {
      fmt::format_to(out, "{} changed, which needs a restart\n", escaped(name.get<std::string>()));
    }
    return words;
  });
}

std::optional<std::string> purge_text(const std::string& page, Purged purged) {
  return in_words(page, [&](const json& answer) -> std::string {
    const auto count = answer.at("purged").get<std::uint64_t>();
    auto text = "dropped " + counted(static_cast<double>(count), "response");
    if (purged == Purged::many) text += " from memory, and all that match from disk";
    text += '\n';
    if (answer.value("owed", false)) {
      text +=
          "the disk rests: the purge is written to it later, and a crash before that brings the "
          "responses back\n";
    }
    return text;
  });
}

std::optional<SignInLink> sign_in_link(const std::string& page) {
  return in_words(page, [&](const json& told) {
    SignInLink found{text_of(told, "link"), ""};
    found.about = fmt::format(
        "The link works once, within {} minutes, and signs one browser in for {} hours. Keep it to "
        "yourself.\nIf the browser reaches this proxy by another address, or by a name of "
        "access.own_names, put that in its place.\n",
        told.at("link_seconds").get<std::uint32_t>() / 60,
        told.at("session_seconds").get<std::uint32_t>() / 3600);
    if (found.link.starts_with("http://127.") || found.link.starts_with("http://[::1]")) {
      found.about +=
          "The proxy listens on loopback alone: for a browser elsewhere, forward the port first "
          "(ssh -L).\n";
    }
    return found;
  });
}

std::optional<std::string> revoked_text(const std::string& page) {
  return in_words(page, [](const json& told) {
    const auto browsers = told.at("revoked").get<std::uint64_t>();
    return fmt::format("{} signed out; links that were not used do not work any more\n",
                       config::counted(browsers, "browser is", "browsers are"));
  });
}

}  // namespace proxy::command
