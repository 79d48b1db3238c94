#include "proxy/inspect/live.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/inspect/live_parts.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;

struct Opened {
  disk::Walk::Step at;
  disk::StoredRecord record;
};

// The most blocks that are looked up, since an origin may state any length for an object.
constexpr std::uint32_t kLookedFor = std::uint32_t{1} << 18;

StoredBlocks stored_blocks_of(const Live& live, const disk::Key& url_key, std::string_view url,
                              std::uint64_t version, std::uint64_t length) {
  StoredBlocks held;
  const auto all = cache::blocks_in(std::min(length, cache::kLargestObject));
  // No record lists the blocks of an object (cache/object.hpp), so each one is looked up.
  for (std::uint32_t number = 0; number < std::min(all, kLookedFor); ++number) {
    const auto key = disk::block_key(url_key, version, number);
    const bool written = live.disk && live.disk->disk().catalog().index.find(key);
    if (!written && !live.memory.holds(key)) continue;
    const auto bytes = cache::bytes_of_block(number, length).size();
    held.numbers.push_back(number);
    held.bytes += bytes;
    if (written) held.disk_bytes += disk::kRecordHeaderBytes + url.size() + bytes;
  }
  return held;
}

// The record that the disk has under the key, if the record is of this URL.
std::optional<Opened> open(const Live& live, const disk::Key& key, std::string_view url) {
  if (!live.disk) return {};
  auto& store = live.disk->disk();
  const auto place = store.catalog().index.find(key);
  // The index knows keys alone: holds() spares a read of a record whose URL is another.
  if (!place || !store.holds(key, url, place->at)) return {};
  auto record = store.open(key, *place, disk::Wait::yes);
  if (!record || record->url() != url) return {};
  return Opened{{key, *place}, std::move(*record)};
}

// The selector that leads to the variants of the URL, if there is one on disk.
std::optional<cache::Selector> selector_of(const Live& live, const disk::Key& url_key,
                                           std::string_view url) {
  const auto opened = open(live, url_key, url);
  const bool leads = opened && opened->at.place.kind == RecordKind::selector;
  return leads ? cache::decode_selector(opened->record.head()) : std::nullopt;
}

class LiveShow final : public SlicedWalk {
 public:
  LiveShow(const Live& live, std::string_view url)
      : live_(live),
        relations_(live_),
        names_{cache::StoredName{cache::Space::web, url}.encode(),
               cache::StoredName{cache::Space::gateway, url}.encode()} {}

  bool next(machine::Clock& clock, std::string& out) override {
    if (!std::exchange(begun_, true)) {
      for (const auto& name : names_) write_at_url(name, out);
    }
    // Records that a selector leads to lie under keys that only a walk can find.
    const SliceLimit limit(clock, out);
    while (walk_ && !limit.reached()) {
      if (const auto step = walk_->next()) {
        write(*step, FoundBy::variant, out);
      } else {
        walk_.reset();
      }
    }
    return walk_.has_value();
  }

 private:
  // A variant lies under a key of its own. All other records the URL's key alone leads to.
  enum class FoundBy : std::uint8_t { at_url, variant };

  void write_at_url(const std::string& name, std::string& out) {
    const auto key = digest::key_of(digest::Method::get, name);
    std::vector<cache::Store::Response> held;
    live_.memory.look(key, held);
    for (const auto& one : held) {
      // What is on disk, too, is written with its record, which has the hits of both.
      if (one.entry->url() != name || relations_.on_disk(one)) continue;
      const auto blocks = relations_.stored_blocks(key, *one.entry);
      const EntryFacts uses{.hits = one.hits, .where = "memory"};
      append(out, begin(name, uses).add(record_of(*one.entry, blocks)));
    }
    const auto place = live_.disk ? live_.disk->disk().catalog().index.find(key) : std::nullopt;
    if (!place) return;
    write({key, *place}, FoundBy::at_url, out);
    if (place->kind == RecordKind::selector && !walk_) {
      walk_.emplace(live_.disk->disk().catalog().index, is_response);
    }
  }

