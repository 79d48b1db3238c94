#include "proxy/command/cache_show.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/text.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache_entry.hpp"
#include "proxy/command/shown.hpp"
#include "proxy/http/target.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using disk::Kind;

constexpr std::size_t kMostOfHead = std::size_t{64} << 10;

std::string hex_of(const disk::Key& key) {
  std::string text;
  for (const auto byte : key.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// RFC 3339; nothing for what lies beyond the years that it can say.
Report::Value time_of(std::int64_t milliseconds) {
  constexpr std::int64_t kYear10000 = 253'402'300'800'000;
  if (milliseconds < 0 || milliseconds >= kYear10000) return {};
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(milliseconds)};
  return fmt::format("{:%FT%T}Z", time);
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::whole:
      return "whole";
    case Kind::object:
      return "large";
    case Kind::block:
      return "block";
    case Kind::head:
      return "newer head";
    case Kind::selector:
      return "selector";
    case Kind::purge:
    case Kind::purge_prefix:
      return "purge";
  }
  return "unknown";
}

// Whether the body is what it was.
std::string state_of_body(const disk::Stored& stored) {
  std::vector<std::uint8_t> body(stored.body_bytes());
  const auto read = stored.read_body(std::span(body), disk::Wait::yes);
  return read ? "good" : std::string(disk::to_string(read.error()));
}

void add_record(Report& report, const disk::Contents::Seen& seen, const disk::Stored& stored) {
  const disk::RecordHeader& header = stored.header();
  report.add("record", std::string(name_of(header.kind))).add("key", hex_of(seen.key));
  report.add("segment", file_of(header.at.segment)).add("offset", std::uint64_t{header.at.offset});
  report.add("disk_bytes", header.bytes()).add("body_bytes", std::uint64_t{stored.body_bytes()});
  if (header.kind == Kind::head) {
    report.add("body_segment", file_of(stored.body_at().segment));
    report.add("body_offset", std::uint64_t{stored.body_at().offset});
  }
  report.add("response_time", time_of(header.response_time));
  report.add("request_took_ms", std::uint64_t{header.request_took});
  report.add("claimable_until",
             header.claim() == 0 ? Report::Value() : time_of(std::int64_t{1000} * header.claim()));
  report.add("version", header.version).add("flags", std::uint64_t{header.flags});
  // A head whose checksum did not fit would not have been found.
  report.add("head_checksum", std::string("good")).add("body_checksum", state_of_body(stored));
}

void add_entry(Report& report, const cache::SavedHead& saved, const Relations& relations) {
  const cache::Saved& entry = saved.entry;
  report.add("status", std::uint64_t{entry.status}).add("shared", entry.shared);
  report.add("lifetime_seconds", static_cast<std::uint64_t>(entry.freshness.lifetime.count()));
  const auto age = std::chrono::floor<std::chrono::seconds>(entry.initial_age).count();
  report.add("age_on_arrival_seconds", static_cast<std::uint64_t>(age));
  if (saved.selector != 0) report.add("reachable", relations.leads_to(saved.selector));
}

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

// "0-4, 7", or "none".
std::string runs_of(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += fmt::to_string(numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text.empty() ? "none" : text;
}

class Showing {
 public:
  Showing(const ShowOptions& options, const disk::Contents& contents, Output& out)
      : options_(options), relations_(contents), out_(out) {}

  void tell(const disk::Contents::Seen& seen, const disk::Stored& stored) {
    Report report;
    report.add("stored_as", shown(stored.url()));
    add_record(report, seen, stored);
    if (stored.header().kind == Kind::object) {
      const auto& held = relations_.held(stored.header());
      report.add("blocks", std::uint64_t{stored.header().block});
      report.add("blocks_held", runs_of(held.blocks)).add("bytes_held", held.bytes);
    }
    std::string_view head;
    const auto saved = cache::decode_head(stored.url(), stored.head(), stored.header());
    if (saved) {
      add_entry(report, *saved, relations_);
      for (const auto& field : saved->entry.variant.selectors()) {
        const auto& value = field.value;
        report.add("for_" + field.name, value ? Report::Value(shown(*value)) : Report::Value());
      }
      head = saved->entry.head;
    } else if (const auto selector = cache::decode_selector(stored.head())) {
      report.add("selects_by", shown(selector->names));
    }
    write(report, head);
  }

 private:
  std::string shown(std::string_view text) const {
    return options_.json ? std::string(text) : escaped(text);
  }

  void write(Report& report, std::string_view head) {
    if (options_.json) {
      report.add("head", head.empty() ? Report::Value() : Report::Value(std::string(head)));
      out_.write(report.json(Report::Letters::ascii));
      return;
    }
    if (told_++ > 0) out_.line("");
    out_.write(report.text());
    out_.write(indented(head));
  }

  const ShowOptions& options_;
  const Relations relations_;
  Output& out_;
  std::uint64_t told_ = 0;
};

}  // namespace

Result<std::string> stored_url(std::string_view url) {
  const auto plain = cache::url_in(url);
  const auto target = http::parse_target("GET", plain.substr(0, plain.find('#')));
  if (target && target->form() == http::Target::Form::absolute) {
    return {boost::system::in_place_value, target->url()};
  }
  return Trouble{fmt::format("{} is no URL that a proxy could hold (http://HOST/PATH)",
                             config::in_quotes(url))};
}

Result<int> show(const ShowOptions& options, const Streams& streams) {
  const auto url = stored_url(options.url);
  if (!url) return url.error();
  const auto contents = look_into(options.place, streams);
  if (!contents) return contents.error();
  Output out(streams.out);
  Showing showing(options, **contents, out);
  int code = kNone;
  (*contents)->each([&](const disk::Contents::Seen& seen) {
    if (seen.stored && seen.place.kind != Kind::block &&
        cache::url_in(seen.stored->url()) == *url) {
      code = kDone;
      showing.tell(seen, *seen.stored);
    }
    return !out.done();
  });
  if (auto said = out.finish(); !said) return said.error();
  return code;
}

}  // namespace proxy::command
