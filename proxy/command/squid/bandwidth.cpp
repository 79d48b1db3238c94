#include <algorithm>
#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

constexpr config::ByteSize kLeast = config::kibibytes(1);

// Of "RESTORE/MAX" in bytes; nothing: no limit, or no number.
std::optional<config::ByteSize> rate_of(const std::string& text) {
  const auto rate = config::parse_number(text.substr(0, text.find('/')), 1ULL << 40);
  return rate && *rate > 0 ? std::optional(config::ByteSize{*rate}) : std::nullopt;
}

std::vector<const Line*> lines_named(const std::vector<Line>& lines, std::string_view name) {
  std::vector<const Line*> found;
  for (const Line& line : lines) {
    if (line.name == name && !line.words.empty()) found.push_back(&line);
  }
  return found;
}

const Line* of_pool(const std::vector<const Line*>& lines, const std::string& pool) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const Line* line) { return line->words[0].text == pool; });
  return found == lines.end() ? nullptr : *found;
}

enum class Requests : std::uint8_t { none, some, all };

// Which requests are in the pool. Without lines of delay_access, none is.
Requests requests_of(const std::vector<const Line*>& access, const std::string& pool) {
  for (const Line* line : access) {
    if (line->words[0].text != pool) continue;
    if (line->conditional) return Requests::some;
    if (is_for_all(*line, "allow", 1)) return Requests::all;
    if (!is_for_all(*line, "deny", 1)) return Requests::some;
    break;
  }
  return Requests::none;
}

}  // namespace

void read_bandwidth(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  const auto tell = [&](const Line& line, Kind kind, std::string what) {
    findings.push_back({line.place, kind, line.text, std::move(what)});
  };
  const auto parameters = lines_named(lines, "delay_parameters");
  const auto access = lines_named(lines, "delay_access");
  const auto classes = lines_named(lines, "delay_class");
  if (parameters.size() != 1) {
    for (const auto* line : parameters) {
      tell(*line, Kind::left, "there is one limit for all clients together, and one for each");
    }
    return;
  }
  const Line& limit = *parameters.front();
  const Line* const class_line = of_pool(classes, limit.words[0].text);
  const auto number = class_line && class_line->words.size() > 1 ? class_line->words[1].text : "";
  const bool known = number == "1" || number == "2" || number == "3";
  const auto whom = requests_of(access, limit.words[0].text);
  if (whom == Requests::none) return tell(limit, Kind::unneeded, "no request is in this pool");
  if (whom == Requests::some) {
    return tell(limit, Kind::left,
                "it is for the requests of delay_access, and limits.bandwidth and "
                "limits.bandwidth_per_client would hold for all clients and all destinations");
  }
  if (!known || limit.words.size() < 2 || limit.conditional) {
    return tell(limit, Kind::left,
                "limits.bandwidth and limits.bandwidth_per_client are all there is");
  }
  for (std::size_t i = 1; i < limit.words.size(); ++i) {
    const auto rate = rate_of(limit.words[i].text);
    if (rate && *rate < kLeast)
      return tell(limit, Kind::left, "a limit is 1KiB per second or more");
  }
  const auto all = rate_of(limit.words[1].text);
  const auto each = number != "1" ? rate_of(limit.words.back().text) : std::nullopt;
  if (all) into.limits.add("bandwidth", Json::text(config::to_text(*all)));
  if (each) into.limits.add("bandwidth_per_client", Json::text(config::to_text(*each)));
  if (number == "3" && limit.words.size() > 2 && rate_of(limit.words[2].text)) {
    tell(limit, Kind::left, "a network has no limit of its own");
  }
}

}  // namespace proxy::command::squid