  // Writes the record if it is of one of the names and is found by `wanted`. The walk, which meets
  // all records, must not repeat what was written before it began.
  void write(const disk::Walk::Step& step, FoundBy wanted, std::string& out) {
    auto& store = live_.disk->disk();
    const auto stored = store.open(step.key, step.place, disk::Wait::yes);
    if (!stored || std::find(names_.begin(), names_.end(), stored->url()) == names_.end()) return;
    const auto url = stored->url();
    const bool at_url = step.key == digest::key_of(digest::Method::get, url);
    const auto found_by = at_url ? FoundBy::at_url : FoundBy::variant;
    // A record that a newer one has replaced is still in its segment, but no look-up finds it.
    if (found_by != wanted || !store.holds(step.key, url, step.place.at)) return;
    EntryFacts uses;
    relations_.add_uses(uses, url, step);
    append(out, begin(url, uses).add(record_of(step.key, *stored, relations_)));
  }

  static Report begin(std::string_view url, const EntryFacts& uses) {
    Report report;
    report.add("stored_as", std::string(url)).add("where", std::string(uses.where));
    return report.add("hits", *uses.hits);
  }

  const Live live_;
  const LiveRelations relations_;
  // In both spaces, since no request for a page can name one of them.
  const std::array<std::string, 2> names_;
  bool begun_ = false;
  std::optional<disk::Walk> walk_;
};

class LiveVerify final : public SlicedWalk {
 public:
  LiveVerify(cache::DiskTier& tier, std::function<void(const disk::Damage&)> tell)
      : disk_(tier.disk()), tell_(std::move(tell)) {}

  bool next(machine::Clock& clock, std::string& out) override {
    if (!walk_) {
      walk_.emplace(disk_.catalog().index, [](const disk::Location&) { return true; });
      append(out, Report().add("expected_bytes", disk_.catalog().used_bytes.load()));
    }
    const SliceLimit limit(clock, out);
    while (!limit.reached()) {
      const auto step = walk_->next();
      if (!step) {
        append(out, summary());
        return false;
      }
      check(*step, out);
    }
    write_progress(clock.steady(), out);
    return true;
  }

 private:
  void check(const disk::Walk::Step& step, std::string& out) {
    std::string url;
    const auto& [key, place] = step;
    // A record may be replaced or reclaimed during the walk. To be gone is no damage.
    const auto checked = disk_.check(key, place, url);
    // Also of what is damaged or gone, or the progress would never reach its end.
    all_.bytes += place.bytes;
    if (checked) {
      all_.records += 1;
    } else if (checked.error() != disk::Error::gone) {
      const bool read = checked.error() == disk::Error::corrupt;
      const auto fault = url.empty() ? disk::Fault::head : disk::Fault::body;
      const disk::Damage damage{read ? fault : disk::Fault::unreadable, place.at.segment,
                                place.at.offset, place.bytes, url};
      all_.damages += 1;
      tell_(damage);
      append(out, report_of(damage));
    }
  }

  // A regular line also shows whether the client is still reading.
  void write_progress(machine::Clock::SteadyTime now, std::string& out) {
    constexpr std::chrono::milliseconds kOften{500};
    if (now - said_ < kOften) return;
    said_ = now;
    append(out, Report().add("checked_bytes", all_.bytes));
  }

  Report summary() const {
    Report report;
    report.add("segments", std::uint64_t{disk_.catalog().segments.count()})
        .add("good_records", all_.records);
    return report.add("bytes", all_.bytes).add("damaged_places", all_.damages);
  }

  disk::Disk& disk_;
  const std::function<void(const disk::Damage&)> tell_;
  std::optional<disk::Walk> walk_;
  disk::Verified all_;
  machine::Clock::SteadyTime said_{};
};

// The response that the store has for the key of `name`.
struct Wanted {
  const std::string& name;
  const http::Fields& request;
  const digest::Key key = digest::key_of(digest::Method::get, name);
};

// The record that answers such a request, as DiskTier::read() finds it.
std::optional<Opened> select(const Live& live, const Wanted& wanted, Peeked& peeked) {
  auto opened = open(live, wanted.key, wanted.name);
  if (!opened || opened->at.place.kind != disk::RecordKind::selector) return opened;
  peeked.varies_there = true;
  const auto selector = cache::decode_selector(opened->record.head());
  if (!selector) return std::nullopt;
  http::NormalForms forms(wanted.request);
  return open(live, cache::variant_key(wanted.key, *selector, forms), wanted.name);
}

