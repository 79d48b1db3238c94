#include "proxy/command/digest/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "config/text.hpp"
#include "digest/shape.hpp"
#include "proxy/command/digest/build.hpp"
#include "proxy/command/digest/common_lines.hpp"
#include "proxy/command/digest/dedup.hpp"
#include "proxy/command/digest/info.hpp"
#include "proxy/command/digest/query.hpp"
#include "proxy/command/digest/unite.hpp"
#include "proxy/command/guarded.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace {

// All options of all subcommands, and the work that was chosen.
struct Arguments {
  BuildOptions build;
  QueryOptions query;
  InfoOptions info;
  UniteOptions unite;
  DedupOptions dedup;
  CommonOptions common;
  Chosen chosen;
};

using Shared = std::shared_ptr<Arguments>;

// The subcommand, which chooses this work with these options.
template <class Options>
CLI::App* add_work(CLI::App& parent, const Shared& arguments, const std::string& name,
                   const std::string& about, Options Arguments::*options,
                   Result<int> (*work)(const Options&, const Streams&)) {
  const auto& chosen = (*arguments).*options;
  return &add_work(parent, arguments->chosen, name, about,
                   [&chosen, work](const Streams& streams) { return work(chosen, streams); });
}

// Both included; NaN, which CLI::Range lets pass, is not.
CLI::Validator between(double least, double most) {
  return {[least, most](std::string& text) {
            double number = 0;
            const bool good =
                CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
            return good ? std::string() : fmt::format("{} is not from {} to {}", text, least, most);
          },
          fmt::format("{} to {}", least, most)};
}

const CLI::Validator kRate = between(1e-9, 0.999999);
const CLI::Range kCount(std::uint64_t{1}, std::uint64_t{1} << 40);

const CLI::Validator kMemory(
    [](std::string& text) {
      const auto bytes = config::parse_bytes(text);
      if (!bytes) return std::string("must be a size such as 256MiB or 2GiB");
      text = std::to_string(bytes->value);
      return std::string();
    },
    "SIZE");

void add_spelling(CLI::App& app, Spelling& spelling) {
  app.add_flag_callback(
      "--verbatim", [&spelling] { spelling = Spelling::verbatim; },
      "take lines as they stand, URLs or not, rather than make URLs canonical");
}

void add_limit(CLI::App& app, std::chrono::milliseconds& limit) {
  app.add_option_function<double>(
         "--timeout",
         [&limit](double seconds) {
           limit = std::chrono::milliseconds(static_cast<long>(1000 * seconds));
         },
         "seconds to wait for a proxy's answer (30)")
      ->check(between(0.001, 3600));
}

void add_build(CLI::App& parent, const Shared& arguments) {
  BuildOptions& options = arguments->build;
  CLI::App& app =
      *add_work(parent, arguments, "build", "make a filter of the URLs in files, one a line",
                &Arguments::build, &command::build);
  app.add_option("FILES", options.inputs, "files of URLs; - or none: standard input");
  app.add_option("-o,--out", options.out, "where to save the filter")->required();
  auto* const rate = app.add_option("--fpr", options.rate,
                                    "share of other URLs that the filter may claim when full");
  rate->check(kRate);
  app.add_option("--bits-per-entry", options.bits_per_entry, "bits to spend on each URL (12)")
      ->check(between(0.1, 4096))
      ->excludes(rate);
  app.add_option("--hashes", options.hashes, "bits that each URL sets (the best number)")
      ->check(CLI::Range(std::uint32_t{1}, digest::kMaxHashes));
  app.add_option("--capacity", options.capacity,
                 "how many URLs to make it for (as many as there are lines)")
      ->check(kCount);
  app.add_flag("--force", options.force, "replace a file that is there already");
  add_spelling(app, options.spelling);
  add_json(app, options.json);
}

void add_query(CLI::App& parent, const Shared& arguments) {
  QueryOptions& options = arguments->query;
  CLI::App& app = *add_work(parent, arguments, "query",
                            "print the URLs that a digest claims; exit 0 if there is one, 1 if "
                            "not, 2 on trouble",
                            &Arguments::query, &command::query);
  app.add_option("DIGEST", options.digest,
                 "a saved digest, ours or Squid's, or the URL of a proxy or its digest")
      ->required();
  app.add_option("URLS", options.urls, "what to ask for; - or none: a URL per line of stdin");
  auto* const all = app.add_flag_callback(
      "--all", [&options] { options.form = QueryOptions::Form::all; },
      "print every URL, after yes or no and a tab");
  app.add_flag_callback(
         "--json", [&options] { options.form = QueryOptions::Form::json; },
         "print every URL, each in an object on a line")
      ->excludes(all);
  add_spelling(app, options.spelling);
  add_limit(app, options.limit);
}

