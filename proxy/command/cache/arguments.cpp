#include "proxy/command/cache/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "config/load.hpp"
#include "proxy/command/cache/drop.hpp"
#include "proxy/command/cache/list.hpp"
#include "proxy/command/cache/show.hpp"
#include "proxy/command/cache/verify.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace {

constexpr std::string_view kRemedy =
    "the index needs some 50 bytes per entry; run this where more memory is free";

// The options of every subcommand, and the chosen work.
struct CacheArguments {
  cache::disk::PurgeRules::Reading reading;
  MakeNaming make_naming;
  std::string config;
  std::string socket;
  ListOptions list;
  ShowOptions show;
  VerifyOptions verify;
  DropOptions drop;
  ChosenWork chosen;
};

// If the settings do not name the socket, the usual one may be another proxy's, unless these are
// the settings of the service.
std::string socket_of(const config::Settings& settings, const std::string& file) {
  const bool is_of_service = file == config::kDefaultSettings;
  return settings.control.value_or(is_of_service ? config::kDefaultControl : "");
}

// Trouble has a line for each error in the settings. Of a running proxy the socket is enough.
Result<ConfiguredCache> cache_of(CacheArguments& arguments) {
  if (!arguments.socket.empty()) return ConfiguredCache{.socket = arguments.socket};
  if (auto missing = use_default_settings(arguments.config,
                                          "--config FILE, or a running proxy by --socket PATH");
      !missing.empty()) {
    return Trouble{std::move(missing)};
  }
  const auto settings = config::load_file(arguments.config);
  if (!settings) {
    std::string text = "the settings are wrong";
    for (const auto& error : settings.error()) text += '\n' + error.where + ": " + error.what;
    return Trouble{text};
  }
  ConfiguredCache cache{.path = {},
                        .reading = arguments.reading,
                        .naming = arguments.make_naming(settings->rules),
                        .socket = socket_of(*settings, arguments.config),
                        .listen = settings->listen.front(),
                        .account = machine::account_to_become(settings->user)};
  if (const auto& disk = settings->cache.disk) {
    cache.path = disk->path;
    cache.bytes = disk->size.value;
  }
  return cache;
}

// Adds a subcommand that calls `work` with the member `options` of the arguments.
template <class Options>
CLI::App& add_work(CLI::App& parent, CacheArguments& arguments, const std::string& name,
                   const std::string& about, Options CacheArguments::*options,
                   Result<int> (*work)(const Options&, const Streams&)) {
  const auto work_on_cache = [options, work,
                              &all = arguments](const Streams& streams) -> Result<int> {
    auto cache = cache_of(all);
    if (!cache) return cache.error();
    (all.*options).cache = std::move(*cache);
    return work(all.*options, streams);
  };
  CLI::App& app = add_work(parent, arguments.chosen, name, about, work_on_cache);
  auto* const config = add_settings_option(app, arguments.config);
  app.add_option("--socket", arguments.socket,
                 "the control socket of a running proxy; no settings are needed then")
      ->excludes(config);
  return app;
}

void add_list(CLI::App& parent, CacheArguments& arguments) {
  ListOptions& options = arguments.list;
  CLI::App& app = add_work(parent, arguments, "list",
                           "print the stored responses, in the order in which they were stored: "
                           "kind (large: an object kept in blocks; part: some blocks are missing), "
                           "size of the body, age, "
                           "how long the response stays fresh and may be claimed to neighbours, "
                           "hits since the proxy started (known only while it runs), URL",
                           &CacheArguments::list, &command::list);
  app.add_option("--prefix", options.prefix, "only URLs that begin with this");
  add_json(app, options.json);
}

void add_show(CLI::App& parent, CacheArguments& arguments) {
  ShowOptions& options = arguments.show;
  CLI::App& app = add_work(parent, arguments, "show",
                           "print all records of a URL: place, times, checksums and head of each; "
                           "exit 0 if there is any, 1 if not, 2 on trouble",
                           &CacheArguments::show, &command::show);
  app.add_option("URL", options.url, "as a client would ask for it")->required();
  add_json(app, options.json);
}

void add_verify(CLI::App& parent, CacheArguments& arguments) {
  CLI::App& app = add_work(
      parent, arguments, "verify",
      "read every record and check every checksum; name each damaged place and what is lost there. "
      "After a crash, damage at the end of the newest segment is normal. "
      "Damage needs no repair: the proxy never serves a damaged record. "
      "Exit 0 if all records are good, 1 if not, 2 on trouble",
      &CacheArguments::verify, &command::verify);
  add_json(app, arguments.verify.json);
}

void add_drop(CLI::App& parent, CacheArguments& arguments) {
  DropOptions& options = arguments.drop;
  CLI::App& app =
      add_work(parent, arguments, "drop",
               "purge a URL with all its variants, all URLs with a prefix, or everything, "
               "of forward and reverse mode. "
               "What is dropped stays dropped after a restart; "
               "its space is reclaimed when the proxy needs it. "
               "Exit 0 if there was any, 1 if not, 2 on trouble",
               &CacheArguments::drop, &command::drop);
  auto& what = *app.add_option_group("what", "one of these");
  what.add_option("URL", options.url, "as a client would ask for it");
  what.add_option("--prefix", options.prefix, "such as http://example.com/packages/");
  what.add_flag("--all", options.all);
  what.require_option(1);
}

}  // namespace

std::function<int(const Streams&)> add_cache(CLI::App& program,
                                             cache::disk::PurgeRules::Reading reading,
                                             MakeNaming make_naming) {
  auto arguments = std::make_shared<CacheArguments>();
  arguments->reading = std::move(reading);
  arguments->make_naming = std::move(make_naming);
  CLI::App& cache =
      *program.add_subcommand("cache", "look into the cache of a proxy, whether or not it runs");
  cache.require_subcommand(1);
  add_list(cache, *arguments);
  add_show(cache, *arguments);
  add_verify(cache, *arguments);
  add_drop(cache, *arguments);
  return [arguments](const Streams& streams) {
    const auto& [name, work] = arguments->chosen;
    return run_subcommand(work, "cache " + name, kRemedy, streams);
  };
}

}  // namespace proxy::command
