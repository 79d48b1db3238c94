#include "tests/support/successors.hpp"

#include <signal.h>

#include <string>
#include <string_view>

#include "tests/support/await.hpp"

namespace support {
namespace {

constexpr std::string_view kTakenOver = " has taken over";

}  // namespace

Successors::~Successors() {
  if (pid_ != first_.pid()) ::kill(pid_, SIGKILL);
}

void Successors::ask_for_one() const {
  ::kill(pid_, SIGUSR2);
}

std::size_t Successors::count() const {
  const std::string said = first_.errors();
  std::size_t count = 0;
  for (auto at = said.find(kTakenOver); at != said.npos; at = said.find(kTakenOver, at + 1)) {
    ++count;
  }
  return count;
}

bool Successors::await_more_than(std::size_t before, std::chrono::milliseconds limit) {
  if (!await([&] { return count() > before; }, limit)) return false;
  const std::string said = first_.errors();
  const auto end = said.rfind(kTakenOver);
  pid_ = std::stoi(said.substr(said.rfind(' ', end - 1) + 1));
  return true;
}

bool Successors::succeed(std::chrono::milliseconds limit) {
  const auto before = count();
  ask_for_one();
  return await_more_than(before, limit);
}

}  // namespace support
