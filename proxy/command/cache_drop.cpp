#include <fmt/format.h>

#include <deque>
#include <future>
#include <vector>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache_access.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using inspect::Report;

// What to purge in a stopped cache: all names with a prefix, or the records of one URL.
struct Purge {
  std::optional<std::string> prefix;
  std::vector<disk::Key> keys;
  std::uint64_t responses = 0;
};

Purge purge_of(const CacheOptions& options, const std::string& name, const disk::Contents& contents,
               cache::Time now) {
  Purge purge;
  const bool one = !options.url.empty();
  const ScannedRelations relations(contents);
  contents.each([&](const disk::Contents::Seen& seen) {
    if (!seen.stored) return true;
    const auto url = cache::StoredName::decode(seen.stored->url()).url;
    if (one ? url != name : !url.starts_with(name)) return true;
    purge.responses += inspect::facts_of(*seen.stored, relations, now) ? 1 : 0;
    if (one) purge.keys.push_back(seen.key);  // the blocks of a large object are records too
    return true;
  });
  if (!one) purge.prefix = name;
  return purge;
}

// The most purges that wait for the disk at once.
constexpr std::size_t kAtOnce = 4096;

// How long to wait for the searches of earlier purges by prefix: the log keeps a bounded number of
// such purges until their searches are done.
constexpr std::chrono::minutes kSearchLimit{10};

disk::Result<void> carry_out(disk::Disk& disk, const Purge& purge) {
  std::deque<std::future<disk::Result<void>>> answers;
  const auto awaited = [&answers] {
    auto promise = std::make_shared<std::promise<disk::Result<void>>>();
    answers.push_back(promise->get_future());
    return [promise](disk::Result<void> done) { promise->set_value(done); };
  };
  if (purge.prefix) {
    auto taken = disk.purge_prefix(*purge.prefix, awaited());
    if (!taken && disk.queue().settle(kSearchLimit))
      taken = disk.purge_prefix(*purge.prefix, awaited());
    if (!taken) return taken;
  }
  disk::Result<void> result;
  for (const auto& key : purge.keys) {
    disk.purge(key, awaited());
    if (answers.size() < kAtOnce) continue;
    if (const auto done = answers.front().get(); !done) result = done;
    answers.pop_front();
  }
  for (auto& answer : answers) {
    if (const auto done = answer.get(); !done) result = done;
  }
  return result;
}

// The URL or prefix to drop, in canonical form; empty for everything.
struct DropName {
  std::string url;     // as requested
  std::string stored;  // by the rules of its site
};

Result<DropName> name_in(const CacheOptions& options) {
  if (options.all) return DropName{};
  const bool one = !options.url.empty();
  const auto target = target_of(one ? options.url : options.prefix.value_or(""));
  if (!target) return target.error();
  return DropName{target->url(), one ? stored_name(options.cache, *target) : target->url()};
}

Result<int> report(std::uint64_t responses, const Streams& streams) {
  const auto text = fmt::format("dropped {} response{}\n", fmt::group_digits(responses),
                                responses == 1 ? "" : "s");
  if (auto printed = print(text, streams); !printed) return printed;
  return responses > 0 ? kDone : kNone;
}

// Counts the responses by a list in advance: a proxy that purges by prefix does not count those on
// disk.
Result<std::uint64_t> count_running(const ConfiguredCache& cache, const std::string& prefix) {
  std::uint64_t responses = 0;
  const PageRequest request{"/admin/cache/list?prefix=" + percent_encoded(prefix)};
  const auto listed = ask_proxy(cache, request, [&responses](const Report& line) {
    responses += line.find<std::string>("url") ? 1 : 0;
    return ReadOn::yes;
  });
  if (!listed) return listed.error();
  return responses;
}

// The body of a POST to /admin/cache/drop.
std::string order_of(const CacheOptions& options, const std::string& name) {
  Report order;
  if (options.all) {
    order.add("host", std::string("*"));
  } else {
    order.add(options.url.empty() ? "prefix" : "url", name);
  }
  return order.json(Report::Letters::ascii);
}

Result<int> drop_running(const CacheOptions& options, const std::string& name,
                         const Streams& streams) {
  const bool one = !options.url.empty();
  auto responses = one ? Result<std::uint64_t>(0U) : count_running(options.cache, name);
  if (!responses) return responses.error();
  const PageRequest request{.target = "/admin/cache/drop", .body = order_of(options, name)};
  bool owed = false;
  const auto asked = ask_proxy(options.cache, request, [&](const Report& line) {
    const auto* purged = line.find<std::uint64_t>("purged");
    if (purged && one) responses = *purged;
    owed = line.find<bool>("owed") != nullptr;
    return ReadOn::yes;
  });
  if (!asked) return asked.error();
  if (owed) {
    say(streams.err,
        "the disk rests; the proxy writes the purge to it later. "
        "If the proxy crashes before that, the responses come back\n");
  }
  return report(*responses, streams);
}

}  // namespace

Result<int> drop(const CacheOptions& options, const Streams& streams) {
  const auto name = name_in(options);
  if (!name) return name.error();
  auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  // The URL as requested: the proxy applies the rules of its sites itself.
  if (!*contents) return drop_running(options, name->url, streams);
  machine::Clock clock;
  const auto purge = purge_of(options, name->stored, **contents, clock.now());
  contents->reset();  // unlocks the directory for disk::Disk
  // As root, this process would make files that the proxy cannot read, and follow links that the
  // user may have put there.
  if (options.cache.account) machine::become(*options.cache.account);
  disk::Options how{.path = options.cache.path, .log = {}};
  how.log.bytes = options.cache.bytes;
  // What is said to be dropped must be on disk before this process ends.
  how.log.sync_purges = true;
  how.purge_reading = options.cache.reading;
  {
    disk::Disk disk(clock, how, digest::unpredictable());
    const auto started = disk.start();
    if (!started) return trouble_with(options.cache, started.error());
    const auto done = carry_out(disk, purge);
    if (!done) return trouble_with(options.cache, done.error());
  }
  return report(purge.responses, streams);
}

}  // namespace proxy::command
