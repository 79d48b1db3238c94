// The program: arguments, settings, run.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "config/control.hpp"
#include "config/load.hpp"
#include "proxy/check/try_out.hpp"
#include "proxy/command/cache/arguments.hpp"
#include "proxy/command/command_line.hpp"
#include "proxy/command/digest/arguments.hpp"
#include "proxy/command/manual_page.hpp"
#include "proxy/command/squid/arguments.hpp"
#include "proxy/command/steer/arguments.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/machine/memory_need.hpp"
#include "proxy/machine/privileges.hpp"
#include "proxy/machine/supervisor.hpp"
#include "proxy/observe/events.hpp"
#include "proxy/observe/process_facts.hpp"
#include "proxy/policy/site_rules.hpp"
#include "proxy/purging/purge_pattern.hpp"
#include "proxy/sandbox/sandbox.hpp"
#include "proxy/server/server.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/succession/launcher.hpp"
#include "proxy/succession/predecessor.hpp"
#include "proxy/version.hpp"

namespace {

constexpr int kBadSettings = 2;

int tell(const config::SettingsErrors& errors) {
  for (const auto& error : errors) std::cerr << error.where << ": " << error.what << '\n';
  return kBadSettings;
}

// Null, after all that is wrong has been said.
proxy::PinnedPolicy load_policy(const proxy::SettingsFile& file, const config::Settings& settings) {
  auto policy = file.policy_of(settings);
  if (policy) return std::move(*policy);
  tell(policy.error());
  return nullptr;
}

// Raises the limit as high as we may, and returns it.
rlim_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return RLIM_INFINITY;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

// Each client may need a second descriptor towards its origin, and each segment on disk has one.
void raise_descriptor_limit(const config::Settings& settings) {
  const rlim_t most = raise_descriptor_limit();
  const auto disk = settings.cache.disk;
  const rlim_t wanted = disk ? proxy::cache::segments_of(disk->size.value) + 1024 : 0;
  if (most >= wanted) return;
  const rlimit more{wanted, wanted};
  if (::setrlimit(RLIMIT_NOFILE, &more) == 0) return;
  spdlog::warn("cache.disk.size {} GiB takes {} open files, but no more than {} are allowed here",
               disk->size.value >> 30, wanted, most);
}

// Why the proxy would serve without the sandbox; empty if it would serve inside.
std::string_view reason_for_no_sandbox(const config::Settings& settings) {
  if (!settings.sandbox) return "sandbox: off, by the setting \"sandbox\"";
  if (proxy::sandbox::kSanitized) return "sandbox: off, in a build with a sanitizer";
  return {};
}

// Call this while the process has one thread. Returns what to say at the start.
std::string confine(const config::Settings& settings, const std::string& config_path) {
  if (const auto reason = reason_for_no_sandbox(settings); !reason.empty()) {
    return std::string(reason);
  }
  const auto grants = proxy::sandbox::grants_for(settings, config_path);
  return proxy::sandbox::describe(proxy::sandbox::enter(grants));
}

// What the process may use, in one line. Warns if the settings ask for more memory.
std::string describe_limits(const proxy::SettingsFile& file, const config::Settings& settings) {
  const auto& memory = file.memory();
  const auto descriptors = proxy::machine::descriptor_limit().now;
  if (!memory) return fmt::format("{} descriptors", descriptors);
  if (const auto shortage = proxy::machine::memory_shortage(settings, memory)) {
    spdlog::warn("{}, or the system may end the proxy", *shortage);
  }
  const auto& group = memory->cgroup_file;
  return fmt::format("cache.memory is {} MiB of {} MiB ({}), {} descriptors",
                     settings.cache.memory.value >> 20, memory->bytes >> 20,
                     group.empty() ? "this machine" : group, descriptors);
}

// Gives up root's rights, or those that go beyond the user's. What the user is to write is made.
void give_up_privileges(const config::Settings& settings) {
  namespace machine = proxy::machine;
  proxy::make_folders_above(settings.cache);
  if (const auto account = machine::account_to_become(settings.user)) {
    if (settings.cache.disk) machine::give_folder(settings.cache.disk->path, *account);
    if (settings.log.access == config::LogTarget::file) {
      machine::give_file(settings.log.path, *account);
    }
    const auto control = std::filesystem::path(settings.control.value_or(config::kDefaultControl));
    const auto folder = control.parent_path();
    if (!folder.empty() && !std::filesystem::exists(folder)) machine::give_folder(folder, *account);
    machine::become(*account);
  } else if (::geteuid() != 0) {
    machine::give_up_capabilities();
  }
}

int serve(const proxy::SettingsFile& file, char* const* arguments) {
  const proxy::ProcessFacts facts;  // of /proc, which a change of the user closes
  const auto settings = file.read_settings();
  if (!settings) return tell(settings.error());
  proxy::format_events(settings->log.events);
  raise_descriptor_limit(*settings);
  // Only root listens on low ports, and the sandbox lets no socket listen.
  proxy::Listeners listeners(settings->listen, proxy::thread_count(*settings));
  give_up_privileges(*settings);
  // Before the lists are read, of which the launcher would keep a copy.
  const proxy::succession::Launcher launcher(arguments);
  auto policy = load_policy(file, *settings);
  if (!policy) return kBadSettings;
  auto predecessor = proxy::succession::Predecessor::of_environment();
  proxy::ControlSocket control(*settings);
  const auto supervisor = proxy::machine::Supervisor::of_environment();
  const auto user = proxy::machine::describe_user();
  // It limits files only for threads that start later.
  const auto confined = confine(*settings, file.path());
  predecessor.take_disk();
  const auto limits = describe_limits(file, policy->settings);
  proxy::Server server(std::move(policy), file, {listeners, control},
                       {predecessor, launcher, supervisor, facts});
  server.report_start(limits + "; " + user + "; " + confined);
  for (const auto& address : listeners.addresses()) {
    std::cout << "listening on " << address << '\n';
  }
  std::cout.flush();
  server.run();
  return 0;
}

void say_sandbox(const config::Settings& settings, const std::string& config_path) {
  if (const auto reason = reason_for_no_sandbox(settings); !reason.empty()) {
    std::cout << reason << '\n';
    return;
  }
  const auto parts = proxy::sandbox::available();
  std::cout << proxy::sandbox::describe(parts) << '\n';
  const auto writes = proxy::sandbox::describe(proxy::sandbox::grants_for(settings, config_path));
  if (parts.files > 0 && !writes.empty()) std::cout << writes << '\n';
}

// What the command line says.
struct Told {
  std::string config_path;
  bool strict = false;
};

// Says what the settings come to, and what of it this machine does not let happen.
int check(const proxy::SettingsFile& file, bool strict) {
  const auto read = file.read_settings();
  if (!read) return tell(read.error());
  const auto policy = load_policy(file, *read);
  if (!policy) return kBadSettings;
  const auto& settings = policy->settings;
  std::cout << proxy::summary(settings) << '\n';
  say_sandbox(settings, file.path());
  const auto trial = proxy::try_out(settings, file.memory());
  for (const auto& note : trial.notes) std::cout << note << '\n';
  for (const auto& warning : trial.warnings) std::cerr << "warning: " << warning << '\n';
  const auto warnings = trial.warnings.size();
  if (warnings == 0) {
    std::cout << "OK\n";
  } else {
    std::cout << (strict ? "not OK: " : "OK, but for ") << warnings
              << (warnings == 1 ? " warning\n" : " warnings\n");
  }
  return strict && warnings > 0 ? kBadSettings : 0;
}

int run(const CLI::App& serving, const Told& told, char* const* arguments) {
  const proxy::SettingsFile file(told.config_path, proxy::machine::memory_limit());
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
proxy::command::Naming naming_by(const std::vector<config::RuleSettings>& rules) {
  return [rules = proxy::SiteRules(rules)](const proxy::http::Target& url) {
    return rules.key_url(url);
  };
}

}  // namespace

int main(int argc, char** argv) {
  // Diagnostics go to stderr: stdout is for the access log.
  proxy::write_events();
  CLI::App app("Hearsay, an HTTP caching proxy for a LAN whose neighbours know what it holds");
  app.set_version_flag("-V,--version", std::string(proxy::kProduct));
  app.require_subcommand(1);
  Told told;
  auto* const serving = app.add_subcommand("serve", "run the proxy");
  serving->add_option("--config", told.config_path, "the settings, a JSON file")->required();
  auto* const checking = app.add_subcommand(
      "check",
      "say what is wrong with a settings file, and what of it this machine does not let happen: "
      "folders, ports, memory, descriptors, names. Exit 0 if the settings are good, else 2");
  checking->add_option("--config", told.config_path, "the settings, a JSON file")->required();
  checking->add_flag("--strict", told.strict, "exit 2 also for what this machine does not allow");
  const auto digest = proxy::command::add_digest(app);
  const auto cache = proxy::command::add_cache(app, proxy::PurgePattern::reading, naming_by);
  const auto import_squid = proxy::command::add_import_squid(app);
  const auto steer = proxy::command::add_steering(app);
  auto* const manual = app.add_subcommand("manual", "print the manual page")->group("");
  proxy::command::add_help(app);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of the write, as on a full disk
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log or output that ends fails the next write
  try {
    parse(app, {argv + 1, argv + argc});
    if (manual->parsed()) {
      std::cout << proxy::command::manual_page(app, proxy::kProduct);
      return 0;
    }
    if (app.got_subcommand("digest")) return digest({});
    if (app.got_subcommand("import-squid")) return import_squid({});
    if (app.got_subcommand("cache")) {
      raise_descriptor_limit();  // each segment takes one
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
