#include "proxy/command/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace proxy::command {
namespace {

// What --help does not say.
constexpr std::string_view kAbout = R"(.SH DESCRIPTION
Hearsay caches what the machines of a network fetch over HTTP. Several Hearsays on one site work as
one cache: each one tells its neighbours by a digest what it holds.
.PP
.B hearsay serve
runs in the foreground. All other commands talk to a running proxy, or work on files.
)";
constexpr std::string_view kRest = R"(.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Let responses under way end (setting timeouts.drain), then end.
.TP
.B SIGHUP
Read the settings and the lists again.
.TP
.B SIGUSR1
Reopen the access log.
.TP
.B SIGUSR2
Start the program anew. It takes over the listening sockets and the cache on disk, and this process
ends when its connections have. No connection is refused or delayed. If the new program does not
serve, this process goes on.
.SH ENVIRONMENT
.TP
.BR LISTEN_FDS ", " LISTEN_PID
Listening sockets that replace the setting "listen" (socket activation by systemd).
.TP
.BR NOTIFY_SOCKET ", " WATCHDOG_USEC
The service manager is told when the proxy serves, reloads and ends, and that its threads get on.
.SH FILES
.TP
.I /etc/hearsay/hearsay.json
The settings of the service.
.TP
.I /usr/share/doc/hearsay/config/hearsay.json
All settings, their defaults, and what they mean.
.TP
.I /run/hearsay/control.sock
Where commands reach the running service (setting "control").
.SH EXIT STATUS
0: success. 1: failure. 2: wrong arguments or settings, explained on standard error. 3: no proxy
answers.
.SH EXAMPLES
.TP
.B hearsay serve \-\-config hearsay.json
Run the proxy with these settings.
.TP
.B hearsay check \-\-config /etc/hearsay/hearsay.json && systemctl reload hearsay
Look for errors in changed settings, then have the service follow them.
.TP
.B hearsay status
Say whether the service works, and if not, why.
.TP
.B hearsay explain http://example.com/a
Say what would be done with a request for this URL, and why.
.TP
.B hearsay origins
Say which origins fail or are slow, and what requests wait for.
.TP
.B hearsay dashboard
Print a link by which a browser shows the dashboard as administrator.
.TP
.B hearsay fetch list
Store the URLs in the file list, one per line, before clients ask for them.
.TP
.B hearsay purge http://example.com/a
Remove the stored responses of this URL.
.TP
.B hearsay help settings cache.memory
Explain a setting.
.TP
.B hearsay import\-squid /etc/squid/squid.conf > hearsay.json
Make settings from those of Squid.
.SH SEE ALSO
.BR hearsay.json (5),
.BR systemctl (1),
.BR journalctl (1),
.BR squid (8)
)";

// Text that troff takes as it is.
std::string plain(std::string_view text) {
  std::string safe;
  bool begins_line = true;
  for (const char c : text) {
    // At the beginning of a line these are requests to troff. A bare "-" may become a hyphen, which
    // cannot be pasted into a shell.
    if (begins_line && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    begins_line = c == '\n';
  }
  return safe;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  const bool ends = text.empty() || std::string_view(".?!").find(text.back()) != std::string::npos;
  return plain(text) + (ends ? "\n" : ".\n");
}

bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty() && option.get_lnames() != std::vector<std::string>{"help"};
}

void add_option(std::string& page, const CLI::Option& option) {
  page += ".TP\n.B " + plain(option.get_name(option.get_positional(), true));
  const auto type = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (!option.get_positional() && !type.empty()) page += " " + plain(type);
  page += "\n" + sentence(option.get_description());
}

void add_options(std::string& page, const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options()) {
    if (is_shown(*option)) add_option(page, *option);
  }
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
  auto all = app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  return {all.begin(), all.end()};
}

// Adds the command, or the subcommands that it requires. An option group is a subcommand without a
// name.
void add_command(std::string& page, const std::string& name, const CLI::App& app) {
  std::string body;
  bool has_commands = false;
  for (const CLI::App* const sub : shown_subcommands(app)) {
    if (sub->get_name().empty()) add_options(body, *sub);
    has_commands = has_commands || !sub->get_name().empty();
  }
  if (!has_commands) {
    page += ".SS " + plain(name) + "\n" + sentence(app.get_description());
    add_options(page, app);
    page += body;
    if (!app.get_footer().empty()) page += ".PP\n" + plain(app.get_footer()) + "\n";
  }
  for (const CLI::App* const sub : shown_subcommands(app)) {
    if (!sub->get_name().empty()) add_command(page, name + " " + sub->get_name(), *sub);
  }
}

}  // namespace

std::string manual_page(const CLI::App& program, std::string_view version) {
  std::string page = ".TH HEARSAY 1 \"\" \"" + plain(version) + "\"\n.SH NAME\nhearsay \\- ";
  page += "HTTP caching proxy whose neighbours know what it holds\n";
  page += ".SH SYNOPSIS\n.B hearsay\n.I COMMAND\n.RI [ OPTIONS ]\n";
  page += kAbout;
  page += ".SH COMMANDS\nEach command explains itself with\n.BR \\-\\-help .\n";
  for (const CLI::App* const sub : shown_subcommands(program)) {
    add_command(page, sub->get_name(), *sub);
  }
  page += ".SH OPTIONS\n";
  add_options(page, program);
  page += kRest;
  return page;
}

}  // namespace proxy::command
