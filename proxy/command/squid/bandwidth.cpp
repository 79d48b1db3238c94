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
  for (const Line* line : access) {
    if (is_for_all(*line, "allow", 1)) break;
    tell(*line, Kind::changed, "the limits hold for all clients");
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
