#include "proxy/command/steering.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "proxy/command/ask.hpp"
#include "proxy/command/fetch.hpp"
#include "proxy/command/interrupt.hpp"
#include "proxy/machine/clock.hpp"

namespace proxy::command {
namespace {

using nlohmann::json;

// What the command line says.
struct Told {
  RunningProxyOptions proxy;
  bool json = false;                 // print the page as it is
  bool flag = false;                 // the one that the subcommand has of its own, such as --strict
  std::string url, prefix, host;     // what to purge: one of these; `url` is also what to explain
  std::string method, client, user;  // of the request to explain; empty: the proxy's defaults
};

struct Steer {
  const Told& told;
  RunningProxy proxy;
  Streams streams;
};

// Prints to stdout and returns `exit_code`. Lost output fails with kRefusal.
Answered<int> print_answer(const Steer& steer, std::string_view text, int exit_code = 0) {
  const auto printed = print(text, steer.streams);
  if (!printed) return Unanswered{kRefusal, printed.error().text};
  return exit_code;
}

// Another program than Hearsay, or another version, has answered.
Unanswered no_page(const Steer& steer, std::string_view target) {
  return {kRefusal,
          fmt::format("{} of the proxy at {} has another form: is it a Hearsay of this version?",
                      target, steer.proxy.name())};
}

// Prints the page as it is, or its text; no text: it is no such page.
Answered<int> print_page(const Steer& steer, std::string_view target, const std::string& page,
                         const std::optional<std::string>& text, int exit_code = 0) {
  if (steer.told.json) return print_answer(steer, page, exit_code);
  if (!text) return no_page(steer, target);
  return print_answer(steer, *text, exit_code);
}

// A page with status 503 is no refusal: the proxy drains.
Answered<int> status(const Steer& steer) {
  const auto health = ask(steer.proxy, view("/health"));
  if (!health) return health.error();
  if (health->status != 200 && health->status != 503) return refusal(steer.proxy, *health);
  const auto page = json::parse(health->body, nullptr, false);
  // Programs get the page as it is, but their exit code must not depend on --json.
  const bool is_ok = page.is_object() && page.value("status", "") == "ok";
  const int code = steer.told.flag && !is_ok ? kRefusal : 0;
  if (steer.told.json) return print_answer(steer, health->body, code);
  const auto digest = ask_for(steer.proxy, view("/digest"));
  if (!digest) return digest.error();
  const auto metrics = ask_for(steer.proxy, view("/metrics"));
  if (!metrics) return metrics.error();
  return print_page(steer, "/health", health->body,
                    status_text(health->body, *digest, Samples(*metrics)), code);
}

Answered<int> show_table(const Steer& steer, const char* target,
                         std::optional<std::string> (*text)(const std::string&, std::size_t)) {
  const auto page = ask_for(steer.proxy, view(target));
  if (!page) return page.error();
  return print_page(steer, target, *page, text(*page, terminal_width(steer.streams.out)));
}

Answered<int> peers(const Steer& steer) {
  return show_table(steer, "/digest", peers_text);
}

Answered<int> origins(const Steer& steer) {
  return show_table(steer, "/hearsay/origins", origins_text);
}

struct Look {
  machine::Clock::SteadyTime at;
  Samples samples;
  std::uint64_t bytes = 0;  // of the page, which the next look counts among those sent
};

Answered<Look> look(const RunningProxy& proxy, const machine::Clock& clock) {
  const auto page = ask(proxy, view("/metrics"));
  if (!page) return page.error();
  if (page->status != 200) return refusal(proxy, *page);
  return Look{clock.steady(), Samples(page->body), page->bytes};
}

// Looks at /metrics each second, until SIGINT or SIGTERM; once, where a screen cannot be rewritten.
Answered<int> top(const Steer& steer) {
  constexpr std::string_view kFromTheTop = "\x1b[H\x1b[2J";  // ECMA-48: home, then erase all
  const bool as_json = steer.told.json;
  const bool goes_on = !steer.told.flag && (::isatty(steer.streams.out) != 0 || as_json);
  const Interrupt interrupt;
  const machine::Clock clock;
  // Counters begin when the proxy does, so a rate needs two looks.
  auto before = look(steer.proxy, clock);
  if (!before) return before.error();
  for (;;) {
    const auto waited = interrupt.await_for(std::chrono::seconds(1), steer.streams.out);
    // Ctrl-C and a reader that is gone are the usual ends, and no failure.
    if (waited != Readiness::over) return 0;
    auto now = look(steer.proxy, clock);
    if (!now) return now.error();
    const auto rates =
        rates_between(before->samples, now->samples, now->at - before->at, before->bytes);
    std::string text(!as_json && goes_on ? kFromTheTop : "");
    text += as_json ? top_json(rates) : top_text(rates);
    auto printed = print_answer(steer, text);
    if (!printed || !goes_on) return printed;
    before = std::move(now);
  }
}

Answered<int> purge(const Steer& steer) {
  constexpr const char* kTarget = "/admin/purge";
  const Told& told = steer.told;
  json order;
  if (!told.url.empty()) order["url"] = told.url;
  if (!told.prefix.empty()) order["prefix"] = told.prefix;
  if (!told.host.empty()) order["host"] = told.host;
  const auto page =
      // Arguments may have any bytes, and JSON must be UTF-8.
      ask_for(steer.proxy, {kTarget, order.dump(-1, ' ', true, json::error_handler_t::replace)});
  if (!page) return page.error();
  const auto answer = json::parse(*page, nullptr, false);
  const auto purged = answer.is_object() ? answer.value("purged", std::uint64_t{0}) : 0;
  // Of many URLs, the proxy does not count what is on disk, so 0 does not mean that nothing was
  // stored.
  const bool one = !told.url.empty();
  return print_page(steer, kTarget, *page, purge_text(*page, one ? Purged::one : Purged::many),
                    one && purged == 0 ? kRefusal : 0);
}

Answered<int> explain(const Steer& steer) {
  const Told& told = steer.told;
  auto target = "/admin/explain?url=" + percent_encoded(told.url);
  if (!told.method.empty()) target += "&method=" + percent_encoded(told.method);
  if (!told.client.empty()) target += "&client=" + percent_encoded(told.client);
  if (!told.user.empty()) target += "&user=" + percent_encoded(told.user);
  const auto page = ask_for(steer.proxy, {target});
  if (!page) return page.error();
  const auto text = explain_text(*page);
  if (!text) return no_page(steer, "/admin/explain");
  const bool allowed = json::parse(*page).at("allowed").get<bool>();
  return print_page(steer, "/admin/explain", *page, text, allowed ? 0 : kRefusal);
}

// Prints the link to stdout, and what is to know of it to stderr.
Answered<int> dashboard(const Steer& steer) {
  const bool revoke = steer.told.flag;
  const auto* const target = revoke ? "/admin/tickets/revoke" : "/admin/tickets";
  const auto page = ask_for(steer.proxy, {target, ""});
  if (!page) return page.error();
  if (revoke || steer.told.json) return print_page(steer, target, *page, revoked_text(*page));
  const auto link = sign_in_link(*page);
  if (!link) return no_page(steer, target);
  auto printed = print_answer(steer, link->link + '\n');
  if (printed) say(steer.streams.err, link->about);
  return printed;
}

Answered<int> reload(const Steer& steer) {
  constexpr const char* kTarget = "/admin/reload";
  constexpr long kNotApplied = 422;  // the file has errors, which the page names
  const auto page = ask(steer.proxy, {kTarget, ""});
  if (!page) return page.error();
  const bool applied = page->status == 200;
  if (!applied && page->status != kNotApplied) return refusal(steer.proxy, *page);
  return print_page(steer, kTarget, page->body, reload_text(page->body), applied ? 0 : kRefusal);
}

struct Subcommand {
  const char* name;
  Answered<int> (*work)(const Steer&);
  const char* about;
  const char* flag = nullptr;  // of its own
  const char* about_flag = "";
};

constexpr Subcommand kSubcommands[] = {
    {"status", status, "say whether a running proxy works, what does not, and what it holds",
     "--strict", "exit 1 unless all works"},
    {"peers", peers,
     "list the neighbours of a running proxy: state, digest, and how often its claims were true"},
    {"origins", origins,
     "list the origins of the last hour: requests, failures, first byte, bytes; and the requests "
     "that wait now, with what they wait for (access.admin)"},
    {"top", top,
     "show what a running proxy does, each second until Ctrl-C: requests, hits, traffic, the "
     "busiest neighbours. Where stdout is no terminal, once",
     "--once", "show one second, and end"},
    {"purge", purge,
     "drop what a running proxy stores, from memory and disk. Exit 1 if nothing was stored under "
     "the URL"},
    {"explain", explain,
     "say what a running proxy would do with a URL now, and why: who may have it, what is stored "
     "and how fresh, which neighbours claim it. Changes nothing. Exit 1 if the client would be "
     "refused"},
    {"dashboard", dashboard,
     "print a link that signs one browser in to a running proxy's dashboard as administrator, for "
     "12 hours; through the control socket alone",
     "--revoke", "instead, sign all browsers out, and end all links that were not used"},
    {"reload", reload,
     "have a running proxy read its settings again; a file with errors changes nothing"}};

void add(CLI::App& program, const Subcommand& subcommand, Told& told) {
  CLI::App& app = *program.add_subcommand(subcommand.name, subcommand.about);
  auto* const socket = app.add_option("--socket", told.proxy.socket,
                                      "the control socket; default /run/hearsay/control.sock");
  auto* const config =
      app.add_option("--config", told.proxy.config, "the proxy's settings, which name the socket");
  app.add_option("--url", told.proxy.url,
                 "a proxy elsewhere, http://HOST:PORT; it must allow this machine (access.monitor, "
                 "access.admin)")
      ->excludes(socket)
      ->excludes(config);
  socket->excludes(config);
  app.add_flag("--json", told.json, "print JSON, for programs: the proxy's page as it is");
  app.footer(
      "Exit 0: done. 1: the proxy says no. 2: the command line or the settings are wrong. 3: no "
      "proxy answers.");
  if (subcommand.flag) app.add_flag(subcommand.flag, told.flag, subcommand.about_flag);
}

void add_purge_options(CLI::App& app, Told& told) {
  auto& what = *app.add_option_group("what", "one of these");
  what.add_option("URL", told.url, "one URL, with all its variants");
  what.add_option("--prefix", told.prefix, "all URLs that begin with this");
  what.add_option(
      "--host", told.host,
      "all of a host: example.com, *.example.com, example.com:8080, or * for everything");
  what.require_option(1);
}

void add_explain_options(CLI::App& app, Told& told) {
  app.add_option("URL", told.url, "as a client would ask for it; for CONNECT also HOST:PORT")
      ->required();
  app.add_option("--method", told.method,
                 "default GET; for an https URL CONNECT, since clients tunnel those");
  app.add_option("--client", told.client, "an address; default: this machine's");
  app.add_option("--user", told.user,
                 "who signs in, where access.rules ask for a user; default: nobody");
}

// Not among kSubcommands, since it talks to the proxy's port, not to its pages.
void add_fetch(CLI::App& program, FetchOptions& options) {
  CLI::App& app = *program.add_subcommand(
      "fetch",
      "have a running proxy store URLs, images of containers, and repositories of Hugging Face, "
      "such as what a class will need tomorrow. What it stores already is not sent again, so a "
      "second run goes on where the first one ended");
  app.add_option("WHAT", options.what,
                 "URLs; images, as docker.io/library/debian:12; repositories, as "
                 "hf://OWNER/NAME[@REVISION][/FILE]; or files with one of these per line (or a "
                 "comment after #); -: standard input")
      ->required();
  app.add_option("--platform", options.platforms,
                 "of images: OS/ARCHITECTURE, or all; may be given several times (this machine's)")
      ->allow_extra_args(false);
  app.add_option("--parallel", options.parallel, "how many at a time (4)")
      ->check(CLI::Range(1U, kMostParallel));
  auto* const config = app.add_option("--config", options.config,
                                      "the proxy's settings, which name its port (listen)");
  app.add_option("--url", options.proxy, "the proxy, http://HOST:PORT")->excludes(config);
  app.footer(
      "Exit 0: the proxy has all of them. 1: some failed, and stderr says which and why. 2: the "
      "command line, a file or the settings are wrong. 3: no proxy answers.");
}

Answered<int> carry_out(const Subcommand& subcommand, const Told& told,
                        const Streams& streams) try {
  auto proxy = running_proxy(told.proxy);
  if (!proxy) return proxy.error();
  return subcommand.work({told, std::move(*proxy), streams});
} catch (const std::exception& error) {
  return Unanswered{kRefusal, fmt::format("broke off: {}", error.what())};
}

}  // namespace

std::function<std::optional<int>(const Streams&)> add_steering(CLI::App& program) {
  const auto told = std::make_shared<Told>();
  for (const Subcommand& each : kSubcommands) add(program, each, *told);
  add_purge_options(*program.get_subcommand("purge"), *told);
  add_explain_options(*program.get_subcommand("explain"), *told);
  const auto wanted = std::make_shared<FetchOptions>();
  add_fetch(program, *wanted);
  return [told, wanted, &program](const Streams& streams) -> std::optional<int> {
    if (program.got_subcommand("fetch")) return fetch(*wanted, streams);
    for (const Subcommand& each : kSubcommands) {
      if (!program.got_subcommand(each.name)) continue;
      const auto done = carry_out(each, *told, streams);
      if (done) return *done;
      say(streams.err, fmt::format("hearsay {}: {}\n", each.name, done.error().text));
      return done.error().exit_code;
    }
    return std::nullopt;
  };
}

}  // namespace proxy::command
