#include "tests/support/squid_process.hpp"

#include <unistd.h>

#include <stdexcept>

#include "tests/support/await.hpp"
#include "tests/support/client.hpp"

namespace support {
namespace {

// Squid builds a digest only with a cache_dir. For an origin on loopback netdb would go direct
// without looking at any digest. The default refresh pattern for "?" would ask with max-age=0.
std::string configuration(const std::string& directory, std::uint16_t port,
                          const std::string& neighbour, const std::string& more) {
  return "http_port 127.0.0.1:" + std::to_string(port) + "\n" +
         "visible_hostname squid-a.test\n"
         "unique_hostname squid-a.test\n"
         "pid_filename " +
         directory +
         "/pid\n"
         "cache_log " +
         directory +
         "/cache.log\n"
         "access_log stdio:" +
         directory +
         "/access.log\n"
         "cache_store_log none\n"
         "coredump_dir " +
         directory +
         "\n"
         "cache_effective_user proxy\n"
         "shutdown_lifetime 0 seconds\n"
         "pinger_enable off\n"
         "minimum_direct_rtt 0\n"
         "minimum_direct_hops 0\n"
         "cache_mem 64 MB\n"
         "maximum_object_size_in_memory 1 MB\n"
         "cache_dir ufs " +
         directory +
         "/cache 100 4 16\n"
         "refresh_pattern . 0 20% 4320\n"
         "digest_generation on\n"
         "digest_rebuild_period 2 seconds\n"
         "digest_rewrite_period 2 seconds\n"
         "digest_rebuild_chunk_percentage 100\n"
         "icp_port 0\n" +
         more +
         "http_access allow localhost\n"
         "http_access deny all\n" +
         neighbour + "debug_options ALL,1 15,5 44,3 70,2 71,2 72,5\n";
}

std::string neighbour_lines(std::uint16_t port, SquidProcess::Neighbour neighbour) {
  if (neighbour == SquidProcess::Neighbour::sibling) {
    return "cache_peer 127.0.0.1 sibling " + std::to_string(port) +
           " 0 no-query no-netdb-exchange proxy-only name=ours\n";
  }
  return "cache_peer 127.0.0.1 parent " + std::to_string(port) +
         " 0 no-query no-netdb-exchange no-digest name=ours\nnever_direct allow all\n";
}

}  // namespace

// Squid drops root by itself, and the kernel then forgets the parent-death signal. So setpriv drops
// root first and sets the signal again.
Command SquidProcess::squid(std::string_view option) const {
  std::vector<std::string> arguments{"/usr/bin/setpriv", "--pdeathsig", "KILL"};
  if (::geteuid() == 0) {
    arguments.insert(arguments.end(), {"--reuid", "proxy", "--regid", "proxy", "--clear-groups"});
  }
  arguments.insert(arguments.end(),
                   {"/usr/sbin/squid", std::string(option), "-N", "-f", directory_ / "squid.conf"});
  return {arguments};
}

SquidProcess::SquidProcess(std::uint16_t neighbour_port, Neighbour neighbour,
                           const std::string& more) {
  write_file(
      directory_ / "squid.conf",
      configuration(directory_.path(), port(), neighbour_lines(neighbour_port, neighbour), more));
  if (::geteuid() == 0) {
    const auto owned = run_to_end({{"/usr/bin/chown", "-R", "proxy:proxy", directory_.path()}});
    if (owned.exit_code != 0) throw std::runtime_error(owned.errors);
  }
  const Outcome made = run_to_end(squid("-z"));
  if (made.exit_code != 0) throw std::runtime_error("squid -z: " + made.errors + cache_log());
  process_ = std::make_unique<ChildProcess>(squid("-Y"));
  // Squid logs that it accepts connections a moment before it does.
  const bool ready = await([this] {
    return contains(cache_log(), "Finished rebuilding storage") && accepts_connections(port());
  });
  if (!ready) throw std::runtime_error("squid: " + process_->errors() + cache_log());
}

std::vector<LogLine> SquidProcess::access_log() const {
  return parse_access_log(read_file(directory_ / "access.log"));
}

std::string SquidProcess::manager_page(std::string_view name) const {
  Client client(port());
  client.send(head_text("GET /squid-internal-mgr/" + std::string(name) + " HTTP/1.1",
                        {{"Host", "squid-a.test"}}));
  return client.read().body;
}

}  // namespace support
