// hearsay digest: works on digests and sets of lines, in files, in streams, and from running
// proxies.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "digest/key.hpp"
#include "digest/siphash.hpp"
#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds the subcommand `digest` to a program. After the program has parsed arguments that name
// `digest`, call the returned function. It runs the subcommand and returns the exit code. It throws
// nothing, and writes trouble to `err` in one line. SIGPIPE must be ignored.
std::function<int(const Streams&)> add_digest(CLI::App& program);

enum class Spelling : std::uint8_t {
  url,       // the line is a URL, which is made canonical first, as the proxy does
  verbatim,  // the bytes as they are: any text can be a member
};

// Returns the key under which Hearsay and Squid store and claim a GET for the URL. Cuts off a
// fragment, since no client sends it. Returns trouble for a line that is no absolute http or https
// URL that a client could send; the text lacks the place of the line.
Result<digest::Key> key_of(std::string_view line, Spelling spelling);

// 16 random bytes from the system, so that no input can contain lines chosen to collide in this
// run's filters.
digest::Salt random_salt();

// The key of a line, valid for this run only.
digest::Key line_key(const digest::Salt& salt, std::string_view line);

struct SaveOptions {
  std::string out = {};
  bool force = false;  // replace a file that exists
  bool json = false;
};

struct BuildOptions {
  std::vector<std::string> inputs;  // none: standard input
  SaveOptions save;
  std::optional<double> rate;            // at most one of rate and bits_per_entry
  std::optional<double> bits_per_entry;  // neither: digest::kDefaultBitsPerEntry
  std::optional<std::uint32_t> hashes;   // none: the best number
  std::optional<std::uint64_t> capacity;
  Spelling spelling = Spelling::url;
};

// Reads one URL per line and skips empty lines. Without a capacity, the filter is sized for the
// number of lines. Files are then read twice, first to count; if an input cannot be read twice, the
// keys are kept in memory. More distinct URLs than the capacity are trouble. Prints what it made.
Result<int> build(const BuildOptions& options, const Streams& streams);

inline constexpr std::chrono::milliseconds kFetchLimit{30'000};

struct QueryOptions {
  enum class Print : std::uint8_t {
    members,  // the URLs that are claimed, as given
    all,      // every URL, after "yes" or "no" and a tab
    json,     // a line {"url": ..., "member": ...} for every URL
  };

  std::string digest;             // a file, or the URL of a proxy or its digest
  std::vector<std::string> urls;  // "-", or none: a URL per line of standard input
  Spelling spelling = Spelling::url;
  Print print = Print::members;
  std::chrono::milliseconds limit = kFetchLimit;
};

// Returns kDone if the digest claims any of the URLs, else kNone. Skips empty lines.
Result<int> query(const QueryOptions& options, const Streams& streams);

struct InfoOptions {
  std::string digest;  // a file, a proxy's URL, or the URL of a digest
  std::chrono::milliseconds limit = kFetchLimit;
  bool json = false;
};

// Prints the same names for every form. A fact that a form does not hold is null in JSON and left
// out of the text.
Result<int> info(const InfoOptions& options, const Streams& streams);

struct UniteOptions {
  std::vector<std::string> digests;  // files
  SaveOptions save;
};

// Takes Bloom filters in any form, all of one shape; else returns trouble that says how two shapes
// differ. Saves a plain Bloom filter and prints what it made.
Result<int> unite(const UniteOptions& options, const Streams& streams);

struct DedupOptions {
  std::vector<std::string> inputs;  // none: standard input
  std::optional<std::uint64_t> capacity;
  std::optional<std::uint64_t> window;  // at most one of capacity and window; neither: it grows
  double rate = 0.001;                  // the share of new lines that may be taken for seen ones
  bool json = false;
  bool quiet = false;
};

// Passes on each line not seen before, in order; a line that
// is remembered is never passed on again. At most the share `rate` of new lines is lost. Reports
// the cost on `err`, with a window also before it begins, unless `quiet`. SIGINT and SIGTERM act as
// the end of the input, but the exit code is then 130 or 143.
Result<int> dedup(const DedupOptions& options, const Streams& streams);

struct CommonOptions {
  std::vector<std::string> files;  // two or more, each an ordinary file
  bool exact = false;
  double rate = 0.001;                          // with `exact`, not used
  std::size_t memory = std::size_t{512} << 20;  // bytes: half for filters, half for lines
  bool json = false;
  bool quiet = false;
};

// Prints each line that all files contain, once, in the order of the first file. Lines are equal if
// their bytes are, apart from LF or CRLF. No common line is ever missing. Without `exact`, at most
// the share `rate` of the first file's other lines is printed too.
//
// The lines of the first file that a filter of the other files claims are
// kept in memory, in parts as large as `memory` allows. With `exact`, each part reads the other
// files again and keeps the lines that are in each. A line may recur in a later part: so each part
// but the first reads the first file again, up to where the part begins, and excludes the lines it
// finds there. Thus memory stays bounded for any files; the more lines they have in common, the
// more often they are read. Reports the cost on `err`, unless `quiet`.
Result<int> common_lines(const CommonOptions& options, const Streams& streams);

}  // namespace proxy::command
