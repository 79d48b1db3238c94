// The arguments of `hearsay digest` and `hearsay cache`, and what they choose.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "proxy/cache/disk/purge_rules.hpp"
#include "proxy/command/cache_place.hpp"
#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds the subcommand `digest` to a program. After the program has parsed its arguments, the
// function does what they asked for, and gives the exit code, without exceptions; trouble has then
// been said on `err`, in one line. It must be called only if `digest` was parsed. SIGPIPE must be
// ignored by then.
std::function<int(const Streams&)> add_digest(CLI::App& program);

// What URLs are stored as by the setting `rules`.
using NamingBy = std::function<Naming(const std::vector<config::Rule>&)>;

// Likewise for `cache`. `reading`: which URLs a purge of many covers.
std::function<int(const Streams&)> add_cache(CLI::App& program,
                                             cache::disk::PurgeRules::Reading reading,
                                             NamingBy naming);

}  // namespace proxy::command
