#include <fmt/format.h>

#include "config/text.hpp"
#include "digest/little_endian.hpp"
#include "digest/random_words.hpp"
#include "proxy/command/any_digest.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/lines.hpp"
#include "proxy/http/target.hpp"

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
  // As in other filters, no name means standard input.
  if (options.urls.empty()) return ask_lines(asker, streams, out);
  for (const auto& url : options.urls) {
    if (auto asked = url == "-" ? ask_lines(asker, streams, out) : asker.ask(url); !asked) {
      return asked;
    }
  }
  return {};
}

}  // namespace

Result<digest::Key> key_of(std::string_view line, Spelling spelling) {
  if (spelling == Spelling::verbatim) return digest::key_of(digest::Method::get, line);
  // No client sends a fragment (RFC 9110 section 7.1), so no cache has it in a name.
  const auto target = http::parse_target("GET", line.substr(0, line.find('#')));
  if (target && target->form() == http::Target::Form::absolute) {
    return digest::key_of(digest::Method::get, target->url());
  }
  return Trouble{
      fmt::format("{} is no URL that a proxy could hold (http://HOST/PATH); --verbatim takes lines "
                  "of any kind as they stand",
                  config::in_quotes(line))};
}

digest::Salt random_salt() {
  const auto words = digest::unpredictable();
  digest::Salt salt{};
  digest::store64(salt.data(), words());
  digest::store64(salt.data() + 8, words());
  return salt;
}

digest::Key line_key(const digest::Salt& salt, std::string_view line) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  // Not the key of stored responses, which anybody can compute: lines could be made to collide.
  const digest::SipHash128 hash(salt, std::span(bytes, line.size()));
  digest::Key key;
  digest::store64(key.bytes.data(), hash.low());
  digest::store64(key.bytes.data() + 8, hash.high());
  return key;
}

Result<int> query(const QueryOptions& options, const Streams& streams) {
  const auto found = find_digest(options.digest, options.limit);
  if (!found) return found.error();
  Output out(streams.out);
  Asker asker(found->digest, options, out);
  const auto asked = ask_all(asker, options, streams, out);
  // Before trouble is reported: what was found above a faulty line is printed all the same.
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
