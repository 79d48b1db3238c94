// The program: arguments, settings, run.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "config/load.hpp"
#include "proxy/command/cache/arguments.hpp"
#include "proxy/command/digest/arguments.hpp"
#include "proxy/command/squid/arguments.hpp"
#include "proxy/policy/site_rules.hpp"
#include "proxy/purging/purge_pattern.hpp"
#include "proxy/sandbox/sandbox.hpp"
#include "proxy/server/server.hpp"
#include "proxy/server/settings_file.hpp"
#include "proxy/version.hpp"

namespace {

constexpr int kBadSettings = 2;

void tell(const config::SettingsErrors& errors) {
  for (const auto& error : errors) std::cerr << error.where << ": " << error.what << '\n';
}

// Null, after all that is wrong has been said.
proxy::PinnedPolicy load_policy(const proxy::SettingsFile& file) {
  auto policy = file.read();
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

int serve(proxy::PinnedPolicy policy, const proxy::SettingsFile& file) {
  raise_descriptor_limit(policy->settings);
  const auto& settings = policy->settings;
  // The sandbox lets no socket listen, and limits files only for threads that start later.
  proxy::Listeners listeners(settings.listen, proxy::thread_count(settings));
  const auto confined = confine(settings, file.path());
  proxy::Server server(std::move(policy), file, listeners);
  spdlog::info("{}", confined);
  for (const auto& address : listeners.addresses()) {
    std::cout << "listening on " << address << '\n';
  }
  std::cout.flush();
  server.run();
  return 0;
}

// Says what the sandbox would limit.
int check(const config::Settings& settings, const std::string& config_path) {
  if (const auto reason = reason_for_no_sandbox(settings); !reason.empty()) {
    std::cout << reason << '\n';
    return 0;
  }
  const auto parts = proxy::sandbox::available();
  std::cout << proxy::sandbox::describe(parts) << '\n';
  const auto writes = proxy::sandbox::describe(proxy::sandbox::grants_for(settings, config_path));
  if (parts.files > 0 && !writes.empty()) std::cout << writes << '\n';
  return 0;
}

int run(const CLI::App& serving, const std::string& config_path) {
  const proxy::SettingsFile file(config_path);
  auto policy = load_policy(file);
  if (!policy) return kBadSettings;
  return serving.parsed() ? serve(std::move(policy), file) : check(policy->settings, config_path);
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
  spdlog::set_default_logger(spdlog::stderr_logger_mt("hearsay"));
  CLI::App app("Hearsay, an HTTP caching proxy for a LAN whose neighbours know what it holds");
  app.set_version_flag("--version", std::string(proxy::kProduct));
  app.require_subcommand(1);
  std::string config_path;
  auto* const serving = app.add_subcommand("serve", "run the proxy");
  serving->add_option("--config", config_path, "the settings, a JSON file")->required();
  auto* const checking = app.add_subcommand("check", "say what is wrong with a settings file");
  checking->add_option("--config", config_path, "the settings, a JSON file")->required();
  const auto digest = proxy::command::add_digest(app);
  const auto cache = proxy::command::add_cache(app, proxy::PurgePattern::reading, naming_by);
  const auto import_squid = proxy::command::add_import_squid(app);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of the write, as on a full disk
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log or output that ends fails the next write
  try {
    app.parse(argc, argv);
    if (app.got_subcommand("digest")) return digest({});
    if (app.got_subcommand("import-squid")) return import_squid({});
    if (app.got_subcommand("cache")) {
      raise_descriptor_limit();  // each segment takes one
      return cache({});
    }
    return run(*serving, config_path);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadSettings;
  } catch (const std::exception& error) {
    std::cerr << "hearsay: " << error.what() << '\n';
    return 1;
  }
}
