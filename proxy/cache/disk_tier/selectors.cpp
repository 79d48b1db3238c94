#include "proxy/cache/disk_tier/selectors.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache {

using disk::Key;
using disk::RecordHeader;
using disk::RecordKind;
using disk::Wait;

std::size_t Selectors::fitting(std::uint64_t memory_bytes) {
  return std::clamp<std::size_t>(memory_bytes / 64 / sizeof(Known), 64, 4096);
}

void Selectors::record(const ReadBack::Seen& seen, std::string_view url, const Selector& selector,
                       const RecordHeader& record) {
  const threads::MutexLock lock(lock_of(seen.key));
  // A purge may have come between the read and this lock.
  if (!disk_.holds(seen.key, url, seen.at)) return;
  known_[slot_of(seen.key)] = Known{seen.key, selector, record};
}

void Selectors::forget(const Key& url_key) {
  auto& known = known_[slot_of(url_key)];
  if (known && known->url == url_key) known.reset();
}

// Another URL may have the slot.
void Selectors::read_back(const Key& url_key, std::string_view url) {
  auto& known = known_[slot_of(url_key)];
  if (known && known->url == url_key) return;
  const auto location = disk_.catalog().index.find(url_key);
  const bool leads = location && location->kind == RecordKind::selector;
  // A purge hides the selector before it erases it.
  if (!leads || !disk_.holds(url_key, url, location->at)) return;
  ReadBack::Seen seen{url_key, {}};
  const auto stored = reader_.open(seen, *location, url, Wait::no);
  if (!stored) return;
  if (auto selector = decode_selector(stored->head())) {
    known = Known{url_key, std::move(*selector), stored->header()};
  }
}

// The selector that leads to variants by these field names; else a new one, to which no variant on
// disk belongs.
Selectors::Known& Selectors::selector_for(const Key& url_key, std::string_view url,
                                          std::string names) {
  read_back(url_key, url);
  auto& known = known_[slot_of(url_key)];
  if (!known || known->url != url_key || known->selector.names != names) {
    const auto number = std::max<std::uint64_t>(disk_.new_version(), 1);
    known = Known{url_key, {number, std::move(names)}, {}};
    if (disk_.may_hold(url_key)) disk_.purge(url_key, {});
  }
  return *known;
}

void Selectors::put_variant(const Key& url_key, const Kept& response, const Kept& superseded) {
  const Entry& entry = *response.entry;
  auto names = names_of(entry.variant());
  // No request finds it again, so that only memory has it, for those who wait.
  if (entry.variant().never_matches() || names.size() > kMostNames) {
    if (superseded.entry && disk_.may_hold(url_key)) disk_.purge(url_key, {});
    return;
  }
  Known& known = selector_for(url_key, entry.url(), std::move(names));
  const auto key = variant_key(url_key, known.selector.number, entry.variant());
  const auto taken = writer_.write(key, response, superseded, known.selector.number);
  if (taken == EntryWriter::Taken::yes) {
    put_selector(known, key, entry);
  } else if (known.selector.claimed == key) {
    known.record.claimable_until = 0;
    auto& index = disk_.catalog().index;
    if (const auto location = index.find(url_key)) index.set_claim(url_key, location->at, 0);
  }
}

// The selector's record has the claim of the variant that is claimable longest, if the disk still
// has that variant. The claims of other variants are not kept: once the claimed variant is replaced
// or gone, the URL is not claimed, though another variant could be.
void Selectors::put_selector(Known& known, const Key& variant, const Entry& entry) {
  RecordHeader mine{.kind = RecordKind::selector, .key = known.url};
  write_claim(mine, entry);
  if (entry.object()) note_object(mine, entry);
  const RecordHeader& theirs = known.record;
  auto until = theirs.claimable_until;
  if (theirs.claims_blocks()) {  // an object's claim lasts only while all blocks are there
    const auto location = disk_.catalog().index.find(known.url);
    const bool is_whole = location && location->rule != digest::kOfPart;
    until = is_whole ? std::min(until, location->claimable_until) : 0;
  }
  const bool other_lasts = known.selector.claimed != variant && until > mine.claimable_until &&
                           disk_.may_hold(known.selector.claimed);
  if (!other_lasts) {
    known.selector.claimed = variant;
    known.record = mine;
  }
  RecordHeader header{.kind = RecordKind::selector,
                      .claimable_until = known.record.claimable_until,
                      .key = known.url,
                      .version = known.record.version,
                      .block = known.record.block,
                      .rule = known.record.rule};
  write_times(header, entry.times());
  (void)disk_.append(
      {.header = header, .url = std::string(entry.url()), .head = encode(known.selector)});
}

}  // namespace proxy::cache
