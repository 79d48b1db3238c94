#include "proxy/command/any_digest.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {
namespace {

class Asker {
 public:
  Asker(const AnyDigest& digest, const QueryOptions& options, Output& out)
      : digest_(digest), options_(options), out_(out) {}

  bool found() const { return found_; }

  // Looks up one URL and prints the result. Trouble lacks the place of the URL.
  Result<void> ask(std::string_view url) {
    const auto key = key_of(url, options_.spelling);
    if (!key) return key.error();
    const bool member = digest_.contains(*key);
    found_ = found_ || member;
    print(url, member);
    return {};
  }

 private:
  void print(std::string_view url, bool member) {
    switch (options_.print) {
      case QueryOptions::Print::json:
        out_.write(Report().add("url", std::string(url)).add("member", member).json());
        return;
      case QueryOptions::Print::all:
        out_.write(member ? "yes\t" : "no\t");
        break;
      case QueryOptions::Print::members:
        if (!member) return;
    }
    out_.line(url);
  }

  const AnyDigest& digest_;
  const QueryOptions& options_;
  Output& out_;
  bool found_ = false;
};

Result<void> ask_lines(Asker& asker, const Streams& streams, Output& out) {
  const auto input = InputFile::open("-", streams);
  if (!input) return input.error();
  Progress progress(streams, Printing::lines);
  progress.begin("asking", input->size());
  Lines lines(*input, progress, &out);
  while (const auto line = lines.next()) {
    if (out.closed()) return {};
    if (line->empty()) continue;
    if (auto asked = asker.ask(*line); !asked) return lines.at_line(asked.error().text);
  }
  if (lines.trouble()) return *lines.trouble();
  return {};
}

Result<void> ask_all(Asker& asker, const QueryOptions& options, const Streams& streams,
                     Output& out) {
  if (options.urls.empty()) return ask_lines(asker, streams, out);
  for (const auto& url : options.urls) {
    if (auto asked = url == "-" ? ask_lines(asker, streams, out) : asker.ask(url); !asked) {
      return asked;
    }
  }
  return {};
}

}  // namespace

Result<int> query(const QueryOptions& options, const Streams& streams) {
  const auto found = find_digest(options.digest, options.limit);
  if (!found) return found.error();
  Output out(streams.out);
  Asker asker(found->digest, options, out);
  const auto asked = ask_all(asker, options, streams, out);
  const auto said = out.finish();
  if (!asked) return asked.error();
  if (!said) return said.error();
  return asker.found() ? kDone : kNone;
}

Result<int> info(const InfoOptions& options, const Streams& streams) {
  const auto found = find_digest(options.digest, options.limit);
  if (!found) return found.error();
  Report report;
  found->url.empty() ? report.add("file", options.digest) : report.add("url", found->url);
  report.add(found->digest.describe());
  return print(options.json ? report.json() : report.text(), streams);
}

}  // namespace proxy::command
