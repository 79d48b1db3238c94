#include "proxy/command/squid/import.hpp"

#include <glob.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "config/document.hpp"
#include "config/load.hpp"
#include "proxy/command/squid/parts.hpp"

namespace proxy::command {
namespace squid {
namespace {

using Fate = Finding::Fate;

// The settings as a file: those of no section, and then the sections in the order of our manual.
std::string whole(const Json& parts, const std::string& file, const Findings& findings) {
  constexpr const char* kOrder[] = {"cache",   "peers",    "forwarded", "never_direct",
                                    "reverse", "forward",  "rules",     "access",
                                    "log",     "timeouts", "limits"};
  Json top = parts;
  add_comment(top,
              "Made by `hearsay import-squid " + file + "`. Read it, then try `hearsay check`.");
  for (const Finding& finding : findings) {
    if (finding.fate != Fate::wider) continue;
    add_comment(top,
                "Wider than Squid, which obeys " + origin_of(finding.source) + ": " + finding.line);
  }
  // Appended anew, so that the parts may write in any order.
  for (const char* const section : kOrder) {
    top.erase(section);
    const bool is_given = parts.contains(section) && !parts.at(section).empty();
    if (is_given) top[section] = parts.at(section);
  }
  return written(top);
}

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

}  // namespace

Files system_files() {
  return {[](const std::string& path) {
            std::string why;
            return config::read_file(path, kMostBytes, why);
          },
          matching};
}

bool Import::is_complete() const {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.fate == Fate::left || finding.fate == Fate::wider;
  });
}

Import import(std::string_view text, const std::string& file, const Files& files, Denial denial) {
  Import done;
  const auto lines = read_lines(text, file, files, done.findings);
  Json parts = Json::object();
  read_plain(lines, parts, done.findings);
  const auto listening = read_ports(lines, parts, done.findings);
  const Users users = read_users(lines, parts, done.findings);
  // Users first: without an htpasswd file, acls about them have no meaning.
  const Acls acls = read_acls(lines, files, users, done.findings);
  read_peers(lines, acls, listening, parts, done.findings);
  read_refresh(lines, acls, parts, done.findings);
  read_access(lines, acls, denial, parts["access"], done.findings);
  read_bandwidth(lines, parts, done.findings);
  advise(lines, done.findings);
  // After all findings: the file names the lines that it is wider than.
  done.settings = whole(parts, file, done.findings);
  if (done.settings.size() > config::kLongestSettings) {
    done.findings.push_back(
        {{}, Fate::left, "", "the settings are longer than Hearsay reads (256KiB); shorten lists"});
  }
  // The parts go through all lines in turn, but a person reads the file from its top.
  std::stable_sort(
      done.findings.begin(), done.findings.end(),
      [](const Finding& a, const Finding& b) { return a.source.order < b.source.order; });
  return done;
}

std::string report(const Import& import) {
  constexpr std::array<std::pair<Fate, std::string_view>, 4> kParts{
      {{Fate::wider, "Wider than Squid (what such a line denies is allowed):"},
       {Fate::left, "Left out (where such a line denies, more is denied):"},
       {Fate::changed, "Carried over, with a difference:"},
       {Fate::unneeded, "Needs no setting:"}}};
  std::string text;
  for (const auto& [kind, title] : kParts) {
    std::set<std::string> told;
    for (const Finding& finding : import.findings) {
      if (finding.fate != kind) continue;
      const bool of_line = !finding.source.file.empty();
      const std::string line =
          (of_line ? origin_of(finding.source) + ": " + finding.line + "\n    " : "") +
          finding.what;
      if (told.empty()) text.append(title) += '\n';
      // Two parts may find the same, such as of a line with many words.
      if (told.insert(line).second) text += line + '\n';
    }
  }
  return text;
}

}  // namespace squid

namespace {

constexpr int kIncomplete = 1;

Result<int> import_file(const std::string& path, squid::Denial denial, const Streams& streams) {
  std::string why;
  const auto text = config::read_file(path, squid::kMostBytes, why);
  if (!text) return Trouble{path + ' ' + why};
  const auto done = squid::import(*text, path, squid::system_files(), denial);
  say(streams.err, squid::report(done));
  const auto printed = print(done.settings, streams);
  if (!printed) return printed.error();
  return done.is_complete() ? kDone : kIncomplete;
}

}  // namespace

std::function<int(const Streams&)> add_import_squid(CLI::App& program) {
  struct Told {
    std::string path;
    bool wider = false;
  };
  const auto told = std::make_shared<Told>();
  CLI::App& app = *program.add_subcommand(
      "import-squid",
      "print settings made from a squid.conf, and on stderr each line that has no equal, why, and "
      "what to do instead; exit 0 if there is none, 1 if there is, 2 on trouble. What Squid's "
      "access lists refuse is refused by these settings; what its programs refuse is not");
  app.add_flag(
      "--wider", told->wider,
      "leave out lines that deny and have no equal, such as those with a regular expression "
      "or a MIME type; else they deny more than in Squid, often everything. What these "
      "lines refuse is allowed then, and the list on stderr begins with them");
  app.add_option("FILE", told->path,
                 "such as /etc/squid/squid.conf; files that it includes are read, too")
      ->required();
  return [told](const Streams& streams) {
    const auto denial = told->wider ? squid::Denial::less : squid::Denial::more;
    const auto work = [&](const Streams& with) { return import_file(told->path, denial, with); };
    return run_subcommand(work, "import-squid", "the file is too large", streams);
  };
}

}  // namespace proxy::command
