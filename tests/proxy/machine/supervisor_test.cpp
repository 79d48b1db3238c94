#include "proxy/machine/service.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/temporary_directory.hpp"

namespace proxy::machine {
namespace {

// The socket of a service manager.
class Manager {
 public:
  Manager() : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_ / "notify";
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Manager() {
    ::close(socket_);
    for (const char* const name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
      ::unsetenv(name);
    }
  }

  std::string heard() const {
    std::string text(1000, '\0');
    const auto size = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  support::TemporaryDirectory folder_;
  int socket_;
};

TEST(Supervisor, IsToldInTheWordsOfSystemd) {
  const Manager manager;
  const auto supervisor = Supervisor::of_environment();
  supervisor.serving();
  EXPECT_TRUE(manager.heard().starts_with("READY=1\nMAINPID=" + std::to_string(::getpid())));
  supervisor.reloading(Clock().steady());
  EXPECT_TRUE(manager.heard().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  supervisor.reloaded();
  EXPECT_EQ(manager.heard(), "READY=1");
  supervisor.alive();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");
  supervisor.stopping();
  EXPECT_TRUE(manager.heard().starts_with("STOPPING=1"));
}

TEST(Supervisor, AsksForSignsOfLifeOfTheProcessThatItMeansAlone) {
  const Manager manager;
  EXPECT_FALSE(Supervisor::of_environment().watchdog());
  ::setenv("WATCHDOG_USEC", "2000000", 1);
  EXPECT_EQ(Supervisor::of_environment().watchdog(), std::chrono::seconds(2));
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(Supervisor::of_environment().watchdog());
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_TRUE(Supervisor::of_environment().watchdog());
}

TEST(Supervisor, NeedNotExist) {
  Supervisor::of_environment().serving();
  ::setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
  Supervisor::of_environment().serving();
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace proxy::machine
