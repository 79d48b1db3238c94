// The arguments of `hearsay cache`.
#pragma once

#include <functional>
#include <vector>

#include "config/settings.hpp"
#include "proxy/cache/disk/purge_rules.hpp"
#include "proxy/command/cache/configured_cache.hpp"
#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Makes the Naming that the setting `rules` asks for.
using MakeNaming = std::function<Naming(const std::vector<config::RuleSettings>&)>;

// Adds the subcommand `cache` to a program; the returned function is used as add_digest()'s is.
// `reading` says which URLs a purge by prefix covers.
std::function<int(const Streams&)> add_cache(CLI::App& program,
                                             cache::disk::PurgeRules::Reading reading,
                                             MakeNaming make_naming);

}  // namespace proxy::command
