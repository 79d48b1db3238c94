// Reading for nobody: whether what is held is as it was written.
#include <utility>

#include "proxy/cache/disk/disk.hpp"

namespace proxy::cache::disk {

Result<void> Disk::check(const Key& key, const Place& place, std::string& url) {
  const auto stored = Stored::open(segments_, key, place, Wait::yes);
  if (stored) url = stored->url();
  const auto read = stored ? stored->check_body(Wait::yes) : Result<void>(stored.error());
  if (read) return read;
  if (!drop(key, place, read.error())) return Error::gone;
  if (place.kind != Kind::block) return read;
  if (stored) {
    lose_block(stored->header().key, stored->header().version);
  } else {
    lose_any_block();
  }
  return read;
}

// Nobody knows of which object.
void Disk::lose_any_block() {
  review_claim(kAnyObject, 0);
}

void Disk::doubt(const std::vector<std::pair<Key, std::uint64_t>>& doubts) {
  bool any = false;
  for (const auto& [object, version] : doubts) {
    any = any || object == kAnyObject;
    if (object != kAnyObject) log_.doubt(object, version);
  }
  if (any) log_.doubt_objects();
}

}  // namespace proxy::cache::disk
