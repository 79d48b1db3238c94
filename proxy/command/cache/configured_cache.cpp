#include "proxy/command/cache/configured_cache.hpp"

#include <fmt/format.h>

#include "config/counted.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;

std::string_view remedy_for(disk::Error error) {
  switch (error) {
    case disk::Error::in_use:
    case disk::Error::being_read:
      return "another `hearsay cache` is using this cache";
    case disk::Error::no_directory:
      return "there is no cache; a proxy started with these settings creates it";
    case disk::Error::read_only:
      return "permission denied; run this as the user that the proxy runs as";
    case disk::Error::too_small:
      return "cache.disk.size is too small for a cache on disk";
    default:
      return disk::to_string(error);
  }
}

}  // namespace

std::string stored_name(const ConfiguredCache& cache, const http::Target& url) {
  return cache.naming ? cache.naming(url) : url.url();
}

Trouble trouble_with(const ConfiguredCache& cache, disk::Error error) {
  return {fmt::format("{}: {}", cache.path, remedy_for(error))};
}

Result<std::unique_ptr<disk::Contents>> open_stopped(const ConfiguredCache& cache,
                                                     const Streams& streams) {
  auto contents = std::make_unique<disk::Contents>(cache.reading);
  const auto unknown = contents->open(cache.path);
  if (!unknown && unknown.error() == disk::Error::in_use) {
    return {boost::system::in_place_value, nullptr};
  }
  if (!unknown) return trouble_with(cache, unknown.error());
  const auto lost = unknown->unreadable + unknown->damaged + unknown->other_version;
  if (lost > 0) {
    say(streams.err, fmt::format("{}: {} damaged, or cannot be read completely; "
                                 "`hearsay cache verify` says where\n",
                                 cache.path, config::counted(lost, "segment is", "segments are")));
  }
  return contents;
}

}  // namespace proxy::command
