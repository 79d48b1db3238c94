#include "proxy/machine/launcher.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace proxy::machine::succession {
namespace {

constexpr const char* kLauncherName = "hearsay-launch";

// Signals that the terminal or systemd sends to all processes of the service. The launcher ends
// with the process that it belongs to.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};

void on_signals(void (*action)(int)) {
  for (const int number : kSignals) std::signal(number, action);
}

// A descriptor (pidfd) of the program that takes over, whose number may by now be another
// program's; and the number of the process that it takes over from. For the launcher's only thread.
// glibc 2.36 declares the calls for descriptors of processes for C alone.
volatile std::sig_atomic_t taking_over = -1;
volatile std::sig_atomic_t predecessor = -1;

void end_launched() {
  if (taking_over >= 0) ::syscall(SYS_pidfd_send_signal, taking_over, SIGTERM, nullptr, 0);
}

void let_go() {
  const Descriptor ended(taking_over);
  taking_over = -1;  // first: a signal must not meet the number of a closed descriptor
}

extern "C" void pass_on(int) {
  if (taking_over < 0) return;
  if (::getppid() == predecessor) ::kill(predecessor, SIGTERM);
  end_launched();
}

struct Launch {
  std::vector<Descriptor> sockets;
  std::vector<std::string> names;
};

// All descriptors move up first, since one may have the number that another is to get.
void inherit(const Launch& launch, const Descriptor& channel) {
  std::vector<int> all;
  for (const auto& socket : launch.sockets) all.push_back(socket.number());
  all.push_back(channel.number());
  const int beyond = kFirstInherited + static_cast<int>(all.size());
  for (int& descriptor : all) descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, beyond);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ::dup2(all[i], kFirstInherited + static_cast<int>(i));
  }
}

void describe_in_environment(const Launch& launch) {
  std::string names;
  for (const auto& name : launch.names) names += (names.empty() ? "" : ":") + name;
  const auto count = launch.sockets.size();
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  ::setenv("LISTEN_FDS", std::to_string(count).c_str(), 1);
  ::setenv("LISTEN_FDNAMES", names.c_str(), 1);
  ::setenv(kChannelVariable, std::to_string(kFirstInherited + count).c_str(), 1);
  ::unsetenv("WATCHDOG_PID");  // it is our predecessor's
}

// What ps shows: else a person takes this process for the proxy. The kernel shows the memory of the
// arguments, which follow each other.
void rename_process(char* const* arguments) {
  ::prctl(PR_SET_NAME, kLauncherName);
  char* const first = arguments[0];
  std::size_t room = 0;
  for (; *arguments != nullptr && *arguments == first + room; ++arguments) {
    room += std::strlen(*arguments) + 1;
  }
  std::memset(first, 0, room);
  std::memcpy(first, kLauncherName, std::min(room - 1, std::strlen(kLauncherName)));
}

void become(char* const* arguments, const Launch& launch, const Descriptor& channel) {
  inherit(launch, channel);
  describe_in_environment(launch);
  ::execvp(arguments[0], arguments);
  const int cause = errno;
  std::cerr << "hearsay: cannot start " << arguments[0] << ": "
            << std::system_category().message(cause) << '\n';
  ::_exit(127);
}

// The two signals are kept back meanwhile: one that arrives before the program runs ends it, too.
void start(char* const* arguments, const Launch& launch, const Descriptor& channel) {
  sigset_t both{};
  ::sigemptyset(&both);
  for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&both, number);
  ::sigprocmask(SIG_BLOCK, &both, nullptr);
  const pid_t started = ::fork();
  if (started > 0) taking_over = static_cast<int>(::syscall(SYS_pidfd_open, started, 0));
  if (started == 0) on_signals(SIG_DFL);
  ::sigprocmask(SIG_UNBLOCK, &both, nullptr);
  if (started == 0) become(arguments, launch, channel);
}

[[noreturn]] void obey(int orders, char* const* arguments) {
  Launch launch;
  for (;;) {
    auto [message, closed] = receive(orders, Wait::yes);
    if (closed) ::_exit(0);
    if (!message) continue;
    if (message->kind == MessageKind::order) {
      launch = {};
      let_go();
    } else if (message->kind == MessageKind::end) {
      end_launched();
    } else if (message->kind == MessageKind::socket) {
      launch.sockets.push_back(std::move(message->carried));
      launch.names.push_back(std::move(message->text));
    } else if (message->kind == MessageKind::launch) {
      start(arguments, launch, message->carried);
      launch = {};
    }
  }
}

// The number in LISTEN_FDS if it is meant for this process.
int inherited_count() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::atol(pid) != ::getpid()) return 0;
  return std::atoi(count);
}

}  // namespace

Launcher::Launcher(char* const* arguments) {
  auto [ours, theirs] = make_channel();
  if (!ours) return;
  const pid_t forked = ::fork();
  if (forked > 0) orders_ = std::move(ours);
  if (forked != 0) return;
  predecessor = ::getppid();
  on_signals(SIG_IGN);  // of SIGCHLD, too: no zombie stays
  for (const int number : {SIGTERM, SIGINT}) std::signal(number, pass_on);
  // A copy, since the launcher's own are overwritten.
  std::vector<std::string> texts;
  for (auto* one = arguments; *one != nullptr; ++one) texts.emplace_back(*one);
  std::vector<char*> copy;
  for (auto& text : texts) copy.push_back(text.data());
  copy.push_back(nullptr);
  rename_process(arguments);
  ::dup2(theirs.number(), kFirstInherited);
  ::close_range(kFirstInherited + 1, ~0U,
                0);  // a listening socket must be closed when all leave it
  obey(kFirstInherited, copy.data());
}

bool Launcher::has_ended() const {
  return !orders_ || receive(orders_.number(), Wait::no).closed;
}

Descriptor Launcher::launch(std::span<const Socket> sockets) const {
  auto [ours, theirs] = make_channel();
  if (!ours) return Descriptor();
  bool sent = send(orders_.number(), MessageKind::order);
  for (const auto& [descriptor, name] : sockets) {
    sent = sent && send(orders_.number(), MessageKind::socket, name, descriptor);
  }
  sent = sent && send(orders_.number(), MessageKind::launch, {}, theirs.number());
  return sent ? std::move(ours) : Descriptor();
}

std::vector<Inherited> inherited_sockets() {
  const char* const names = std::getenv("LISTEN_FDNAMES");
  std::istringstream in(names == nullptr ? "" : names);
  std::vector<Inherited> sockets;
  for (int i = 0; i < inherited_count(); ++i) {
    auto& socket = sockets.emplace_back(Inherited{kFirstInherited + i, {}});
    std::getline(in, socket.name, ':');
    ::fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC);
  }
  return sockets;
}

}  // namespace proxy::machine::succession
