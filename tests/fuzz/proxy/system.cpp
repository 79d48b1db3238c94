#include "tests/fuzz/proxy/system.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <random>

namespace fuzz {
namespace {

constexpr std::chrono::seconds kFirstDay{1767571200};
constexpr std::chrono::hours kUptime{1};
// Timers run on the steady clock, and none waits longer. The wheel of time-outs visits each tick.
constexpr std::chrono::seconds kLongestWait{300};
constexpr std::uint16_t kRefuses = 9;

thread_local System* simulated = nullptr;

int failed(int error) {
  errno = error;
  return -1;
}

std::pair<int, support::Descriptor> pair_of_ends() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  return {ends[0], support::Descriptor(ends[1])};
}

std::chrono::nanoseconds real(clockid_t clock) {
  timespec now{};
  ::syscall(SYS_clock_gettime, clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// libFuzzer's alarm asks how long an input takes, on the thread that it interrupts.
bool in_alarm() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return ::sigismember(&blocked, SIGALRM) == 1;
}

// Nothing: the system's own time.
std::optional<std::chrono::nanoseconds> simulated_time(clockid_t clock) {
  if (!simulated) return std::nullopt;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      return simulated->wall();
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
      return simulated->steady();
    case CLOCK_BOOTTIME:
      return simulated->since_boot();
    default:
      return std::nullopt;
  }
}

}  // namespace

System::System() : wall_(kFirstDay), steady_(kUptime), since_boot_(kUptime) {
  simulated = this;
}

System::~System() {
  simulated = nullptr;
}

void System::pass(std::chrono::seconds time) {
  wall_ += time;
  steady_ += std::min(time, kLongestWait);
  since_boot_ += time;
}

System::Client System::client(const std::string& address) {
  auto [near, far] = pair_of_ends();
  clients_.insert_or_assign(near, address);
  return {std::move(far), near};
}

System::RealTime::RealTime() : simulated_(std::exchange(simulated, nullptr)) {}

System::RealTime::~RealTime() {
  simulated = simulated_;
}

int System::open() {
  auto [near, far] = pair_of_ends();
  opened_.insert_or_assign(near, std::move(far));
  clients_.erase(near);
  return near;
}

int System::connect(int near, const void* address) {
  auto opened = opened_.extract(near);
  if (opened.empty()) return failed(EISCONN);
  sockaddr_storage to{};
  std::memcpy(&to, address, sizeof(sockaddr));
  char text[INET6_ADDRSTRLEN] = "";
  std::uint16_t port = 0;
  if (to.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    port = ntohs(v4.sin_port);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    port = ntohs(v6.sin6_port);
  }
  if (port == kRefuses) return failed(ECONNREFUSED);
  connections_.push_back({std::move(opened.mapped()), text, port});
  return 0;
}

int System::name_peer(int near, void* name, unsigned* size) const {
  const auto client = clients_.find(near);
  if (client == clients_.end()) return failed(ENOTCONN);
  auto peer = support::loopback(40000);
  ::inet_pton(AF_INET, client->second.c_str(), &peer.sin_addr);
  std::memcpy(name, &peer, std::min<std::size_t>(*size, sizeof peer));
  *size = sizeof peer;
  return 0;
}

}  // namespace fuzz

// The definitions below take the place of those in the C and C++ libraries.

std::chrono::system_clock::time_point std::chrono::system_clock::now() noexcept {
  const auto* system = fuzz::in_alarm() ? nullptr : fuzz::simulated;
  return time_point(system ? system->wall() : fuzz::real(CLOCK_REALTIME));
}

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  const auto* system = fuzz::simulated;
  return time_point(system ? system->steady() : fuzz::real(CLOCK_MONOTONIC));
}

std::random_device::result_type std::random_device::_M_getval() {
  if (fuzz::simulated) return fuzz::simulated->draw();
  result_type drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) std::abort();
  return drawn;
}

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto now = fuzz::in_alarm() ? std::nullopt : fuzz::simulated_time(clock);
  if (!now) return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*now);
  time->tv_sec = seconds.count();
  time->tv_nsec = (*now - seconds).count();
  return 0;
}

int socket(int domain, int type, int protocol) noexcept {
  constexpr int kKind = 0xf;  // the other bits are flags
  if (!fuzz::simulated || (domain != AF_INET && domain != AF_INET6)) {
    return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
  }
  return (type & kKind) == SOCK_STREAM ? fuzz::simulated->open() : fuzz::failed(EACCES);
}

int connect(int fd, const sockaddr* address, socklen_t size) {
  if (fuzz::simulated) return fuzz::simulated->connect(fd, address);
  return static_cast<int>(::syscall(SYS_connect, fd, address, size));
}

int getpeername(int fd, sockaddr* name, socklen_t* size) noexcept {
  if (fuzz::simulated) return fuzz::simulated->name_peer(fd, name, size);
  return static_cast<int>(::syscall(SYS_getpeername, fd, name, size));
}

int timerfd_create(int clock, int flags) noexcept {
  if (fuzz::simulated) return fuzz::failed(EINVAL);
  return static_cast<int>(::syscall(SYS_timerfd_create, clock, flags));
}

}  // extern "C"
