#include <CLI/CLI.hpp>

#include "config/load.hpp"
#include "proxy/command/ask.hpp"
#include "proxy/command/cache.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace {

constexpr std::string_view kRemedy =
    "the index needs some 50 bytes per entry; run this where more memory is free";

// What main() gives, what the command line says, and the chosen work.
struct CacheArguments {
  cache::disk::PurgeRules::Reading reading;
  MakeNaming make_naming;
  std::string config;
  std::string socket;
  CacheOptions options;
  ChosenWork chosen;
};

// Of a running proxy the socket is enough.
Result<ConfiguredCache> cache_of(CacheArguments& arguments) {
  if (!arguments.socket.empty()) return ConfiguredCache{.socket = arguments.socket};
  if (auto missing = use_default_settings(arguments.config,
                                          "--config FILE, or a running proxy by --socket PATH");
      !missing.empty()) {
    return Trouble{std::move(missing)};
  }
  const auto settings = read_settings(arguments.config);
  if (!settings) return settings.error();
  // If the settings do not name the socket, the usual one may be another proxy's, unless these are
  // the settings of the service.
  const bool is_of_service = arguments.config == config::kDefaultSettings;
  ConfiguredCache cache{
      .reading = arguments.reading,
      .naming = arguments.make_naming(*settings),
      .socket = settings->process.control.value_or(is_of_service ? config::kDefaultControl : ""),
      // All sockets serve the same pages, so any of them would do.
      .listen = settings->process.listen.front(),
      .account = machine::account_to_become(settings->process.user)};
  if (const auto& disk = settings->cache.disk) {
    cache.path = disk->path;
    cache.bytes = disk->size.value;
  }
  return cache;
}

CLI::App& add(CLI::App& parent, CacheArguments& arguments, const std::string& name,
              const std::string& about, Result<int> (*work)(const CacheOptions&, const Streams&)) {
  const auto work_on_cache = [work, &arguments](const Streams& streams) -> Result<int> {
    auto cache = cache_of(arguments);
    if (!cache) return cache.error();
    arguments.options.cache = std::move(*cache);
    return work(arguments.options, streams);
  };
  CLI::App& app = add_work(parent, arguments.chosen, name, about, work_on_cache);
  auto* const config = add_settings_option(app, arguments.config);
  app.add_option("--socket", arguments.socket,
                 "the control socket of a running proxy; no settings are needed then")
      ->excludes(config);
  return app;
}

void add_drop(CLI::App& parent, CacheArguments& arguments) {
  CLI::App& app = add(parent, arguments, "drop",
                      "purge a URL with all its variants, all URLs with a prefix, or everything, "
                      "of forward and reverse mode. "
                      "What is dropped stays dropped after a restart; "
                      "its space is reclaimed when the proxy needs it. "
                      "Exit 0 if there was any, 1 if not, 2 on trouble",
                      drop);
  auto& what = *app.add_option_group("what", "one of these");
  what.add_option("URL", arguments.options.url, "as a client would ask for it");
  what.add_option("--prefix", arguments.options.prefix, "such as http://example.com/packages/");
  what.add_flag("--all", arguments.options.all);
  what.require_option(1);
}

}  // namespace

std::function<int(const Streams&)> add_cache(CLI::App& program,
                                             cache::disk::PurgeRules::Reading reading,
                                             MakeNaming make_naming) {
  // The parser writes to it later, when this function has returned.
  auto arguments = std::make_shared<CacheArguments>();
  CacheOptions& options = arguments->options;
  arguments->reading = std::move(reading);
  arguments->make_naming = std::move(make_naming);
  CLI::App& cache =
      *program.add_subcommand("cache", "look into the cache of a proxy, whether or not it runs");
  cache.require_subcommand(1);
  CLI::App& listing = add(cache, *arguments, "list",
                          "print the stored responses, in the order in which they were stored: "
                          "kind (large: an object kept in blocks; part: some blocks are missing), "
                          "size of the body, age, "
                          "how long the response stays fresh and may be claimed to neighbours, "
                          "hits since the proxy started (known only while it runs), URL",
                          list);
  listing.add_option("--prefix", options.prefix, "only URLs that begin with this");
  add_json(listing, options.json);
  CLI::App& showing = add(cache, *arguments, "show",
                          "print all records of a URL: place, times, checksums and head of each; "
                          "exit 0 if there is any, 1 if not, 2 on trouble",
                          show);
  showing.add_option("URL", options.url, "as a client would ask for it")->required();
  add_json(showing, options.json);
  CLI::App& verifying =
      add(cache, *arguments, "verify",
          "read every record and check every checksum; name each damaged place and what is lost "
          "there. After a crash, damage at the end of the newest segment is normal. "
          "Damage needs no repair: the proxy never serves a damaged record. "
          "Exit 0 if all records are good, 1 if not, 2 on trouble",
          verify);
  add_json(verifying, options.json);
  add_drop(cache, *arguments);
  return [arguments](const Streams& streams) {
    const auto& [name, work] = arguments->chosen;
    return run_subcommand(work, "cache " + name, kRemedy, streams);
  };
}

}  // namespace proxy::command
