#include "proxy/machine/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <csignal>

#include "tests/proxy/machine/child.hpp"

namespace proxy::machine::sandbox {
namespace {

constexpr uid_t kNobody = 65'534;

bool full() {
  return available().calls && available().files > 0;
}

TEST(Sandbox, PutsInForceWhatTheKernelOffers) {
  EXPECT_EQ(in_child([] { return enter({}) == available() ? 0 : 1; }), 0);
}

TEST(Sandbox, LimitsCallsAndFiles) {
  if (!full()) GTEST_SKIP() << describe(available());
  const int error = in_child([] {
    enter({});
    return error_if(::open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0);
  });
  EXPECT_EQ(error, EACCES);
  const int ended = in_child([] {
    enter({});
    return static_cast<int>(::syscall(SYS_execve, nullptr, nullptr, nullptr));
  });
  EXPECT_EQ(ended, 128 + SIGSYS);
}

// The kernel gives the files of /proc/PID to root if the process must not be dumped or traced.
TEST(Sandbox, AllowsNeitherCoreDumpsNorTracing) {
  const int result = in_child([] {
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) return 1;
    const rlimit most{0, RLIM_INFINITY};
    ::setrlimit(RLIMIT_CORE, &most);
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    struct stat before {};
    struct stat after {};
    rlimit core{};
    if (::stat("/proc/self/status", &before) != 0 || before.st_uid == 0) return 2;
    enter({});
    if (::stat("/proc/self/status", &after) != 0 || after.st_uid != 0) return 3;
    return ::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0 ? 0 : 4;
  });
  EXPECT_EQ(result, 0);
}

TEST(Sandbox, SaysWhatIsInForceAndWhatIsNot) {
  EXPECT_EQ(describe(Parts{true, 7}),
            "sandbox: no core dumps, no new privileges, system calls limited (seccomp), files "
            "limited (Landlock 7)");
  EXPECT_EQ(describe(Parts{false, 0}),
            "sandbox: no core dumps, no new privileges; system calls are not limited: no seccomp "
            "here; files are not limited: no Landlock here");
  EXPECT_EQ(describe(std::vector<Grant>{{"/a"}, {"/b", Use::append}, {"/c", Use::store}}),
            "sandbox: writes only to /b, /c");
  EXPECT_EQ(describe(std::vector<Grant>{{"/a"}}), "");
}

}  // namespace
}  // namespace proxy::machine::sandbox
