#include "proxy/command/cache_list.hpp"

#include <fmt/format.h>

#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache_entry.hpp"
#include "proxy/command/progress.hpp"
#include "proxy/command/shown.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;

Report::Value value_of(const std::optional<std::uint64_t>& number) {
  return number ? Report::Value(*number) : Report::Value();
}

std::string text_of(const std::optional<std::uint64_t>& seconds) {
  return seconds ? short_time(std::chrono::seconds(*seconds)) : "?";
}

class Listing {
 public:
  Listing(const ListOptions& options, const disk::Contents& contents, const Streams& streams)
      : options_(options),
        contents_(contents),
        relations_(contents),
        progress_(streams, Printing::lines),
        out_(streams.out) {}

  Result<void> run() {
    progress_.stage("listing", contents_.entries());
    if (!options_.json) out_.line("kind       size   age fresh claim  URL");
    contents_.each([this](const disk::Contents::Seen& seen) {
      progress_.at(++looked_at_, 0);
      if (seen.stored) {
        tell(*seen.stored);
      } else {
        ++unreadable_;
      }
      return !out_.done();
    });
    progress_.clear();
    complete_ = !out_.done();
    return out_.finish();
  }

  // Nothing where nobody wanted to read all of it.
  std::string summary() const {
    if (!complete_) return {};
    auto text = fmt::format("{} entries, {}", fmt::group_digits(listed_), short_size(bytes_));
    if (unreadable_ > 0) {
      text += fmt::format("; {} more cannot be read: `hearsay cache verify` says why", unreadable_);
    }
    return text + '\n';
  }

 private:
  void tell(const disk::Stored& stored) {
    if (options_.prefix && !cache::url_in(stored.url()).starts_with(*options_.prefix)) return;
    const auto facts = facts_of(stored, relations_, now_);
    if (!facts) return;
    listed_ += 1;
    bytes_ += facts->disk_bytes;
    if (options_.json) {
      out_.write(report_of(*facts, stored.url()).json(Report::Letters::ascii));
    } else {
      out_.line(fmt::format("{:<5} {:>9} {:>5} {:>5} {:>5}  {}", facts->kind,
                            short_size(facts->bytes), text_of(facts->age), text_of(facts->fresh),
                            text_of(facts->claimable), escaped(stored.url())));
    }
  }

  static Report report_of(const EntryFacts& facts, std::string_view url) {
    Report report;
    report.add("url", std::string(url)).add("kind", std::string(facts.kind));
    report.add("bytes", facts.bytes).add("held_bytes", facts.held_bytes);
    report.add("disk_bytes", facts.disk_bytes);
    report.add("status", value_of(facts.status)).add("age_seconds", value_of(facts.age));
    report.add("fresh_seconds", value_of(facts.fresh));
    report.add("claimable_seconds", value_of(facts.claimable)).add("hits", Report::Value());
    return report;
  }

  const ListOptions& options_;
  const disk::Contents& contents_;
  const Relations relations_;
  const cache::Time now_ = std::chrono::system_clock::now();
  Progress progress_;
  Output out_;
  std::uint64_t looked_at_ = 0;
  std::uint64_t listed_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t unreadable_ = 0;
  bool complete_ = false;
};

}  // namespace

Result<int> list(const ListOptions& options, const Streams& streams) {
  const auto contents = look_into(options.place, streams);
  if (!contents) return contents.error();
  Listing listing(options, **contents, streams);
  if (auto listed = listing.run(); !listed) return listed.error();
  say(streams.err, listing.summary());
  return kDone;
}

}  // namespace proxy::command
