#include "proxy/machine/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "tests/proxy/machine/child.hpp"

namespace proxy::machine::sandbox {
namespace {

class CallLimits : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_limit_calls()) GTEST_SKIP() << "no seccomp here";
  }
};

struct Call {
  const char* name;
  std::function<int()> make;  // returns 0, or the number of the error
};

int limited(const Call& call) {
  return in_child([&] { return limit_calls() ? call.make() : kNotLimited; });
}

TEST_F(CallLimits, EndTheProcessAtACallThatAttacksOthers) {
  const std::pair<const char*, long> calls[] = {{"execve", SYS_execve},
                                                {"execveat", SYS_execveat},
                                                {"ptrace", SYS_ptrace},
                                                {"process_vm_readv", SYS_process_vm_readv},
                                                {"process_vm_writev", SYS_process_vm_writev},
                                                {"pidfd_getfd", SYS_pidfd_getfd},
                                                {"mount", SYS_mount},
                                                {"unshare", SYS_unshare},
                                                {"open_by_handle_at", SYS_open_by_handle_at},
                                                {"bpf", SYS_bpf},
                                                {"perf_event_open", SYS_perf_event_open},
                                                {"init_module", SYS_init_module},
                                                {"kexec_load", SYS_kexec_load},
                                                {"keyctl", SYS_keyctl},
                                                {"userfaultfd", SYS_userfaultfd}};
  for (const auto& [name, number] : calls) {
    const auto make = [number = number] {
      return error_if(::syscall(number, 0L, 0L, 0L, 0L, 0L, 0L) != 0);
    };
    EXPECT_EQ(limited({name, make}), 128 + SIGSYS) << name;
  }
}

int open_socket(int family, int type, int protocol = 0) {
  return error_if(::socket(family, type | SOCK_CLOEXEC, protocol) < 0);
}
int mapped(int protection) {
  void* const page = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return error_if(page == MAP_FAILED);
}
int made_executable() {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return error_if(::mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0);
}
int listens() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return kNotLimited;
  return error_if(::listen(fd, 1) != 0);
}
int calls(long number, long first = 0, long second = 0, long third = 0) {
  return error_if(::syscall(number, first, second, third, 0L, 0L) < 0);
}

TEST_F(CallLimits, RefuseWhatTheProxyDoesNotNeed) {
  char key = '\n';
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  const Call refused[] = {
      {"a listening socket", listens},
      {"a Unix socket", [] { return open_socket(AF_UNIX, SOCK_STREAM); }},
      {"a packet socket", [] { return open_socket(AF_PACKET, SOCK_RAW); }},
      {"a raw socket", [] { return open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
      {"netlink but for routes", [] { return open_socket(AF_NETLINK, SOCK_RAW, 9); }},
      {"a new process", [] { return calls(SYS_clone, SIGCHLD); }},
      {"a process by clone3", [] { return calls(SYS_clone3); }},
      {"a signal to another process", [] { return error_if(::kill(::getppid(), 0) != 0); }},
      {"writable code", [] { return mapped(PROT_READ | PROT_WRITE | PROT_EXEC); }},
      {"code from data", made_executable},
      {"a mode", [] { return error_if(::chmod("/nowhere", 0777) != 0); }},
      {"a link", [] { return error_if(::symlink("/a", "/nowhere/b") != 0); }},
      {"a higher limit", [&] { return error_if(::setrlimit(RLIMIT_CORE, &unlimited) != 0); }},
      {"a key into the terminal", [&] { return error_if(::ioctl(0, TIOCSTI, &key) != 0); }},
      {"core dumps", [] { return error_if(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0); }},
      {"a ring of requests", [] { return calls(SYS_io_uring_setup, 1); }},
      {"a user", [] { return error_if(::setuid(::getuid()) != 0); }},
      {"a call of the future", [] { return calls(9'999); }},
  };
  for (const Call& call : refused) EXPECT_EQ(limited(call), ENOSYS) << call.name;
}

int starts_a_thread() {
  std::atomic<int> ran{0};
  std::thread([&] { ran = 1; }).join();
  return ran == 1 ? 0 : kNotLimited;
}
int finds_localhost() {
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo("localhost", "80", nullptr, &found);
  if (error == 0) ::freeaddrinfo(found);
  return error == 0 ? 0 : 100;
}
int lists_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return errno;
  ::freeifaddrs(first);
  return 0;
}
int waits() {
  const int ready = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, ready, &event) != 0) return errno;
  return error_if(::epoll_wait(poll, &event, 1, 0) != 1);
}
int maps_a_library() {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  return error_if(code == MAP_FAILED);
}

TEST_F(CallLimits, LetThroughWhatTheProxyUses) {
  const Call allowed[] = {
      {"threads", starts_a_thread},
      {"names", finds_localhost},
      {"interfaces", lists_interfaces},
      {"waiting", waits},
      {"libraries", maps_a_library},
      {"IPv4", [] { return open_socket(AF_INET, SOCK_STREAM); }},
      {"IPv6", [] { return open_socket(AF_INET6, SOCK_DGRAM); }},
      {"files", [] { return error_if(::open("/dev/null", O_RDWR | O_CLOEXEC) < 0); }},
      {"unbuffered reads", [] { return error_if(::preadv2(-1, nullptr, 0, 0, 0) != 0) - EBADF; }},
  };
  for (const Call& call : allowed) EXPECT_EQ(limited(call), 0) << call.name;
  // An older system has no cachestat(), with or without limits.
  const Call counts{"cachestat", [] { return calls(451, -1); }};
  EXPECT_EQ(limited(counts), counts.make());
  const Call aborts{"abort", []() -> int { std::abort(); }};
  EXPECT_EQ(limited(aborts), 128 + SIGABRT);
}

TEST_F(CallLimits, BindThreadsThatRunAlready) {
  const int error = in_child([] {
    std::atomic<bool> now{false};
    int result = kNotLimited;
    std::thread earlier([&] {
      now.wait(false);
      result = listens();
    });
    if (!limit_calls()) return kNotLimited;
    now = true;
    now.notify_one();
    earlier.join();
    return result;
  });
  EXPECT_EQ(error, ENOSYS);
}

}  // namespace
}  // namespace proxy::machine::sandbox
