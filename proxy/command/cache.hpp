// hearsay cache: shows, checks and drops what a cache on disk stores, whether or not a proxy runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/endpoint.hpp"
#include "config/settings.hpp"
#include "proxy/cache/disk/purge_rules.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/http/target.hpp"
#include "proxy/machine/privileges.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Returns the name under which a URL's responses are stored.
using Naming = std::function<std::string(const http::Target&)>;
// Makes the Naming that the settings `rules` and `mirrors` ask for.
using MakeNaming = std::function<Naming(const config::Settings&)>;

// Adds the subcommand `cache` to a program; the returned function is used as add_digest()'s is.
// `reading` says which URLs a purge by prefix covers.
std::function<int(const Streams&)> add_cache(CLI::App& program,
                                             cache::disk::PurgeRules::Reading reading,
                                             MakeNaming make_naming);

// The cache that the settings configure, and the proxy that may be using it.
struct ConfiguredCache {
  std::string path = {};    // of its directory; empty: the cache is in memory alone, or unknown
  std::uint64_t bytes = 0;  // the limit of its files
  // Says which stored names a purge by prefix covers, of forward and reverse mode alike.
  cache::disk::PurgeRules::Reading reading = {};
  Naming naming = {};       // by the settings; none: the URL itself
  std::string socket = {};  // the proxy's control socket; empty: it is not known to have one
  // The proxy's first socket; port 0: the port is unknown. Without a host the control socket alone
  // is known.
  config::HostPort listen = {};
  // The user that a proxy started by root becomes, whose files these are. Nothing: we are not root,
  // or the proxy stays root.
  std::optional<machine::Account> account = {};
};

struct CacheOptions {
  ConfiguredCache cache = {};
  // Selects all URLs that begin with this, of forward and reverse mode.
  std::optional<std::string> prefix = {};
  std::string url = {};  // as a client would request it: all its variants, in both modes
  bool all = false;      // of drop: everything
  bool json = false;     // one JSON object per line, for programs
};

// Prints one line per response, or per response with the prefix, in the order in which they were
// stored, as they are read. Takes some 50 bytes of memory per entry. Hits are known only while the
// proxy runs.
Result<int> list(const CacheOptions& options, const Streams& streams);

// Prints every record stored under the URL's name: its fields, whether its checksums fit, and the
// response's head. Returns kNone if there is none. Reads all entries of a stopped cache.
Result<int> show(const CacheOptions& options, const Streams& streams);

// Reads every record of every segment; prints each damaged place, then a summary. Returns kDone if
// all records are good, else kDamaged. Changes nothing in a stopped cache. A running proxy reads
// the records that it could serve, and drops the damaged ones.
Result<int> verify(const CacheOptions& options, const Streams& streams);

// Purges the URL, the prefix or everything. Appends purge records to the log, so that the responses
// stay dropped after a restart, and waits until the records would survive a loss of power. A
// running proxy does this on our request. The space is reclaimed when the proxy needs it. Prints
// the number of dropped responses; returns kNone if that is 0.
Result<int> drop(const CacheOptions& options, const Streams& streams);

}  // namespace proxy::command
