#include "tests/bench/partition/network.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <system_error>

#include "tests/support/child_process.hpp"

namespace bench {
namespace {

constexpr const char* kIp = "/sbin/ip";

// Runs the commands of ip(8), one a line, where the thread is.
void ip(const std::string& commands) {
  const support::TemporaryDirectory directory;
  support::write_file(directory / "commands", commands);
  const auto done = support::run_to_end({{kIp, "-batch", directory / "commands"}});
  if (done.exit_code != 0) throw std::runtime_error("ip: " + done.errors);
}

support::Descriptor current_namespace() {
  return support::Descriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
}

void enter(const support::Descriptor& network) {
  if (::setns(network.number(), CLONE_NEWNET) == 0) return;
  throw std::system_error(errno, std::generic_category(), "setns");
}

support::Descriptor new_namespace() {
  if (::unshare(CLONE_NEWNET) == 0) return current_namespace();
  throw NotPermitted("no network namespaces: " + std::generic_category().message(errno));
}

}  // namespace

Network::Network(std::size_t hosts) {
  if (::access(kIp, X_OK) != 0) throw NotPermitted("no iproute2");
  home_ = new_namespace();
  ip(
      fmt::format("link set lo up\n"
                  "link add lan0 type bridge\nlink set lan0 up\n"
                  "link add lan1 type bridge\nlink set lan1 up\n"
                  "link add wan type bridge\nlink set wan up\n"
                  "address add {}/24 dev wan\n",
                  origin()));
  for (std::size_t host = 0; host < hosts; ++host) add_host();
}

std::string Network::address(std::size_t host) {
  return fmt::format("10.17.0.{}", host + 1);
}

std::string Network::origin() {
  return "10.18.0.254";
}

void Network::add_host() {
  const std::size_t host = hosts_.size();
  hosts_.push_back(new_namespace());
  const auto home = fmt::format("/proc/{}/fd/{}", ::getpid(), home_.number());
  ip(
      fmt::format("link set lo up\n"
                  "link add lan type veth peer name lan-{0} netns {1}\n"
                  "link add wan type veth peer name wan-{0} netns {1}\n"
                  "address add {2}/24 dev lan\nlink set lan up\n"
                  "address add 10.18.0.{3}/24 dev wan\nlink set wan up\n",
                  host, home, address(host), host + 1));
  enter(home_);
  ip(
      fmt::format("link set lan-{0} master lan0\nlink set lan-{0} up\n"
                  "link set wan-{0} master wan\nlink set wan-{0} up\n",
                  host));
}

void Network::move_half_to(const char* bridge) const {
  std::string commands;
  for (std::size_t host = 0; host < size(); ++host) {
    if (is_beyond(host)) commands += fmt::format("link set lan-{} master {}\n", host, bridge);
  }
  ip(commands);
}

Network::Visit::Visit(const Network& network, std::size_t host) : network_(network) {
  enter(network.hosts_[host]);
}

Network::Visit::~Visit() {
  enter(network_.home_);
}

}  // namespace bench
