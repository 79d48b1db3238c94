// Responses with Vary, on disk: a selector at the URL's key leads to them.
#include <algorithm>
#include <utility>

#include "proxy/cache/disk_tier.hpp"

namespace proxy::cache {

using disk::Key;
using disk::RecordHeader;
using disk::RecordKind;
using disk::Wait;

// Unless it was purged since it was found.
void DiskTier::note(const ReadBack::Seen& seen, std::string_view url, const Selector& selector,
                    const RecordHeader& record) {
  const std::lock_guard lock(lock_of(seen.key));
  if (!disk_.holds(seen.key, url, seen.at)) return;
  known_[place_of(seen.key)] = Known{seen.key, selector, record};
}

// The caller holds the key's lock. Another URL may have taken the place of what was known.
void DiskTier::learn_selector(const Key& url_key, std::string_view url) {
  auto& known = known_[place_of(url_key)];
  if (known && known->url == url_key) return;
  const auto place = disk_.catalog().index.find(url_key);
  const bool leads = place && place->kind == RecordKind::selector;
  if (!leads || !disk_.holds(url_key, url, place->at)) return;
  ReadBack::Seen seen{url_key, {}};
  const auto stored = open(seen, *place, url, Wait::no);
  if (!stored) return;
  if (auto selector = decode_selector(stored->head())) {
    known = Known{url_key, std::move(*selector), stored->header()};
  }
}

// The one that leads to such variants already; else a new one, in whose place there is none yet.
DiskTier::Known& DiskTier::selector_for(const Key& url_key, std::string_view url,
                                        std::string names) {
  learn_selector(url_key, url);
  auto& known = known_[place_of(url_key)];
  if (!known || known->url != url_key || known->selector.names != names) {
    const auto number = std::max<std::uint64_t>(disk_.new_version(), 1);
    known = Known{url_key, {number, std::move(names)}, {}};
    if (disk_.may_hold(url_key)) disk_.purge(url_key, {});
  }
  return *known;
}

bool DiskTier::put_variant(const Key& url_key, const std::shared_ptr<const Entry>& entry,
                           const Entry* superseded) {
  auto names = names_of(entry->variant);
  if (entry->variant.never_matches() || names.size() > kMostNames) {
    if (superseded && disk_.may_hold(url_key)) disk_.purge(url_key, {});
    return true;
  }
  Known& known = selector_for(url_key, entry->url, std::move(names));
  const auto key = variant_key(url_key, known.selector.number, entry->variant);
  if (write(key, entry, superseded, known.selector.number)) {
    put_selector(known, key, *entry);
  } else if (known.selector.claimed == key) {
    known.record.claimable_until = 0;
    const auto place = disk_.catalog().index.find(url_key);
    if (place) disk_.catalog().index.set_claim(url_key, place->at, 0);
  }
  return true;
}

// It has the claim of the variant that is claimable longest, if that is still there: that of the
// others is lost, so that the URL may not be claimed any more once that one is replaced or gone,
// though another could be.
void DiskTier::put_selector(Known& known, const Key& variant, const Entry& entry) {
  RecordHeader mine{
      .kind = RecordKind::selector, .claimable_until = recorded_claim(entry), .key = known.url};
  if (entry.object) note_object(mine, entry);
  const RecordHeader& theirs = known.record;
  auto until = theirs.claimable_until;
  if (theirs.claims_blocks()) {  // only if they are all there
    const auto place = disk_.catalog().index.find(known.url);
    until = place ? std::min(until, place->claimable_until) : 0;
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
                      .block = known.record.block};
  note_times(header, entry.times);
  (void)disk_.append({.header = header, .url = entry.url, .head = encode(known.selector)});
}

}  // namespace proxy::cache
