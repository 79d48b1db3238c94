#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "config/text.hpp"
#include "digest/shape.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace {

// The options of every subcommand, and the chosen work.
struct DigestArguments {
  BuildOptions build;
  QueryOptions query;
  InfoOptions info;
  UniteOptions unite;
  DedupOptions dedup;
  CommonOptions common;
  ChosenWork chosen;
};

// Accepts numbers from `least` to `most`. CLI::Range would accept NaN.
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
      "take lines as they are, URLs or not, instead of making URLs canonical");
}

void add_save(CLI::App& app, SaveOptions& options, const std::string& about) {
  app.add_option("-o,--out", options.out, about)->required();
  app.add_flag("--force", options.force, "replace a file that exists already");
  add_json(app, options.json);
}

void add_source(CLI::App& app, std::string& digest, std::chrono::milliseconds& limit) {
  app.add_option("DIGEST", digest,
                 "a saved digest, ours or Squid's, or the URL of a proxy or its digest")
      ->required();
  app.add_option_function<double>(
         "--timeout",
         [&limit](double seconds) {
           limit = std::chrono::milliseconds(static_cast<long>(1000 * seconds));
         },
         "seconds to wait for a proxy's answer (30)")
      ->check(between(0.001, 3600));
}

void add_build(CLI::App& parent, DigestArguments& arguments) {
  BuildOptions& options = arguments.build;
  CLI::App& app = add_work(parent, arguments.chosen, "build",
                           "make a filter of the URLs in files, one per line",
                           [&options](const Streams& streams) { return build(options, streams); });
  app.add_option("FILES", options.inputs, "files of URLs; - or none: standard input");
  add_save(app, options.save, "where to save the filter");
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
  add_spelling(app, options.spelling);
}

void add_query(CLI::App& parent, DigestArguments& arguments) {
  QueryOptions& options = arguments.query;
  CLI::App& app = add_work(parent, arguments.chosen, "query",
                           "print the URLs that a digest claims; "
                           "exit 0 if it claims any, 1 if none, 2 on trouble",
                           [&options](const Streams& streams) { return query(options, streams); });
  add_source(app, options.digest, options.limit);
  app.add_option("URLS", options.urls,
                 "URLs to look up; - or none: a URL per line of standard input");
  auto* const all = app.add_flag_callback(
      "--all", [&options] { options.print = QueryOptions::Print::all; },
      "print every URL, after yes or no and a tab");
  app.add_flag_callback(
         "--json", [&options] { options.print = QueryOptions::Print::json; },
         "print every URL, as one JSON object per line")
      ->excludes(all);
  add_spelling(app, options.spelling);
}

void add_info(CLI::App& parent, DigestArguments& arguments) {
  InfoOptions& options = arguments.info;
  CLI::App& app = add_work(parent, arguments.chosen, "info",
                           "print what a digest is, how full and how often wrong",
                           [&options](const Streams& streams) { return info(options, streams); });
  add_source(app, options.digest, options.limit);
  add_json(app, options.json);
}

void add_union(CLI::App& parent, DigestArguments& arguments) {
  UniteOptions& options = arguments.unite;
  CLI::App& app = add_work(parent, arguments.chosen, "union",
                           "make one filter of several filters of the same shape",
                           [&options](const Streams& streams) { return unite(options, streams); });
  app.add_option("DIGESTS", options.digests, "saved Bloom filters or digests")
      ->required()
      ->expected(2, 1 << 20);
  add_save(app, options.save, "where to save the union");
}

void add_dedup(CLI::App& parent, DigestArguments& arguments) {
  DedupOptions& options = arguments.dedup;
  CLI::App& app = add_work(
      parent, arguments.chosen, "dedup",
      "pass on each line not seen before. Lines may contain anything, up to 64 KiB. "
      "Remembers all lines in a filter that grows, unless an option below limits it. "
      "A remembered line is never passed on again; "
      "at most the share --fpr of new lines is lost. "
      "Reports memory and error rate on stderr at the end, with --window also at the start. "
      "SIGINT or SIGTERM ends the input: "
      "all output is still written, and the exit code is 130 or 143.",
      [&options](const Streams& streams) { return dedup(options, streams); });
  app.add_option("FILES", options.inputs, "files; - or none: standard input");
  app.add_option("--fpr", options.rate, "share of new lines that may be lost (0.001)")
      ->check(kRate);
  auto* const capacity =
      app.add_option("--capacity", options.capacity,
                     "remember so many distinct lines in constant memory; one more is an error");
  capacity->check(kCount);
  app.add_option("--window", options.window,
                 "for endless streams: remember at least so many of the last distinct lines, "
                 "at most twice as many, and forget older ones")
      ->check(kCount)
      ->excludes(capacity);
  app.add_flag("-q,--quiet", options.quiet, "print nothing on stderr but trouble");
  add_json(app, options.json);
}

void add_common(CLI::App& parent, DigestArguments& arguments) {
  CommonOptions& options = arguments.common;
  CLI::App& app =
      add_work(parent, arguments.chosen, "common",
               "print the lines that all files contain: "
               "each once, in the order of the first file, however often it occurs. "
               "Files may be larger than memory. No common line is ever missing; "
               "without --exact, at most the share --fpr of the other lines is printed too.",
               [&options](const Streams& streams) { return common_lines(options, streams); });
  app.add_option("FILES", options.files, "two files or more; they are read more than once")
      ->required()
      ->expected(2, 1 << 16);
  auto* const exact =
      app.add_flag("--exact", options.exact, "compare lines, so that no other is printed either");
  app.add_option("--fpr", options.rate, "share of other lines that may be printed (0.001)")
      ->check(kRate)
      ->excludes(exact);
  app.add_option("--memory", options.memory,
                 "memory to use at most; with less, the files are read more often (512MiB)")
      ->transform(kMemory);
  app.add_flag("-q,--quiet", options.quiet, "print no report at the end");
  add_json(app, options.json);
}

// What to do if memory ran out, by the name of the subcommand.
std::string_view remedy_for(std::string_view name) {
  if (name == "build") return "give a smaller --capacity or fewer --bits-per-entry";
  if (name == "dedup") return "give a --window, a smaller --capacity, or a higher --fpr";
  if (name == "common") return "give less --memory";
  return "the digest is larger than this machine, or its limit for us, can hold";
}

}  // namespace

std::function<int(const Streams&)> add_digest(CLI::App& program) {
  // The parser writes to it later, when this function has returned.
  auto arguments = std::make_shared<DigestArguments>();
  CLI::App& digest = *program.add_subcommand("digest", "work with digests and sets of lines");
  digest.require_subcommand(1);
  add_build(digest, *arguments);
  add_query(digest, *arguments);
  add_info(digest, *arguments);
  add_union(digest, *arguments);
  add_dedup(digest, *arguments);
  add_common(digest, *arguments);
  return [arguments](const Streams& streams) {
    const auto& [name, work] = arguments->chosen;
    return run_subcommand(work, "digest " + name, remedy_for(name), streams);
  };
}

}  // namespace proxy::command
