// A name server on 127.0.0.1 for tests, run by the test's io_context.
#pragma once

#include <array>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proxy/net/asio.hpp"

namespace support {

// Answers A and AAAA queries from its records; an unknown name does not exist (NXDOMAIN).
class NameServer {
 public:
  struct Record {
    std::vector<std::string> addresses;  // empty: the name exists but has no address
    std::uint32_t ttl = 60;
  };

  explicit NameServer(boost::asio::io_context& io);

  [[nodiscard]] std::string address() const;  // in the form of a list of servers

  std::map<std::string, Record> records;
  bool silent = false;   // counts queries and does not answer them
  bool refuses = false;  // answers every query with REFUSED
  std::string ignored;   // the queries for this name are not answered
  int asked = 0;         // number of queries for A records

 private:
  void receive();
  [[nodiscard]] bool is_ignored(std::string_view query) const;
  std::string reply_to(std::string_view query);

  boost::asio::basic_datagram_socket<boost::asio::ip::udp, proxy::net::Executor> socket_;
  boost::asio::ip::udp::endpoint sender_;
  std::array<char, 512> query_{};
};

}  // namespace support
