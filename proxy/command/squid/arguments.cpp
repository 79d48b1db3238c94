#include "proxy/command/squid/arguments.hpp"

#include <glob.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>

#include "proxy/command/squid/import.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace squid {
namespace {

std::optional<std::string> read(const std::string& path) {
  std::error_code error;
  const bool is_ordinary = std::filesystem::is_regular_file(path, error);
  if (!is_ordinary) {
    errno = error ? error.value() : EINVAL;
    if (std::filesystem::is_directory(path, error)) errno = EISDIR;
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return std::nullopt;
  std::string text(
      std::min<std::uintmax_t>(std::filesystem::file_size(path, error), squid::kMostBytes), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
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
  return {read, matching};
}

}  // namespace squid

namespace {

constexpr int kIncomplete = 1;

// What the command line says.
struct Told {
  std::string path;
  bool wider = false;
};

Result<int> import_file(const Told& told, const Streams& streams) {
  const std::string& path = told.path;
  const auto files = squid::system_files();
  const auto text = files.read(path);
  if (!text) return system_trouble(path, errno);
  const auto done =
      squid::import(*text, path, files, told.wider ? squid::Denial::less : squid::Denial::more);
  say(streams.err, squid::report(done));
  const auto printed = print(done.settings, streams);
  if (!printed) return printed.error();
  return done.is_complete() ? kDone : kIncomplete;
}

}  // namespace

std::function<int(const Streams&)> add_import_squid(CLI::App& program) {
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
    const auto work = [&told](const Streams& with) { return import_file(*told, with); };
    return run_subcommand(work, "import-squid", "the file is too large", streams);
  };
}

}  // namespace proxy::command
