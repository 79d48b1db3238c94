#include "proxy/command/cache/drop.hpp"

#include <fmt/format.h>

#include <deque>
#include <future>
#include <optional>
#include <vector>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache/running_proxy.hpp"
#include "proxy/command/cache/scanned_relations.hpp"
#include "proxy/command/cache/show.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using inspect::Report;

// What is to go, and how much of it is there.
struct Order {
  std::optional<std::string> prefix;
  std::vector<disk::Key> keys;
  std::uint64_t responses = 0;
};

Order order_of(const DropOptions& options, const std::string& name,
               const disk::Contents& contents) {
  Order order;
  const bool one = !options.url.empty();
  const ScannedRelations relations(contents);
  const auto now = std::chrono::system_clock::now();
  contents.each([&](const disk::Contents::Seen& seen) {
    if (!seen.stored) return true;
    const auto url = cache::url_in(seen.stored->url());
    if (one ? url != name : !url.starts_with(name)) return true;
    order.responses += inspect::facts_of(*seen.stored, relations, now) ? 1 : 0;
    if (one) order.keys.push_back(seen.key);  // blocks of a large one too
    return true;
  });
  if (!one) order.prefix = name;
  return order;
}

// At most this many wait for the disk together.
constexpr std::size_t kAtOnce = 4096;

// By then what earlier purges by prefix left to be searched for is, and there is room for others.
constexpr std::chrono::minutes kSearched{10};

disk::Result<void> carry_out(disk::Disk& disk, const Order& order) {
  std::deque<std::future<disk::Result<void>>> answers;
  const auto awaited = [&answers] {
    auto promise = std::make_shared<std::promise<disk::Result<void>>>();
    answers.push_back(promise->get_future());
    return [promise](disk::Result<void> done) { promise->set_value(done); };
  };
  if (order.prefix) {
    auto taken = disk.purge_prefix(*order.prefix, awaited());
    if (!taken && disk.settle(kSearched)) taken = disk.purge_prefix(*order.prefix, awaited());
    if (!taken) return taken;
  }
  disk::Result<void> result;
  for (const auto& key : order.keys) {
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

// What is to go, in canonical text; nothing for everything.
struct Named {
  std::string url;        // or a prefix, as it was asked for
  std::string stored_as;  // by the rules of its site
};

Result<Named> name_in(const DropOptions& options) {
  if (options.all) return Named{};
  const auto target = target_of(options.url.empty() ? options.prefix : options.url);
  if (!target) return target.error();
  const bool one = !options.url.empty();
  return Named{target->url(), one ? stored_as(options.place, *target) : target->url()};
}

Result<int> tell(std::uint64_t responses, const Streams& streams) {
  Output out(streams.out);
  out.line(fmt::format("dropped {} responses", fmt::group_digits(responses)));
  if (auto said = out.finish(); !said) return said.error();
  return responses > 0 ? kDone : kNone;
}

// A proxy that drops many does not count those on disk: they are listed before.
Result<int> drop_running(const DropOptions& options, const std::string& name,
                         const Streams& streams) {
  std::uint64_t responses = 0;
  if (options.url.empty()) {
    const Question which{"/admin/cache/list?prefix=" + as_parameter(name)};
    const auto listed = ask_running(options.place, which, [&responses](const Report& told) {
      responses += told.find<std::string>("url") ? 1 : 0;
      return true;
    });
    if (!listed) return listed.error();
  }
  Report order;
  if (options.all) {
    order.add("host", std::string("*"));
  } else {
    order.add(options.url.empty() ? "prefix" : "url", name);
  }
  const Question question{
      .target = "/admin/cache/drop", .changes = true, .body = order.json(Report::Letters::ascii)};
  bool owed = false;
  const auto asked = ask_running(options.place, question, [&](const Report& told) {
    const auto* purged = told.find<std::uint64_t>("purged");
    if (purged && !options.url.empty()) responses = *purged;
    owed = told.find<bool>("owed") != nullptr;
    return true;
  });
  if (!asked) return asked.error();
  if (owed) {
    say(streams.err,
        "the disk rests and is told when it is back; a crash before that would bring "
        "them back\n");
  }
  return tell(responses, streams);
}

}  // namespace

Result<int> drop(const DropOptions& options, const Streams& streams) {
  const auto name = name_in(options);
  if (!name) return name.error();
  if (options.place.path.empty()) return drop_running(options, name->url, streams);
  auto contents = look_into(options.place, streams);
  if (!contents) return contents.error();
  if (!*contents) return drop_running(options, name->url, streams);
  const auto order = order_of(options, name->stored_as, **contents);
  contents->reset();  // makes way for who writes
  disk::Options how{.path = options.place.path, .log = {}};
  how.log.bytes = options.place.bytes;
  how.log.sync_purges = true;
  how.purge_reading = options.place.reading;
  {
    disk::Disk disk(how);
    const auto started = disk.start();
    if (!started) return cache_trouble(options.place, started.error());
    const auto done = carry_out(disk, order);
    if (!done) return cache_trouble(options.place, done.error());
  }
  return tell(order.responses, streams);
}

}  // namespace proxy::command
