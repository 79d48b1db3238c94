// Limits system calls by a seccomp filter.
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "proxy/machine/sandbox.hpp"

namespace proxy::machine::sandbox {
namespace {

// clang-format off
constexpr const char* kAllowed[] = {
    // Memory.
    "brk", "madvise", "membarrier", "mincore", "mremap", "munmap",
    // Threads.
    "exit", "exit_group", "futex", "futex_waitv", "get_robust_list", "getcpu", "gettid", "restart_syscall", "rseq",
    "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_yield", "set_robust_list", "set_tid_address",
    // Signals.
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "sigaltstack",
    // Time.
    "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "time", "timerfd_create",
    "timerfd_gettime", "timerfd_settime", "times",
    // Files.
    "access", "close", "close_range", "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate", "fcntl",
    "fdatasync", "flock", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents64", "lseek", "lstat", "mkdir",
    "mkdirat", "newfstatat", "open", "openat", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read",
    "readlink", "readlinkat", "readv", "stat", "statfs", "statx", "sync_file_range", "unlink", "unlinkat", "write",
    "writev",
    // Waiting.
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd2", "pipe", "pipe2",
    "poll", "ppoll", "pselect6", "select",
    // Network. getifaddrs() binds its netlink socket; for TCP, bind() fails by Landlock.
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "recvmsg",
    "sendfile", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
    "splice",
    // Facts about the process and the machine.
    "getegid", "geteuid", "getgid", "getpid", "getppid", "getrandom", "getresgid", "getresuid", "getrlimit", "getrusage",
    "getuid", "sysinfo", "uname"};

constexpr const char* kHostile[] = {
    // Other programs.
    "execve", "execveat", "kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
    // The view of the file system, and the ways around it.
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_by_handle_at",
    "open_tree", "pivot_root", "setns", "umount2", "unshare",
    // The kernel and the machine.
    "acct", "add_key", "bpf", "clock_settime", "delete_module", "finit_module", "init_module", "ioperm", "iopl",
    "kexec_file_load", "kexec_load", "keyctl", "modify_ldt", "perf_event_open", "quotactl", "reboot", "request_key",
    "setdomainname", "sethostname", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd"};
// clang-format on

// cachestat(2) on x86-64 and ARM64. libseccomp 2.5 does not know its name. The call reads a number
// about an open file.
constexpr int kCacheStat = 451;

using Conditions = std::vector<scmp_arg_cmp>;

scmp_arg_cmp equal(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
// Of the bits `among`, exactly `set` are set.
scmp_arg_cmp bits(unsigned argument, std::uint64_t among, std::uint64_t set) {
  return {argument, SCMP_CMP_MASKED_EQ, among, set};
}

// A filter under construction. After a step has failed, load() fails.
class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), &::seccomp_release) {
    if (!context_) return;
    good_ =
        ::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
        ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0;
    // For speed, where the kernel and the library can: a binary search for the call, and no
    // protection from speculation, which is meant for programs that run foreign code.
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_SSB, 1);
  }

  // The action for a call whose arguments meet all conditions. A call that libseccomp does not know
  // is passed over.
  void add(std::uint32_t action, const char* call, const Conditions& conditions = {}) {
    add(action, ::seccomp_syscall_resolve_name(call), conditions);
  }
  void add(std::uint32_t action, int number, const Conditions& conditions) {
    if (!good_ || number == __NR_SCMP_ERROR) return;
    good_ =
        ::seccomp_rule_add_array(context_.get(), action, number,
                                 static_cast<unsigned>(conditions.size()), conditions.data()) == 0;
  }
  void allow(const char* call, const Conditions& conditions) {
    add(SCMP_ACT_ALLOW, call, conditions);
  }

  bool load() { return good_ && ::seccomp_load(context_.get()) == 0; }

 private:
  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
  bool good_ = false;
};

void allow_memory(Filter& filter) {
  filter.allow("mmap", {bits(2, PROT_EXEC, 0)});
  filter.allow("mmap", {bits(2, PROT_EXEC | PROT_WRITE, PROT_EXEC)});  // of shared libraries
  filter.allow("mprotect", {bits(2, PROT_EXEC, 0)});
}

// clone3() passes its flags in memory, which a filter cannot read; the C library falls back to
// clone().
void allow_threads(Filter& filter) {
  filter.allow("clone", {bits(0, CLONE_THREAD, CLONE_THREAD)});
  filter.allow("prctl", {equal(0, PR_SET_NAME)});
  filter.allow("tgkill", {equal(0, static_cast<std::uint64_t>(::getpid()))});  // abort()
  filter.allow("prlimit64", {equal(0, 0), equal(2, 0)});                       // reads limits
}

void allow_sockets(Filter& filter) {
  constexpr std::uint64_t kTypes = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK
  for (const int family : {AF_INET, AF_INET6}) {
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      filter.allow("socket", {equal(0, static_cast<std::uint64_t>(family)),
                              bits(1, kTypes, static_cast<std::uint64_t>(type))});
    }
  }
  filter.allow("socket", {equal(0, AF_NETLINK), equal(2, NETLINK_ROUTE)});
  filter.allow("socketpair", {equal(0, AF_UNIX)});
  constexpr std::uint64_t kRequests[]{FIONBIO, FIONREAD,    FIOCLEX,
                                      TCGETS,  SIOCGIFNAME, SIOCGIFINDEX};
  for (const auto request : kRequests) {
    filter.allow("ioctl", {equal(1, request)});
  }
}

}  // namespace

bool can_limit_calls() {
  constexpr unsigned kKillsProcesses = 3;  // seccomp_api_get(3)
  return ::seccomp_api_get() >= kKillsProcesses;
}

bool limit_calls() {
  if (!can_limit_calls()) return false;
  Filter filter;
  for (const char* const call : kAllowed) filter.add(SCMP_ACT_ALLOW, call);
  for (const char* const call : kHostile) filter.add(SCMP_ACT_KILL_PROCESS, call);
  filter.add(SCMP_ACT_ALLOW, kCacheStat, {});
  allow_memory(filter);
  allow_threads(filter);
  allow_sockets(filter);
  return filter.load();
}

}  // namespace proxy::machine::sandbox
