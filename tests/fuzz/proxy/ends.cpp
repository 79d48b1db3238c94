#include "tests/fuzz/proxy/ends.hpp"

#include <sys/socket.h>

#include <array>

#include "tests/fuzz/proxy/accuse.hpp"
#include "tests/support/strict_reading.hpp"

namespace fuzz {
namespace {

constexpr std::size_t kMost = std::size_t{64} << 20;  // bytes to receive on one connection

// The answers to these requests, and nothing after them, were sent.
bool is_quiet(std::string_view requests, std::string_view sent) {
  namespace strict = support::strict;
  const auto asked = strict::read_requests(requests);
  if (asked.end != strict::End::whole) return true;  // the rest of a body may follow
  for (const auto& request : asked.whole) {
    const auto answer = strict::read_answer(sent, request.first);
    if (answer.end != strict::End::whole) return answer.status == 101;
    sent = answer.rest;
  }
  return sent.empty();
}

}  // namespace

bool End::exchange() {
  if (!is_open()) return false;
  const bool came = receive();
  return transmit() || came;
}

bool End::receive() {
  std::array<char, 65536> bytes;
  bool any = false;
  while (reads_ && received_.size() < kMost) {
    const auto count = ::recv(descriptor_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) break;
    received_.append(bytes.data(), static_cast<std::size_t>(count));
    any = true;
  }
  return any;
}

bool End::transmit() {
  bool any = false;
  while (transmitted_ < sent_.size()) {
    const auto count = ::send(descriptor_.number(), sent_.data() + transmitted_,
                              sent_.size() - transmitted_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count <= 0) break;
    transmitted_ += static_cast<std::size_t>(count);
    any = true;
  }
  if (transmitted_ == sent_.size() && finishing_ && !finished_) {
    finished_ = true;
    ::shutdown(descriptor_.number(), SHUT_WR);
    any = true;
  }
  return any;
}

bool ServerEnd::exchange() {
  const auto before = received().size();
  const bool moved = End::exchange();
  const bool asked_again = answered_ == before && before > 0 && received().size() > before;
  if (asked_again && !is_opaque() &&
      !is_quiet(std::string_view(received()).substr(0, before), sent())) {
    accuse("a connection carries a request before its last answer is over", received(), sent());
  }
  return moved;
}

void ServerEnd::answer(std::string_view bytes) {
  answered_ = received().size();
  send(bytes);
}

}  // namespace fuzz
