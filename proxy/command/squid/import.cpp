#include "proxy/command/squid/import.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "config/document.hpp"
#include "proxy/command/squid/directives.hpp"
#include "proxy/command/squid/peers.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

// The findings name the lines that no part has read, and those that say too little.
void advise(const std::vector<Line>& lines, Findings& findings) {
  std::set<std::size_t> told;
  for (const Finding& finding : findings) told.insert(finding.place.order);
  for (const Line& line : lines) {
    if (!is_read(line.name)) {
      const Advice advice = advice_on(line);
      tell(findings, line, advice.kind, std::string(advice.what));
    } else if (line.words.size() < (line.name == "acl" ? 2U : 1U) &&
               !told.contains(line.place.order)) {
      tell(findings, line, Kind::left, "is not complete");
    }
  }
}

std::string whole(Imported parts, const std::string& file, const Findings& findings) {
  Json& top = parts.top;
  top.comment("Made by `hearsay import-squid " + file + "`. Read it, then try `hearsay check`.");
  for (const Finding& finding : findings) {
    if (finding.kind == Kind::wider)
      top.comment("Wider than Squid, which obeys " + origin_of(finding.place) + ": " +
                  finding.line);
  }
  const auto add = [&top](const char* key, Json& part) {
    if (!part.is_empty_object()) top.add(key, std::move(part));
  };
  add("cache", parts.cache);
  if (!parts.peers.empty()) top.add("peers", Json::list(std::move(parts.peers)));
  top.append(std::move(parts.after_peers));
  if (!parts.rules.empty()) top.add("rules", Json::list(std::move(parts.rules)));
  add("access", parts.access);
  add("log", parts.log);
  add("timeouts", parts.timeouts);
  add("limits", parts.limits);
  return top.written();
}

}  // namespace

bool Import::is_complete() const {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == Kind::left || finding.kind == Kind::wider;
  });
}

Import import(std::string_view text, const std::string& file, const Files& files, Denial denial) {
  Import done;
  const auto lines = read_lines(text, file, files, done.findings);
  Imported parts;
  read_plain(lines, parts, done.findings);
  const auto listening = read_ports(lines, parts, done.findings);
  const bool has_users = read_users(lines, parts, done.findings);
  const Acls acls = read_acls(lines, files, has_users, done.findings);
  read_peers(lines, acls, listening, parts, done.findings);
  read_refresh(lines, acls, parts, done.findings);
  write_access(read_access(lines, acls, denial, done.findings), parts.access);
  read_bandwidth(lines, parts, done.findings);
  advise(lines, done.findings);
  done.settings = whole(std::move(parts), file, done.findings);
  if (done.settings.size() > config::kLongestSettings) {
    done.findings.push_back(
        {{}, Kind::left, "", "the settings are longer than Hearsay reads (256KiB); shorten lists"});
  }
  std::stable_sort(
      done.findings.begin(), done.findings.end(),
      [](const Finding& a, const Finding& b) { return a.place.order < b.place.order; });
  return done;
}

std::string report(const Import& import) {
  constexpr std::array<std::pair<Kind, std::string_view>, 4> kParts{
      {{Kind::wider, "Wider than Squid (what such a line denies is allowed):"},
       {Kind::left, "Left out (where such a line denies, more is denied):"},
       {Kind::changed, "Carried over, with a difference:"},
       {Kind::unneeded, "Needs no setting:"}}};
  std::string text;
  for (const auto& [kind, title] : kParts) {
    std::set<std::string> told;
    for (const Finding& finding : import.findings) {
      if (finding.kind != kind) continue;
      const bool of_line = !finding.place.file.empty();
      const std::string line =
          (of_line ? origin_of(finding.place) + ": " + finding.line + "\n    " : "") + finding.what;
      if (told.empty()) text.append(title) += '\n';
      if (told.insert(line).second) text += line + '\n';
    }
  }
  return text;
}

}  // namespace proxy::command::squid
