// The program: arguments, settings, run.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <csignal>
#include <iostream>
#include <memory>

#include "config/client_setups.hpp"
#include "config/document.hpp"
#include "config/load.hpp"
#include "config/reference.hpp"
#include "config/text.hpp"
#include "proxy/cache/purge_pattern.hpp"
#include "proxy/check/try_out.hpp"
#include "proxy/command/cache.hpp"
#include "proxy/command/command_line.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/squid/import.hpp"
#include "proxy/command/steering.hpp"
#include "proxy/command/subcommand.hpp"
#include "proxy/inspect/report.hpp"
#include "proxy/machine/channel.hpp"
#include "proxy/machine/launcher.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/machine/places.hpp"
#include "proxy/machine/privileges.hpp"
#include "proxy/machine/sandbox.hpp"
#include "proxy/machine/service.hpp"
#include "proxy/observe/events.hpp"
#include "proxy/observe/process_facts.hpp"
#include "proxy/policy/site_rules.hpp"
#include "proxy/server/server.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/server/start_report.hpp"
#include "proxy/version.hpp"

namespace {

constexpr int kBadSettings = 2;

int tell(const config::SettingsErrors& errors) {
  for (const auto& error : errors) std::cerr << error.where << ": " << error.what << '\n';
  return kBadSettings;
}

// As tell(), once the settings say which form the log has.
int log_errors(const config::SettingsErrors& errors) {
  for (const auto& error : errors) spdlog::error("{}: {}", error.where, error.what);
  return kBadSettings;
}

// Programs read the access log as JSON; the log on stderr says the same.
void announce(const config::LogSettings& log, const proxy::server::Listeners& listeners) {
  const bool is_for_programs =
      log.access == config::LogTarget::standard_output && log.format == config::LogFormat::json;
  if (is_for_programs) return;
  const bool as_object = log.events == config::EventFormat::json;
  for (const auto& address : listeners.addresses()) {
    std::cout << (as_object ? "{\"text\":\"listening on " : "listening on ") << address
              << (as_object ? "\"}\n" : "\n");
  }
  std::cout.flush();
}

int serve(const proxy::server::SettingsFile& file, const config::Settings& settings,
          const proxy::observe::ProcessFacts& facts, char* const* arguments) {
  namespace machine = proxy::machine;
  proxy::server::raise_descriptor_limit(settings);
  // Only root listens on low ports and in folders of root, and the sandbox lets no socket listen.
  proxy::server::Listeners listeners(settings.process.listen,
                                     proxy::server::thread_count(settings));
  const auto account = machine::account_to_become(settings.process.user);
  if (account) {
    for (const auto& refusal : machine::give_places(settings, *account)) {
      spdlog::error("{}", refusal);
    }
  }
  proxy::server::ControlSocket control(settings, account);
  machine::give_up_privileges(account);
  proxy::server::make_cache_folder(settings.cache);
  if (const auto why = machine::why_root(settings.process.user); !why.empty())
    spdlog::warn("{}", why);
  // Before the lists are read, of which the launcher would keep a copy.
  const proxy::machine::succession::Launcher launcher(arguments);
  auto policy = file.policy_of(settings);
  if (!policy) return log_errors(policy.error());
  auto predecessor = proxy::machine::succession::Predecessor::of_environment();
  if (control.has_declined()) predecessor.decline_control();
  const auto supervisor = machine::Supervisor::of_environment();
  const auto user = machine::describe_user();
  // It limits files only for threads that start later.
  const auto confined = proxy::machine::sandbox::confine(settings, file.path());
  predecessor.take_disk();
  const auto limits = proxy::server::describe_limits((*policy)->settings, file.memory());
  proxy::server::Server server(std::move(*policy), file, {listeners, control},
                               {predecessor, launcher, supervisor, facts});
  server.report_start(limits + "; " + user + "; " + confined);
  announce(settings.log, listeners);
  server.run();
  return 0;
}

// Whether a file that holds no settings asks for events as objects all the same, as far as its text
// tells. Programs read what is wrong with it, too.
bool asks_for_objects(const std::string& path) {
  std::string why;
  auto text = config::read_file(path, config::kLongestSettings, why);
  if (!text) return false;
  std::erase_if(*text, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  return text->find("\"events\":\"json\"") != std::string::npos;
}

int log_unread(const proxy::server::SettingsFile& file, const config::SettingsErrors& errors) {
  const bool as_objects = asks_for_objects(file.path());
  if (!as_objects && !proxy::observe::events_reach_journal()) return tell(errors);
  if (as_objects) proxy::observe::format_events(config::EventFormat::json);
  return log_errors(errors);
}

int serve(const proxy::server::SettingsFile& file, char* const* arguments) {
  const proxy::observe::ProcessFacts facts;  // of /proc, which a change of the user closes
  const auto settings = file.read_settings();
  if (!settings) return log_unread(file, settings.error());
  proxy::observe::format_events(settings->log.events);
  try {
    return serve(file, *settings, facts, arguments);
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return 1;
  }
}

// What the command line says.
struct Told {
  std::string config_path;
  bool strict = false;
};

// Says what the settings come to, and what of it this machine does not let happen.
int check(const proxy::server::SettingsFile& file, bool strict) {
  const auto settings = file.read_settings();
  if (!settings) return tell(settings.error());
  proxy::check::CheckReport trial;
  trial.is_strict = strict;
  const auto unit = proxy::machine::service_unit();
  const bool is_of_unit = unit && unit->serves_by(file.path());
  if (unit && !is_of_unit) proxy::check::record_places_of(*settings, *unit, trial);
  proxy::check::try_as_starter(*settings, is_of_unit ? &*unit : nullptr, trial);
  proxy::check::try_as_user(*settings,
                            trial);  // which then reads the lists, as it will in the proxy
  const auto policy = file.policy_of(*settings);
  if (!policy) return tell(policy.error());
  std::cout << proxy::check::summary(*settings) << '\n';
  for (const auto& line : proxy::machine::sandbox::preview(*settings, file.path())) {
    std::cout << line << '\n';
  }
  proxy::check::try_limits(*settings, file.memory(), proxy::machine::descriptor_limit(), trial);
  proxy::check::try_names(*settings, trial);
  proxy::check::try_access_of_neighbours(*settings, trial);
  proxy::check::try_neighbours(*settings, trial);
  return proxy::check::report(trial, std::cout, std::cerr) ? 0 : kBadSettings;
}

std::vector<config::SettingText> settings_reference() {
  return config::read_reference(config::reference_text());
}

// `hearsay help settings NAME`.
int help_settings(std::string_view name) {
  const auto all = settings_reference();
  const auto text = config::describe_setting(all, name);
  std::cout << text;
  if (!text.empty()) return 0;
  std::vector<std::string_view> paths;
  for (const auto& setting : all) paths.emplace_back(setting.path);
  const auto near = config::nearest(name, paths);
  std::cerr << "hearsay: " << config::in_quotes(name) << " is no setting; "
            << (near.empty() ? "`hearsay help settings` lists them"
                             : "did you mean " + config::in_quotes(near) + '?')
            << '\n';
  return kBadSettings;
}

// `hearsay setup [CLIENT]`: all clients if none is named.
int print_setups(std::string_view client, const config::HostPort& proxy) {
  for (const auto& setup : config::client_setups()) {
    if (client.empty()) std::cout << "# hearsay setup " << setup.name << '\n';
    if (client.empty() || client == setup.name) std::cout << config::setup_file(setup, proxy);
    if (client.empty()) std::cout << '\n';
  }
  return 0;
}

// Adds `hearsay setup`. Returns its work.
std::function<int()> add_setup(CLI::App& app) {
  struct Asked {
    std::string client;
    std::string url;
  };
  const auto asked = std::make_shared<Asked>();
  auto* const setup = app.add_subcommand(
      "setup", "print the lines and files by which clients are told to use a proxy");
  std::vector<std::string> names;
  for (const auto& one : config::client_setups()) names.emplace_back(one.name);
  setup->add_option("CLIENT", asked->client, "the kind of client; default all")
      ->check(CLI::IsMember(std::move(names)));
  setup->add_option("--url", asked->url,
                    "the proxy as clients reach it; default http://NAME:3128 of this machine");
  return [asked] {
    if (asked->url.empty())
      return print_setups(asked->client, {boost::asio::ip::host_name(), 3128});
    const auto url = config::parse_server_url(asked->url);
    if (!url) throw CLI::ValidationError("--url", "expected http://HOST:PORT");
    return print_setups(asked->client, url->at);
  };
}

// Throws CLI::ParseError if no file is named and none is at the usual place.
int run(const CLI::App& serving, Told told, char* const* arguments) {
  auto missing = proxy::command::use_default_settings(
      told.config_path, serving.parsed() ? "--config FILE" : "`hearsay check FILE`");
  if (!missing.empty()) throw CLI::ParseError(std::move(missing), kBadSettings);
  const proxy::server::SettingsFile file(told.config_path, proxy::machine::memory_limit());
  return serving.parsed() ? serve(file, arguments) : check(file, told.strict);
}

// Throws CLI::ParseError.
void parse(CLI::App& app, proxy::command::Words words) {
  words = proxy::command::in_options(std::move(words));
  if (auto wrong = proxy::command::unknown_word(app, words)) {
    throw CLI::ParseError(std::move(*wrong), kBadSettings);
  }
  std::reverse(words.begin(), words.end());  // as the parser wants them
  app.parse(std::move(words));
}

// For `hearsay cache`, as the proxy does it.
proxy::command::Naming naming_by(const config::Settings& settings) {
  proxy::policy::SiteRules rules(settings.rules, settings.gateway.mirrors);
  return [rules = std::move(rules)](const proxy::http::Target& url) { return rules.key_url(url); };
}

}  // namespace

int main(int argc, char** argv) {
  // Diagnostics go to stderr: stdout is for the access log.
  proxy::observe::write_events();
  CLI::App app("Hearsay, an HTTP caching proxy for a LAN whose neighbours know what it holds");
  app.set_version_flag("-V,--version", std::string(proxy::kProduct));
  app.require_subcommand(1);
  Told told;
  auto* const serving = app.add_subcommand("serve", "run the proxy");
  proxy::command::add_settings_option(*serving, told.config_path);
  auto* const checking = app.add_subcommand(
      "check",
      "say what is wrong with a settings file, and what of it this machine does not let happen: "
      "folders, ports, memory, descriptors, names, neighbours. Exit 0 if the settings are good, "
      "else 2");
  auto* const config = proxy::command::add_settings_option(*checking, told.config_path);
  checking->add_option("FILE", told.config_path, "the same")->excludes(config);
  checking->add_flag("--strict", told.strict, "exit 2 also for what this machine does not allow");
  const auto digest = proxy::command::add_digest(app);
  const auto cache = proxy::command::add_cache(app, proxy::cache::PurgePattern::reading, naming_by);
  const auto import_squid = proxy::command::add_import_squid(app);
  const auto steer = proxy::command::add_steering(app);
  auto* const manual = app.add_subcommand("manual", "print a manual page")->group("");
  std::string page = "1";
  manual->add_option("SECTION", page, "1, or 5: that of the settings");
  const auto setup = add_setup(app);
  const auto completion = proxy::command::add_completion(app);
  proxy::command::add_help(app);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of the write, as on a full disk
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log or output that ends fails the next write
  try {
    if (argc > 2 && argv[1] == std::string_view("help") &&
        argv[2] == std::string_view("settings")) {
      return help_settings(argc > 3 ? argv[3] : "");
    }
    parse(app, {argv + 1, argv + argc});
    if (manual->parsed()) {
      std::cout << (page == "5" ? config::settings_page(settings_reference(), proxy::kProduct)
                                : proxy::command::manual_page(app, proxy::kProduct));
      return 0;
    }
    if (app.got_subcommand("completion")) return completion();
    if (app.got_subcommand("setup")) return setup();
    if (app.got_subcommand("digest")) return digest({});
    if (app.got_subcommand("import-squid")) return import_squid({});
    if (app.got_subcommand("cache")) {
      proxy::machine::raise_descriptor_limit();  // each segment takes one
      return cache({});
    }
    if (const auto steered = steer({})) return *steered;
    return run(*serving, told, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadSettings;
  } catch (const std::exception& error) {
    std::cerr << "hearsay: " << error.what() << '\n';
    return 1;
  }
}
