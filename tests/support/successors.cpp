#include "tests/support/successors.hpp"

#include <signal.h>

#include <string>
#include <string_view>

#include "tests/support/await.hpp"
#include "tests/support/message.hpp"

namespace support {
namespace {

constexpr std::string_view kTakenOver = " has taken over";

}  // namespace

void Successors::ask_for_one() const {
  ::kill(pid_, SIGUSR2);
}

std::size_t Successors::count() const {
  return count_of(first_.errors(), kTakenOver);
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
