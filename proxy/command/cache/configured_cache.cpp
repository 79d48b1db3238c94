#include "proxy/command/cache/configured_cache.hpp"

#include <fmt/format.h>

namespace proxy::command {
namespace {

namespace disk = cache::disk;

std::string_view remedy_for(disk::Error error) {
  switch (error) {
    case disk::Error::in_use:
    case disk::Error::being_read:
      return "another of these commands is using this cache";
    case disk::Error::no_directory:
      return "there is no cache; a proxy that is started with these settings makes one";
    case disk::Error::read_only:
      return "not allowed; run this as the user that the proxy runs as";
    case disk::Error::too_small:
      return "cache.disk.size is too small for a cache on disk";
    default:
      return disk::to_string(error);
  }
}

}  // namespace

std::string stored_as(const CachePlace& place, const http::Target& url) {
  return place.naming ? place.naming(url) : url.url();
}

Trouble cache_trouble(const CachePlace& place, disk::Error error) {
  return {fmt::format("{}: {}", place.path, remedy_for(error))};
}

Result<std::unique_ptr<disk::Contents>> look_into(const CachePlace& place, const Streams& streams) {
  auto contents = std::make_unique<disk::Contents>(place.reading);
  const auto unknown = contents->open(place.path);
  if (!unknown && unknown.error() == disk::Error::in_use) {
    return {boost::system::in_place_value, nullptr};
  }
  if (!unknown) return cache_trouble(place, unknown.error());
  const auto lost = unknown->unreadable + unknown->damaged + unknown->other_version;
  if (lost > 0) {
    say(streams.err, fmt::format("{}: {} segments are damaged, or not to be read as a whole; "
                                 "`hearsay cache verify` says where\n",
                                 place.path, lost));
  }
  return contents;
}

}  // namespace proxy::command
