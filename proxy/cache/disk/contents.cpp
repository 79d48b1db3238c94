#include "proxy/cache/disk/contents.hpp"

#include <utility>

#include "proxy/cache/disk/scan.hpp"

namespace proxy::cache::disk {

Result<Contents::Unknown> Contents::open(const std::filesystem::path& path) {
  auto directory = Directory::open(path, Access::read);
  if (!directory) return directory.error();
  const auto items = directory->segments();
  if (!items) return items.error();
  Unknown unknown;
  Learner learner(index_, segments_, rules_);
  std::optional<std::uint16_t> purges;  // their number in the segments read so far
  for (const auto& item : *items) {
    if (!item.is_file) continue;
    auto file = directory->open_segment(item.segment);
    // Without a descriptor all further segments would seem unreadable, and the list would lack
    // them.
    if (!file && file.error() == Error::no_descriptors) return file.error();
    const auto scanned = file ? scan(*file, item.segment) : file.error();
    if (!scanned) {
      unknown.unreadable += 1;
      continue;
    }
    unknown.other_version += scanned->other_version ? 1 : 0;
    unknown.damaged += scanned->damaged || scanned->cut ? 1 : 0;
    if (lost_a_purge(purges, *scanned)) learner.forget_all();
    if (scanned->purges) purges = scanned->purges;
    segments_.add(std::make_shared<const Segment>(item.segment, std::move(*file)));
    learner.learn(scanned->records, item.segment);
  }
  learner.finish();
  directory_ = std::move(*directory);
  return unknown;
}

void Contents::each(const std::function<bool(const Seen&)>& visit,
                    const std::function<bool(const Location&)>& wanted) const {
  // The log gives the order, and the index says which record of a key counts.
  for (auto segment = segments_.oldest(); segment; segment = segments_.after(segment->number)) {
    const auto scanned = scan(segment->file, segment->number);
    if (!scanned) continue;  // open() could read the segment, but now the disk fails
    for (const Listed& listed : scanned->records) {
      const Position at{segment->number, listed.offset};
      const auto place = index_.find(listed.key);
      if (!place || place->at != at || (wanted && !wanted(*place))) continue;
      const auto stored = StoredRecord::open(segments_, listed.key, *place, Wait::yes);
      if (stored && rules_.purged(stored->url(), at, stored->header().giver())) continue;
      if (!visit({listed.key, *place, stored})) return;
    }
  }
}

}  // namespace proxy::cache::disk
