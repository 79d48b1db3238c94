#include "proxy/command/cache/show.hpp"

#include <fmt/format.h>

#include "config/text.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache/running_proxy.hpp"
#include "proxy/command/cache/scanned_relations.hpp"
#include "proxy/command/terminal_text.hpp"
#include "proxy/inspect/record_facts.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using disk::Kind;
using inspect::Report;

constexpr std::size_t kMostOfHead = std::size_t{64} << 10;
constexpr std::string_view kHeadField = "head";

// A line each, indented, without what a terminal would act upon.
std::string indented(std::string_view head) {
  std::string text;
  for (head = head.substr(0, kMostOfHead); !head.empty();) {
    const auto end = head.find("\r\n");
    text += "  " + escaped(head.substr(0, end)) + '\n';
    head.remove_prefix(end == head.npos ? head.size() : end + 2);
  }
  return text;
}

// All but the head, with names and texts as a terminal may have them.
Report shown(const Report& record) {
  Report report;
  for (const auto& [name, value] : record.facts()) {
    if (name == kHeadField) continue;
    const auto* text = std::get_if<std::string>(&value);
    report.add(escaped(name), text ? Report::Value(escaped(*text)) : value);
  }
  return report;
}

// Writes records as they are told.
class Records {
 public:
  Records(const ShowOptions& options, const Streams& streams)
      : options_(options), out_(streams.out) {}

  void tell(const Report& record) {
    if (options_.json) {
      out_.write(record.json(Report::Letters::ascii));
    } else {
      if (told_ > 0) out_.line("");
      out_.write(shown(record).text());
      if (const auto* head = record.find<std::string>(kHeadField)) out_.write(indented(*head));
    }
    told_ += 1;
  }
  bool done() const { return out_.done(); }

  Result<int> end() {
    if (auto said = out_.finish(); !said) return said.error();
    return told_ > 0 ? kDone : kNone;
  }

 private:
  const ShowOptions& options_;
  Output out_;
  std::uint64_t told_ = 0;
};

Result<int> show_running(const ShowOptions& options, const std::string& url,
                         const Streams& streams) {
  Records records(options, streams);
  const Question question{"/admin/cache/show?url=" + as_parameter(url)};
  const auto asked = ask_running(options.place, question, [&records](const Report& told) {
    if (told.find<std::string>("stored_as")) records.tell(told);
    return !records.done();
  });
  if (!asked) return asked.error();
  return records.end();
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
  if (options.place.path.empty()) return show_running(options, target->url(), streams);
  const auto contents = look_into(options.place, streams);
  if (!contents) return contents.error();
  if (!*contents) return show_running(options, target->url(), streams);
  const auto name = stored_as(options.place, *target);
  const ScannedRelations relations(**contents);
  Records records(options, streams);
  (*contents)->each([&](const disk::Contents::Seen& seen) {
    if (seen.stored && seen.place.kind != Kind::block &&
        cache::url_in(seen.stored->url()) == name) {
      Report report;
      report.add("stored_as", std::string(seen.stored->url()));
      records.tell(report.add(inspect::record_of(seen.key, *seen.stored, relations)));
    }
    return !records.done();
  });
  return records.end();
}

}  // namespace proxy::command
