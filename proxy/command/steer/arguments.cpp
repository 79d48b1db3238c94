#include "proxy/command/steer/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>

#include "proxy/command/steer/dashboard.hpp"
#include "proxy/command/steer/explain.hpp"
#include "proxy/command/steer/origins.hpp"
#include "proxy/command/steer/peers.hpp"
#include "proxy/command/steer/purge.hpp"
#include "proxy/command/steer/reload.hpp"
#include "proxy/command/steer/status.hpp"
#include "proxy/command/steer/top.hpp"

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
  bool once = false;
  bool revoke = false;
  PurgeOptions purge;
  ExplainOptions explain;
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

void add_views(CLI::App& program, SteeringArguments& all) {
  add_work(program, all, "status",
           "say whether a running proxy works, what does not, and what it holds",
           [&all](const Steer& steer) { return status(steer, all.strict); })
      .add_flag("--strict", all.strict, "exit 1 unless all works");
  add_work(
      program, all, "peers",
      "list the neighbours of a running proxy: state, digest, and how often its claims were true",
      [](const Steer& steer) { return peers(steer); });
  add_work(program, all, "origins",
           "list the origins of the last hour: requests, failures, first byte, bytes; and the "
           "requests that wait now, with what they wait for (access.admin)",
           [](const Steer& steer) { return origins(steer); });
  add_work(program, all, "top",
           "show what a running proxy does, each second until Ctrl-C: requests, hits, traffic, the "
           "busiest neighbours. Where stdout is no terminal, once",
           [&all](const Steer& steer) { return top(steer, all.once); })
      .add_flag("--once", all.once, "show one second, and end");
}

void add_purge(CLI::App& program, SteeringArguments& all) {
  auto& app = add_work(program, all, "purge",
                       "drop what a running proxy stores, from memory and disk. Exit 1 if nothing "
                       "was stored under the URL",
                       [&all](const Steer& steer) { return purge(steer, all.purge); });
  auto& what = *app.add_option_group("what", "one of these");
  what.add_option("URL", all.purge.url, "one URL, with all its variants");
  what.add_option("--prefix", all.purge.prefix, "all URLs that begin with this");
  what.add_option(
      "--host", all.purge.host,
      "all of a host: example.com, *.example.com, example.com:8080, or * for everything");
  what.require_option(1);
}

void add_explain(CLI::App& program, SteeringArguments& all) {
  auto& app =
      add_work(program, all, "explain",
               "say what a running proxy would do with a URL now, and why: who may have it, "
               "what is stored and how fresh, which neighbours claim it. Changes nothing. "
               "Exit 1 if the client would be refused",
               [&all](const Steer& steer) { return explain(steer, all.explain); });
  app.add_option("URL", all.explain.url, "as a client would ask for it; for CONNECT also HOST:PORT")
      ->required();
  app.add_option("--method", all.explain.method,
                 "default GET; for an https URL CONNECT, since clients tunnel those");
  app.add_option("--client", all.explain.client, "an address; default: this machine's");
  app.add_option("--user", all.explain.user,
                 "who signs in, where access.rules ask for a user; default: nobody");
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

Unanswered no_page(const Place& place, std::string_view target) {
  return {kRefusal, fmt::format("{} of the proxy at {} has another form: is it a Hearsay of this "
                                "version?",
                                target, place.name())};
}

std::function<std::optional<int>(const Streams&)> add_steering(CLI::App& program) {
  auto arguments = std::make_shared<SteeringArguments>();
  auto& all = *arguments;
  add_views(program, all);
  add_purge(program, all);
  add_explain(program, all);
  add_work(
      program, all, "dashboard",
      "print a link that signs one browser in to a running proxy's dashboard as administrator, "
      "for 12 hours; through the control socket alone",
      [&all](const Steer& steer) { return dashboard(steer, all.revoke); })
      .add_flag("--revoke", all.revoke,
                "instead, sign all browsers out, and end all links that were not used");
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
