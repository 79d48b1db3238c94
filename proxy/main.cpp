// The program: arguments, settings, run.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "config/load.hpp"
#include "proxy/command/arguments.hpp"
#include "proxy/server.hpp"
#include "proxy/version.hpp"

namespace {

constexpr int kBadSettings = 2;

std::optional<config::Settings> load(const std::string& path) {
  auto settings = config::load_file(path);
  if (settings) return std::move(*settings);
  for (const auto& error : settings.error()) {
    std::cerr << error.where << ": " << error.what << '\n';
  }
  return std::nullopt;
}

// Each client may need a second descriptor towards its origin.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int serve(const config::Settings& settings) {
  raise_descriptor_limit();
  proxy::Server server(settings);
  for (const auto& address : server.addresses()) {
    std::cout << "listening on " << address << '\n';
  }
  std::cout.flush();
  server.run();
  return 0;
}

int run(const CLI::App& serving, const std::string& config_path) {
  const auto settings = load(config_path);
  if (!settings) return kBadSettings;
  return serving.parsed() ? serve(*settings) : 0;
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
  std::signal(SIGPIPE, SIG_IGN);  // who reads our log or output may go; that is seen when we write
  try {
    app.parse(argc, argv);
    if (app.got_subcommand("digest")) return digest({});
    return run(*serving, config_path);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadSettings;
  } catch (const std::exception& error) {
    std::cerr << "hearsay: " << error.what() << '\n';
    return 1;
  }
}
