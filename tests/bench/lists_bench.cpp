// The cost of a long list of hosts: time to read it, memory, and time per request with the list and
// without.
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "proxy/lists/read.hpp"
#include "tests/bench/arguments.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using proxy::http::Target;
using proxy::lists::AccessLists;

// Some 20 characters, a usual length on block lists: "a1b2c3d.b4e5f6a.test".
std::string host(std::uint64_t number) {
  std::mt19937_64 mixed(number);
  const auto random = mixed();
  return fmt::format("a{:x}.b{:x}.test", random & 0xffffff, random >> 40);
}

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::vector<Target> targets(std::uint64_t first, std::size_t count) {
  std::vector<Target> made;
  for (std::uint64_t i = first; i < first + count; ++i) {
    made.push_back(*proxy::http::parse_target("GET", "http://www." + host(i) + "/path/page.html"));
  }
  return made;
}

// Prints the nanoseconds per look-up.
void ask(const AccessLists& lists, const std::vector<Target>& asked, const char* what) {
  std::size_t blocked = 0;
  const auto begun = Clock::now();
  for (int round = 0; round < 5; ++round) {
    for (const auto& target : asked) blocked += lists.blocks(target) ? 1U : 0U;
  }
  const auto questions = static_cast<double>(5 * asked.size());
  fmt::print("{:<28}{:7.1f} ns a request, {:.4f} blocked\n", what,
             seconds_since(begun) * 1e9 / questions, static_cast<double>(blocked) / questions);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t hosts = 5'000'000;
  std::size_t requests = 200'000;
  const auto exit_code = bench::parse(argc, argv, "cost of access.block",
                                      {
                                          {"--hosts", &hosts, "lines of the list"},
                                          {"--requests", &requests, "different hosts asked for"},
                                      });
  if (exit_code) return *exit_code;

  const support::TemporaryDirectory directory;
  const auto path = (directory / "block").string();
  {
    std::ofstream file(path);
    for (std::uint64_t i = 0; i < hosts; ++i) file << host(i) << '\n';
  }
  config::AccessSettings access;
  access.lists.block = {path};
  const auto begun = Clock::now();
  const auto lists = proxy::lists::read_lists(access, [](const auto&) {});
  if (!lists) return 1;
  const auto entries = static_cast<double>(lists->block().entries());
  fmt::print("read {} hosts ({} MiB) in {:.2f} s; {:.1f} bytes each\n", lists->block().entries(),
             std::filesystem::file_size(path) >> 20, seconds_since(begun),
             static_cast<double>(lists->block().bytes()) / entries);
  ask(AccessLists(), targets(hosts, requests), "no list, any host");
  ask(*lists, targets(hosts, requests), "the list, hosts not on it");
  ask(*lists, targets(0, std::min<std::uint64_t>(requests, hosts)), "the list, hosts on it");
}
