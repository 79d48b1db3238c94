#include "tests/proxy/upstream/name_server.hpp"

#include <boost/asio/ip/address.hpp>
#include <string_view>

namespace support {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kHeader = 12;  // RFC 1035 section 4.1.1
constexpr int kNotFound = 3;
constexpr int kRefused = 5;
constexpr unsigned kA = 1;
constexpr unsigned kAaaa = 28;

void put16(std::string& to, unsigned value) {
  to += static_cast<char>(value >> 8U);
  to += static_cast<char>(value);
}

std::string name_in(std::string_view question) {
  std::string name;
  std::size_t at = 0;
  while (question[at] != 0) {
    const auto size = static_cast<std::size_t>(question[at]);
    name += (name.empty() ? "" : ".") + std::string(question.substr(at + 1, size));
    at += size + 1;
  }
  return name;
}

// The resource record for the question's name (section 4.1.3); empty if the address has the other
// type.
std::string resource(const std::string& text, unsigned type, std::uint32_t ttl) {
  const auto address = ip::make_address(text);
  if (address.is_v4() != (type == kA)) return {};
  std::string record("\xc0\x0c", 2);  // the name: see byte 12
  put16(record, type);
  put16(record, 1);
  put16(record, ttl >> 16U);
  put16(record, ttl);
  put16(record, address.is_v4() ? 4 : 16);
  if (address.is_v4()) {
    for (const auto byte : address.to_v4().to_bytes()) record += static_cast<char>(byte);
  } else {
    for (const auto byte : address.to_v6().to_bytes()) record += static_cast<char>(byte);
  }
  return record;
}

}  // namespace

NameServer::NameServer(boost::asio::io_context& io)
    : socket_(io.get_executor(), ip::udp::endpoint(ip::address_v4::loopback(), 0)) {
  receive();
}

std::string NameServer::address() const {
  return "127.0.0.1:" + std::to_string(socket_.local_endpoint().port());
}

void NameServer::receive() {
  socket_.async_receive_from(boost::asio::buffer(query_), sender_,
                             [this](boost::system::error_code error, std::size_t size) {
                               if (error) return;
                               const auto reply = reply_to({query_.data(), size});
                               const bool ignores = silent || is_ignored({query_.data(), size});
                               if (!ignores) socket_.send_to(boost::asio::buffer(reply), sender_);
                               receive();
                             });
}

bool NameServer::is_ignored(std::string_view query) const {
  return !ignored.empty() && name_in(query.substr(kHeader)) == ignored;
}

std::string NameServer::reply_to(std::string_view query) {
  const auto name = name_in(query.substr(kHeader));
  const auto question = query.substr(kHeader, name.size() + 2 + 4);
  const auto type = static_cast<unsigned char>(question[name.size() + 3]);
  if (type == kA) ++asked;
  const auto known = records.find(name);
  unsigned count = 0;
  std::string answers;
  if (known != records.end()) {
    for (const auto& address : known->second.addresses) {
      const auto record = resource(address, type, known->second.ttl);
      answers += record;
      if (!record.empty()) ++count;
    }
  }
  std::string reply(query.substr(0, 2));
  put16(reply, 0x8180U | static_cast<unsigned>(refuses                  ? kRefused
                                               : known == records.end() ? kNotFound
                                                                        : 0));
  put16(reply, 1);
  put16(reply, refuses ? 0 : count);
  put16(reply, 0);
  put16(reply, 0);
  reply += question;
  return refuses ? reply : reply + answers;
}

}  // namespace support
