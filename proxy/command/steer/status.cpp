#include "proxy/command/steer/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "config/text.hpp"
#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

std::string count(double number) {
  return fmt::format("{}", fmt::group_digits(static_cast<std::uint64_t>(number)));
}

std::string size(double bytes) {
  return config::short_size(static_cast<std::uint64_t>(bytes));
}

// "; since 2026-11-27T10:17:07Z, last seen 2026-11-27T10:18:00Z". An older proxy tells neither.
std::string times(const json& reason) {
  const auto since = escaped(reason.value("since", ""));
  const auto last = escaped(reason.value("last_seen", ""));
  return since.empty() || last.empty() ? "" : fmt::format("; since {}, last seen {}", since, last);
}

// "1 request", "2 requests".
std::string counted(double number, std::string_view one) {
  return fmt::format("{} {}{}", count(number), one, number == 1 ? "" : "s");
}

void append_reasons(std::string& text, const json& health) {
  for (const auto& reason : health.at("reasons")) {
    const auto which = escaped(reason.value("which", ""));
    fmt::format_to(std::back_inserter(text), "  {}{}{}: {}{}\n",
                   escaped(reason.at("what").get<std::string>()), which.empty() ? "" : " ", which,
                   escaped(reason.at("text").get<std::string>()), times(reason));
  }
}

void append_cache(std::string& text, const Samples& metrics) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "memory      {} of {}, {}\n", size(metrics.get("hearsay_memory_used_bytes")),
                 size(metrics.get("hearsay_memory_limit_bytes")),
                 counted(metrics.get("hearsay_cache_entries"), "response"));
  const auto on_disk = metrics.find("hearsay_disk_used_bytes");
  if (!on_disk) return;
  fmt::format_to(out, "disk        {}, {}\n", size(*on_disk),
                 counted(metrics.get("hearsay_disk_entries"), "record"));
}

// The page /health says which do not work. It may name one twice, as a sibling and as a parent.
void append_peers(std::string& text, const json& digest, const json& health) {
  const auto count = digest.at("peers").size();
  if (count == 0) return;
  std::set<std::string> down;
  for (const auto& reason : health.at("reasons")) {
    if (reason.at("what") == "peer") down.insert(reason.value("which", ""));
  }
  fmt::format_to(std::back_inserter(text), "neighbours  {} of {} work\n",
                 count - std::min(count, down.size()), count);
}

void append_clients(std::string& text, const Samples& metrics) {
  fmt::format_to(std::back_inserter(text), "clients     {}, {} so far\n",
                 counted(metrics.get("hearsay_connections"), "connection"),
                 counted(metrics.sum("hearsay_requests_total"), "request"));
}

bool is_ok(const std::string& health) {
  const auto page = json::parse(health, nullptr, false);
  return page.is_object() && page.value("status", "") == "ok";
}

}  // namespace

std::optional<std::string> status_text(const std::string& health, const std::string& digest,
                                       const Samples& metrics) try {
  const auto said = json::parse(health);
  const auto known = json::parse(digest);
  auto text = fmt::format("{}: {}\n", escaped(known.at("name").get<std::string>()),
                          escaped(said.at("status").get<std::string>()));
  append_reasons(text, said);
  append_cache(text, metrics);
  append_peers(text, known, said);
  append_clients(text, metrics);
  return text;
} catch (const json::exception&) {
  return std::nullopt;
}

// The page is no refusal if its status is 503: the proxy drains.
SteerResult status(const Steer& steer, bool strict) {
  const auto health = ask(steer.place, view("/health"));
  if (!health) return health.error();
  if (health->status != 200 && health->status != 503) return refusal(steer.place, *health);
  const int code = strict && !is_ok(health->body) ? kRefusal : 0;
  if (steer.json) return print_answer(steer, health->body, code);
  const auto digest = ask_for(steer.place, view("/digest"));
  if (!digest) return digest.error();
  const auto metrics = ask_for(steer.place, view("/metrics"));
  if (!metrics) return metrics.error();
  const auto text = status_text(health->body, *digest, Samples(*metrics));
  if (!text) return no_page(steer.place, "/health");
  return print_answer(steer, *text, code);
}

}  // namespace proxy::command
