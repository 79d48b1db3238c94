#include "proxy/command/steer/peers.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/text.hpp"
#include "proxy/command/steer/table.hpp"
#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

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

}  // namespace

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

SteerResult peers(const Steer& steer) {
  const auto page = ask_for(steer.place, view("/digest"));
  if (!page) return page.error();
  if (steer.json) return print_answer(steer, *page);
  const auto text = peers_text(*page, terminal_width(steer.streams.out));
  if (!text) return no_page(steer.place, "/digest");
  return print_answer(steer, *text);
}

}  // namespace proxy::command
