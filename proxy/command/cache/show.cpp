#include "proxy/command/cache/show.hpp"

#include <fmt/format.h>

#include "config/text.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache/running_proxy.hpp"
#include "proxy/command/cache/scanned_relations.hpp"
#include "proxy/command/terminal_text.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;
using inspect::Report;

constexpr std::size_t kMaxHead = std::size_t{64} << 10;
constexpr std::string_view kHeadField = "head";

// One line per field, indented and escaped.
std::string indented(std::string_view head) {
  std::string text;
  for (head = head.substr(0, kMaxHead); !head.empty();) {
    const auto end = head.find("\r\n");
    text += "  " + escaped(head.substr(0, end)) + '\n';
    head.remove_prefix(end == head.npos ? head.size() : end + 2);
  }
  return text;
}

// All facts but the head, with names and texts escaped.
Report for_terminal(const Report& record) {
  Report report;
  for (const auto& [name, value] : record.facts()) {
    if (name == kHeadField) continue;
    const auto* text = std::get_if<std::string>(&value);
    report.add(escaped(name), text ? Report::Value(escaped(*text)) : value);
  }
  return report;
}

// Prints records and counts them.
class RecordPrinter {
 public:
  RecordPrinter(const ShowOptions& options, const Streams& streams)
      : options_(options), out_(streams.out) {}

  void print(const Report& record) {
    if (options_.json) {
      out_.write(record.json(Report::Letters::ascii));
    } else {
      if (records_ > 0) out_.line("");
      out_.write(for_terminal(record).text());
      if (const auto* head = record.find<std::string>(kHeadField)) out_.write(indented(*head));
    }
    records_ += 1;
  }
  bool done() const { return out_.closed(); }

  Result<int> end() {
    if (auto said = out_.finish(); !said) return said.error();
    return records_ > 0 ? kDone : kNone;
  }

 private:
  const ShowOptions& options_;
  Output out_;
  std::uint64_t records_ = 0;
};

Result<int> show_running(const ShowOptions& options, const std::string& url,
                         const Streams& streams) {
  RecordPrinter printer(options, streams);
  const PageRequest request{"/admin/cache/show?url=" + percent_encoded(url)};
  const auto asked = ask_proxy(options.cache, request, [&printer](const Report& line) {
    if (line.find<std::string>("stored_as")) printer.print(line);
    return printer.done() ? ReadOn::no : ReadOn::yes;
  });
  if (!asked) return asked.error();
  return printer.end();
}

}  // namespace

Result<http::Target> target_of(std::string_view url) {
  const auto plain = cache::url_in(url);
  const auto target = http::parse_target("GET", plain.substr(0, plain.find('#')));
  if (target && target->form() == http::Target::Form::absolute) return *target;
  return Trouble{fmt::format("{} is no URL that a proxy could hold (http://HOST/PATH)",
                             config::in_quotes(url))};
}

Result<int> show(const ShowOptions& options, const Streams& streams) {
  const auto target = target_of(options.url);
  if (!target) return target.error();
  if (options.cache.path.empty()) return show_running(options, target->url(), streams);
  const auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  if (!*contents) return show_running(options, target->url(), streams);
  const auto name = stored_name(options.cache, *target);
  const ScannedRelations relations(**contents);
  RecordPrinter printer(options, streams);
  (*contents)->each([&](const disk::Contents::Seen& seen) {
    if (seen.stored && seen.place.kind != RecordKind::block &&
        cache::url_in(seen.stored->url()) == name) {
      Report report;
      report.add("stored_as", std::string(seen.stored->url()));
      printer.print(report.add(inspect::record_of(seen.key, *seen.stored, relations)));
    }
    return !printer.done();
  });
  return printer.end();
}

}  // namespace proxy::command
