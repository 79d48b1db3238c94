#include "proxy/users/password_checks.hpp"

#include <crypt.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "proxy/users/password_file.hpp"
#include "tests/support/run.hpp"

namespace proxy::users {
namespace {

// The costs of the hashes that this process has computed. Each takes the time that its cost says.
class Computed {
 public:
  void record(const char* hash) {
    const std::lock_guard lock(mutex_);
    costs_.insert(cost_of(hash));
  }
  // Those since the last call.
  std::multiset<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(costs_, {});
  }

 private:
  std::mutex mutex_;
  std::multiset<std::string> costs_;
} computed;

}  // namespace
}  // namespace proxy::users

// In place of the library's function, whose work another function of the library does.
extern "C" char* crypt_r(const char* password, const char* hash, crypt_data* data) noexcept {
  proxy::users::computed.record(hash);
  return ::crypt_rn(password, hash, data, static_cast<int>(sizeof *data));
}

namespace proxy::users {
namespace {

using namespace std::chrono_literals;

// Of "secret", by bcrypt: the first in a millisecond, the second in more than ten.
const std::string kQuick = "$2b$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa";
const std::string kSlow = "$2b$10$Hq5//ShBMqx84N1XsGe./eGCwUk/38Ew0XEd1k0vmZTZCc5BLsvA.";

PasswordFile file_of(const std::string& hash) {
  return *PasswordFile::parse("anna:" + hash + "\n", "f");
}

Guesser address(std::uint8_t number) {
  return {config::address_from_v4({10, 0, 0, number}), std::nullopt};
}

struct Checked {
  explicit Checked(const std::string& hash = kQuick) : file(file_of(hash)) {}

  net::Task<PasswordResult> ask(Credentials given, Guesser from) {
    net::Wakeup wakeup(io.get_executor());
    co_return co_await checks.check(file, given, from, wakeup);
  }
  PasswordResult result(const std::string& name, const std::string& password,
                        std::uint8_t from = 1) {
    return support::run(io, ask({name, password}, address(from)));
  }

  PasswordFile file;
  machine::Clock clock;
  PasswordChecks checks{clock};
  boost::asio::io_context io{1};
};

TEST(PasswordChecks, TellRightFromWrongAndCheckEachOnce) {
  Checked scene;
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::right);
    EXPECT_EQ(scene.result("anna", "Secret"), PasswordResult::wrong);
    EXPECT_EQ(scene.result("bob", "secret"), PasswordResult::wrong)
        << "has the hash, but not the name";
  }
  EXPECT_EQ(scene.checks.made(), 3U);
}

TEST(PasswordChecks, ForgetAVerdictOnceTheHashHasChanged) {
  Checked scene;
  EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::right);
  scene.file = file_of("$2y$04$abcdefghijklmnopqrstuu0HtfOlPbTiymk5tcV.3TsFPDd3SYZqu");
  EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::wrong);
  EXPECT_EQ(scene.result("anna", "other"), PasswordResult::right);
}

TEST(PasswordChecks, ForgetAVerdictOnceTheUserIsRenamedOrAdded) {
  Checked scene;
  const auto renamed = *PasswordFile::parse("bob:" + kQuick + "\n", "f");
  EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::right);
  EXPECT_EQ(scene.result("bob", "secret"), PasswordResult::wrong);
  scene.file = renamed;
  EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::wrong);
  EXPECT_EQ(scene.result("bob", "secret"), PasswordResult::right);
}

TEST(PasswordChecks, CheckOnceWhatSeveralAskAtOnce) {
  Checked scene(kSlow);
  int right = 0;
  const auto count = [&](const std::exception_ptr&, PasswordResult result) {
    right += result == PasswordResult::right ? 1 : 0;
  };
  for (std::uint8_t i = 0; i < 20; ++i) {
    net::spawn(scene.io.get_executor(), scene.ask({"anna", "secret"}, address(i)), count);
  }
  scene.io.run_for(5s);
  EXPECT_EQ(right, 20);
  EXPECT_EQ(scene.checks.made(), 1U);
}

