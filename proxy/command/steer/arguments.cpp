#include "proxy/command/steer/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>

#include "proxy/command/steer/reload.hpp"
#include "proxy/command/steer/status.hpp"

namespace proxy::command {
namespace {

constexpr const char* kExitCodes =
    "Exit 0: done. 1: the proxy says no. 2: the command line or the settings are wrong. 3: no "
    "proxy answers.";

// The options of every subcommand, and the chosen work.
struct SteeringArguments {
  PlaceOptions place;
  bool json = false;
  bool strict = false;
  std::string name;
  std::function<SteerResult(const Steer&)> work;
};

CLI::App& add_work(CLI::App& program, SteeringArguments& arguments, const std::string& name,
                   const std::string& about, std::function<SteerResult(const Steer&)> work) {
  CLI::App& app = *program.add_subcommand(name, about);
  app.callback([&arguments, name, work = std::move(work)] {
    arguments.name = name;
    arguments.work = work;
  });
  auto* const socket = app.add_option("--socket", arguments.place.socket,
                                      "the control socket; default /run/hearsay/control.sock");
  auto* const config = app.add_option("--config", arguments.place.config,
                                      "the proxy's settings, which name the socket");
  app.add_option("--url", arguments.place.url,
                 "a proxy elsewhere, http://HOST:PORT; it must allow this machine (access.monitor, "
                 "access.admin)")
      ->excludes(socket)
      ->excludes(config);
  socket->excludes(config);
  app.add_flag("--json", arguments.json, "print JSON, for programs: the proxy's page as it is");
  app.footer(kExitCodes);
  return app;
}

SteerResult carry_out(const SteeringArguments& arguments, const Streams& streams) try {
  auto place = place_of(arguments.place);
  if (!place) return place.error();
  return arguments.work({std::move(*place), arguments.json, streams});
} catch (const std::exception& error) {
  return Unanswered{kRefusal, fmt::format("broke off: {}", error.what())};
}

}  // namespace

SteerResult print_answer(const Steer& steer, std::string_view text, int exit_code) {
  const auto printed = print(text, steer.streams);
  if (!printed) return Unanswered{kRefusal, printed.error().text};
  return exit_code;
}

std::function<std::optional<int>(const Streams&)> add_steering(CLI::App& program) {
  auto arguments = std::make_shared<SteeringArguments>();
  auto& all = *arguments;
  add_work(program, all, "status",
           "say whether a running proxy works, what does not, and what it holds",
           [&all](const Steer& steer) { return status(steer, all.strict); })
      .add_flag("--strict", all.strict, "exit 1 unless all works");
  add_work(program, all, "reload",
           "have a running proxy read its settings again; a file with errors changes nothing",
           [](const Steer& steer) { return reload(steer); });
  return [arguments](const Streams& streams) -> std::optional<int> {
    if (!arguments->work) return std::nullopt;
    const auto done = carry_out(*arguments, streams);
    if (done) return *done;
    say(streams.err, fmt::format("hearsay {}: {}\n", arguments->name, done.error().text));
    return done.error().exit_code;
  };
}

}  // namespace proxy::command
