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
  std::vector<Key> claimed;
  index_.each([&claimed](const Key& key, const Place& place) {
    if (place.kind == Kind::object && place.claimable_until != 0) claimed.push_back(key);
  });
  for (const Key& object : claimed) lose_block(object, 0);
}

}  // namespace proxy::cache::disk