TEST(PasswordChecks, LimitTheGuessesOfEachClient) {
  Checked scene;
  for (int i = 0; i < GuessLimit::kGuesses; ++i) {
    EXPECT_EQ(scene.result("anna", "guess " + std::to_string(i)), PasswordResult::wrong);
  }
  EXPECT_EQ(scene.result("anna", "one more"), PasswordResult::guessed_too_often);
  EXPECT_EQ(scene.result("anna", "guess 0"), PasswordResult::wrong)
      << "is known, and costs nothing";
  EXPECT_EQ(scene.result("anna", "secret", 2), PasswordResult::right) << "from another address";
  EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::right) << "is known by now";
}

TEST(PasswordChecks, ChargeNobodyForRightPasswordsThatAreAskedAtOnce) {
  constexpr int kUsers = GuessLimit::kGuesses + 5;
  std::string lines;
  for (int i = 0; i < kUsers; ++i) lines += "user" + std::to_string(i) + ':' + kSlow + '\n';
  Checked scene;
  scene.file = *PasswordFile::parse(lines, "f");
  int right = 0;
  const auto count = [&](const std::exception_ptr&, PasswordResult result) {
    right += result == PasswordResult::right ? 1 : 0;
  };
  for (int i = 0; i < kUsers; ++i) {
    const Credentials given{"user" + std::to_string(i), "secret"};
    net::spawn(scene.io.get_executor(), scene.ask(given, address(1)), count);
  }
  scene.io.run_for(9s);
  EXPECT_EQ(right, kUsers);
}

TEST(PasswordChecks, LimitTheGuessesThatAreMadeAtOnce) {
  Checked scene(kSlow);
  int refused = 0;
  const auto count = [&](const std::exception_ptr&, PasswordResult result) {
    refused += result == PasswordResult::guessed_too_often ? 1 : 0;
  };
  constexpr int kTried = static_cast<int>(Turns<int>::kMostOfOne);
  for (int i = 0; i < kTried; ++i) {
    net::spawn(scene.io.get_executor(), scene.ask({"anna", std::to_string(i)}, address(1)), count);
  }
  scene.io.run_for(9s);
  EXPECT_GE(refused, kTried - GuessLimit::kGuesses - 1);
}

TEST(PasswordChecks, LetOnlySomeWait) {
  Checked scene(kSlow);
  std::size_t busy = 0;
  const auto count = [&](const std::exception_ptr&, PasswordResult result) {
    busy += result == PasswordResult::busy ? 1 : 0;
  };
  constexpr std::size_t kMore = Turns<int>::kMost + 20;
  for (std::size_t i = 0; i < kMore; ++i) {
    const auto from = address(static_cast<std::uint8_t>(i / 8));
    net::spawn(scene.io.get_executor(), scene.ask({"anna", std::to_string(i)}, from), count);
  }
  scene.io.run_for(200ms);
  EXPECT_GE(busy, 10U);
}

TEST(PasswordChecks, TakeAsLongForEachWrongPasswordWhoeverIsNamed) {
  Checked scene;
  scene.file = *PasswordFile::parse("anna:" + kQuick + "\nbob:" + kSlow + "\n", "f");
  const std::multiset<std::string> one_of_each{cost_of(kQuick), cost_of(kSlow)};
  computed.take();
  for (const auto* const name : {"anna", "bob", "nobody", "someone"}) {
    EXPECT_EQ(scene.result(name, "guess"), PasswordResult::wrong);
    EXPECT_EQ(computed.take(), one_of_each) << name;
  }
  EXPECT_EQ(scene.result("anna", "secret"), PasswordResult::right);
  EXPECT_EQ(scene.result("bob", "secret"), PasswordResult::right);
}

TEST(PasswordChecks, EndAWaitOnDemand) {
  Checked scene(kSlow);
  net::Wakeup wakeup(scene.io.get_executor());
  const Credentials given{"anna", "secret"};
  const auto leave = [&]() -> net::Task<PasswordResult> {
    boost::asio::post(scene.io, [&] { wakeup.notify(); });
    co_return co_await scene.checks.check(scene.file, given, address(1), wakeup);
  };
  EXPECT_EQ(support::run(scene.io, leave()), PasswordResult::busy);
}

}  // namespace
}  // namespace proxy::users