// Adds the entry on disk, without its body.
void add_from_disk(const Live& live, cache::Budget& budget, const Wanted& wanted, cache::Time now,
                   Peeked& peeked) {
  const LiveRelations relations(live);
  const auto opened = select(live, wanted, peeked);
  if (!opened || !is_response(opened->at.place)) return;
  auto facts = facts_of(opened->record, relations, now);
  auto saved = cache::decode_head(wanted.name, opened->record.head(), opened->record.header());
  if (!facts || !saved || !saved->entry.extras.variant.matches(wanted.request)) return;
  relations.add_uses(*facts, wanted.name, opened->at);
  auto entry = cache::Entry::make(budget, std::move(saved->entry));
  entry->body.size = entry->object() ? saved->length : opened->record.body_bytes();
  peeked.found.entry = entry;
  peeked.all.push_back({std::move(entry), *facts});
}

}  // namespace

bool is_response(const disk::Location& place) {
  return place.kind != RecordKind::block && place.kind != RecordKind::selector;
}

StoredBlocks LiveRelations::stored_blocks(const disk::StoredRecord& object,
                                          std::uint64_t length) const {
  const auto url = object.url();
  return stored_blocks_of(live_, digest::key_of(digest::Method::get, url), url,
                          object.header().version, length);
}

StoredBlocks LiveRelations::stored_blocks(const disk::Key& url_key,
                                          const cache::Entry& entry) const {
  if (!entry.object()) return {};
  return stored_blocks_of(live_, url_key, entry.url(), entry.object()->version, entry.body.size);
}

bool LiveRelations::leads_to(const disk::StoredRecord& variant, std::uint64_t number) const {
  if (number == 0) return true;
  const auto url = variant.url();
  const auto leading = selector_of(live_, digest::key_of(digest::Method::get, url), url);
  return leading && leading->number == number;
}

bool LiveRelations::on_disk(const cache::Store::Response& held) const {
  // The disk keeps no parts, except of objects.
  if (!live_.disk || (held.entry->range() && !held.entry->object())) return false;
  const auto& index = live_.disk->disk().catalog().index;
  const auto place = index.find(held.key);
  const auto& variant = held.entry->variant();
  if (!place || !variant.varies()) return place && place->kind != RecordKind::selector;
  const auto leading = selector_of(live_, held.key, held.entry->url());
  return leading && index.find(cache::variant_key(held.key, leading->number, variant));
}

EntryFacts LiveRelations::facts_in_memory(const cache::Store::Response& held,
                                          cache::Time now) const {
  auto facts = facts_of(*held.entry, stored_blocks(held.key, *held.entry), now);
  facts.hits = held.hits;
  return facts;
}

void LiveRelations::add_uses(EntryFacts& facts, std::string_view url,
                             const disk::Walk::Step& step) const {
  std::uint64_t hits = step.place.hits;
  std::vector<cache::Store::Response> held;
  live_.memory.look(digest::key_of(digest::Method::get, url), held);
  for (const auto& one : held) {
    const auto& on_disk = one.on_disk;
    if (!on_disk || on_disk->front() == 0 || on_disk->key() != step.key) continue;
    hits += one.hits;
    facts.where = "memory and disk";
  }
  facts.hits = hits;
}

std::unique_ptr<SlicedWalk> show_live(const Live& live, std::string url) {
  return std::make_unique<LiveShow>(live, url);
}

std::unique_ptr<SlicedWalk> verify_live(cache::DiskTier& disk,
                                        std::function<void(const disk::Damage&)> tell) {
  return std::make_unique<LiveVerify>(disk, std::move(tell));
}

Peeked peek(const Live& live, cache::Budget& budget, const std::string& name,
            const http::Fields& request, cache::Time now) {
  const LiveRelations relations(live);
  const Wanted wanted{name, request};
  Peeked peeked;
  std::vector<cache::Store::Response> held;
  live.memory.look(wanted.key, held);
  for (const auto& one : held) {
    if (one.entry->url() != name) continue;
    auto facts = relations.facts_in_memory(one, now);
    if (relations.on_disk(one)) facts.where = "memory and disk";
    peeked.all.push_back({one.entry, facts});
  }
  // Memory first, as a look-up does: what it has is newer than the disk's.
  peeked.found = live.memory.peek(wanted.key, name, request);
  if (!peeked.found.entry && live.disk) {
    add_from_disk(live, budget, wanted, now, peeked);
    peeked.found.varies = peeked.found.varies || (peeked.varies_there && !peeked.found.entry);
  }
  return peeked;
}

}  // namespace proxy::inspect
