#include "proxy/command/cache/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "config/load.hpp"
#include "proxy/command/cache/drop.hpp"
#include "proxy/command/cache/list.hpp"
#include "proxy/command/cache/show.hpp"
#include "proxy/command/cache/verify.hpp"
#include "proxy/command/guarded.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace {

constexpr std::string_view kRemedy =
    "the index of what is held needs some 50 bytes for each entry; run this where there is more";

// All options of all subcommands, and the work that was chosen.
struct CacheArguments {
  cache::disk::PurgeRules::Reading reading;
  NamingBy naming;
  std::string config;
  ListOptions list;
  ShowOptions show;
  VerifyOptions verify;
  DropOptions drop;
  Chosen chosen;
};

using SharedArguments = std::shared_ptr<CacheArguments>;

// A line for each thing that is wrong, so that the whole is more than one.
Result<CachePlace> place_in(const std::string& config, const NamingBy& naming) {
  const auto settings = config::load_file(config);
  if (!settings) {
    std::string text = "the settings are wrong";
    for (const auto& error : settings.error()) text += '\n' + error.where + ": " + error.what;
    return Trouble{text};
  }
  CachePlace place{
      .path = {}, .naming = naming(settings->rules), .listen = settings->listen.front()};
  if (const auto& disk = settings->cache.disk) {
    place.path = disk->path;
    place.bytes = disk->size.value;
  }
  return place;
}

// The subcommand, which chooses this work with these options.
template <class Options>
CLI::App& add_work(CLI::App& parent, const SharedArguments& arguments, const std::string& name,
                   const std::string& about, Options CacheArguments::*options,
                   Result<int> (*work)(const Options&, const Streams&)) {
  const auto open = [options, work, &all = *arguments](const Streams& streams) -> Result<int> {
    auto place = place_in(all.config, all.naming);
    if (!place) return place.error();
    place->reading = all.reading;
    (all.*options).place = std::move(*place);
    return work(all.*options, streams);
  };
  CLI::App& app = add_work(parent, arguments->chosen, name, about, open);
  app.add_option("--config", arguments->config, "the settings of the proxy, a JSON file")
      ->required();
  return app;
}

void add_list(CLI::App& parent, const SharedArguments& arguments) {
  ListOptions& options = arguments->list;
  CLI::App& app = add_work(
      parent, arguments, "list",
      "print what is held, in the order in which it was stored: its kind (large: in blocks, of "
      "which there may be a part), the size of its body, how long ago it came, how long it stays "
      "fresh and may be claimed to neighbours, how often it was found since the proxy started "
      "(known "
      "only while it runs), its URL",
      &CacheArguments::list, &command::list);
  app.add_option("--prefix", options.prefix, "only URLs that begin so");
  add_json(app, options.json);
}

void add_show(CLI::App& parent, const SharedArguments& arguments) {
  ShowOptions& options = arguments->show;
  CLI::App& app =
      add_work(parent, arguments, "show",
               "print all that is held of a URL: each record with its place, times and "
               "checksums, and its head; exit 0 if there is any, 1 if not, 2 on trouble",
               &CacheArguments::show, &command::show);
  app.add_option("URL", options.url, "as a client would ask for it")->required();
  add_json(app, options.json);
}

void add_verify(CLI::App& parent, const SharedArguments& arguments) {
  CLI::App& app = add_work(
      parent, arguments, "verify",
      "read every record and check every checksum; name each damaged place and what is lost with "
      "it. The end of the newest segment may be what a crash cut. Nothing needs to be done: the "
      "proxy serves nothing that is damaged. Exit 0 if all is good, 1 if not, 2 on trouble",
      &CacheArguments::verify, &command::verify);
  add_json(app, arguments->verify.json);
}

void add_drop(CLI::App& parent, const SharedArguments& arguments) {
  DropOptions& options = arguments->drop;
  CLI::App& app = add_work(
      parent, arguments, "drop",
      "purge a URL in all its variants, all URLs that begin so, or everything, of forward and "
      "reverse mode: no start brings it back. Its space is reclaimed when the proxy needs it. Exit "
      "0 if there was any, 1 if not, 2 on trouble",
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
                                             NamingBy naming) {
  auto arguments = std::make_shared<CacheArguments>();
  arguments->reading = std::move(reading);
  arguments->naming = std::move(naming);
  CLI::App& cache =
      *program.add_subcommand("cache", "look into the cache of a proxy, whether or not it runs");
  cache.require_subcommand(1);
  add_list(cache, arguments);
  add_show(cache, arguments);
  add_verify(cache, arguments);
  add_drop(cache, arguments);
  return [arguments](const Streams& streams) {
    const auto& [name, work] = arguments->chosen;
    const auto done = guarded([&work, &streams] { return work(streams); }, kRemedy);
    return exit_code(done, "cache " + name, streams);
  };
}

}  // namespace proxy::command