void add_info(CLI::App& parent, const Shared& arguments) {
  InfoOptions& options = arguments->info;
  CLI::App& app =
      *add_work(parent, arguments, "info", "say what a digest is, how full and how often wrong",
                &Arguments::info, &command::info);
  app.add_option("DIGEST", options.digest,
                 "a saved digest, ours or Squid's, or the URL of a proxy or its digest")
      ->required();
  add_limit(app, options.limit);
  add_json(app, options.json);
}

void add_union(CLI::App& parent, const Shared& arguments) {
  UniteOptions& options = arguments->unite;
  CLI::App& app =
      *add_work(parent, arguments, "union", "make one filter of several that have the same shape",
                &Arguments::unite, &command::unite);
  app.add_option("DIGESTS", options.digests, "saved Bloom filters or digests")
      ->required()
      ->expected(2, 1 << 20);
  app.add_option("-o,--out", options.out, "where to save the union")->required();
  app.add_flag("--force", options.force, "replace a file that is there already");
  add_json(app, options.json);
}

void add_dedup(CLI::App& parent, const Shared& arguments) {
  DedupOptions& options = arguments->dedup;
  CLI::App& app = *add_work(
      parent, arguments, "dedup",
      "pass on each line not seen before. Lines may be of any kind, up to 64 KiB. It remembers all "
      "in a filter that grows, or what the options below say; a line that it remembers is never "
      "passed on again, and a new one is lost as rarely as --fpr says. Memory and error rate are "
      "said on stderr at the end, also when SIGINT or SIGTERM ends it: what was passed on is then "
      "written out, and it exits 130 or 143. With --window they are said at the start, too.",
      &Arguments::dedup, &command::dedup);
  app.add_option("FILES", options.inputs, "files; - or none: standard input");
  app.add_option("--fpr", options.rate, "share of new lines that may be lost (0.001)")
      ->check(kRate);
  auto* const capacity =
      app.add_option("--capacity", options.capacity,
                     "memory for so many distinct lines, and not one more: that is an error");
  capacity->check(kCount);
  app.add_option("--window", options.window,
                 "for endless streams: remember at least the last so many distinct lines, at most "
                 "twice as many, and forget older ones for good")
      ->check(kCount)
      ->excludes(capacity);
  app.add_flag("-q,--quiet", options.quiet, "say nothing on stderr but trouble");
  add_json(app, options.json);
}

void add_common(CLI::App& parent, const Shared& arguments) {
  CommonOptions& options = arguments->common;
  CLI::App& app = *add_work(
      parent, arguments, "common",
      "print the lines that all files hold: each once, in the order of the first file, however "
      "often it stands in any. Files may be larger than memory. No common line is ever missing; "
      "without --exact a few others may be printed, as rarely as --fpr says.",
      &Arguments::common, &command::common);
  app.add_option("FILES", options.files, "two files or more; they are read more than once")
      ->required()
      ->expected(2, 1 << 16);
  auto* const exact =
      app.add_flag("--exact", options.exact, "compare lines, so that no other is printed either");
  app.add_option("--fpr", options.rate, "share of other lines that may be printed (0.001)")
      ->check(kRate)
      ->excludes(exact);
  app.add_option("--memory", options.memory,
                 "what to hold at most; with less the files are read more often (512MiB)")
      ->transform(kMemory);
  app.add_flag("-q,--quiet", options.quiet, "say nothing at the end");
  add_json(app, options.json);
}

// What to do where memory ran out, which depends on who asked for it.
std::string_view remedy_for(std::string_view name) {
  if (name == "build") return "give a smaller --capacity or fewer --bits-per-entry";
  if (name == "dedup") return "give a --window, a smaller --capacity, or a higher --fpr";
  if (name == "common") return "give less --memory";
  return "the digest is larger than this machine, or its limit for us, can hold";
}

}  // namespace

std::function<int(const Streams&)> add_digest(CLI::App& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& digest = *program.add_subcommand("digest", "work with digests and sets of lines");
  digest.require_subcommand(1);
  add_build(digest, arguments);
  add_query(digest, arguments);
  add_info(digest, arguments);
  add_union(digest, arguments);
  add_dedup(digest, arguments);
  add_common(digest, arguments);
  return [arguments](const Streams& streams) {
    const auto& [name, work] = arguments->chosen;
    const auto done = guarded([&work, &streams] { return work(streams); }, remedy_for(name));
    return exit_code(done, "digest " + name, streams);
  };
}

}  // namespace proxy::command
