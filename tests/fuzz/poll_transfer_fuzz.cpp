// A peer's answers to polls, as bytes of a connection that the real libcurl reads: one answer for
// each poll, separated by lines "====". What libcurl lets through is read as a digest.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "peers/transfer.hpp"

namespace {

constexpr std::string_view kNextAnswer = "====\n";
constexpr std::size_t kMostAnswers = 8;
constexpr std::size_t kRoom = std::size_t{1} << 16;

// Our end of the connection that libcurl opened last: it reads the other one.
class FarEnd {
 public:
  ~FarEnd() { close(); }

  curl_socket_t connect() {
    close();
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) std::abort();
    ours_ = ends[0];
    const int room = 1 << 20;
    ::setsockopt(ours_, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return ends[1];
  }
  // Whether a request has arrived; reads it.
  [[nodiscard]] bool is_asked() const {
    std::array<char, 4096> request{};
    return ::recv(ours_, request.data(), request.size(), 0) > 0;
  }
  void answer(std::string_view bytes) const {
    (void)::send(ours_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void say_no_more() const { ::shutdown(ours_, SHUT_WR); }

 private:
  void close() {
    if (ours_ >= 0) ::close(ours_);
    ours_ = -1;
  }
  int ours_ = -1;
};

curl_socket_t open_socket(void* far, curlsocktype, curl_sockaddr*) {
  return static_cast<FarEnd*>(far)->connect();
}

int is_connected(void*, curl_socket_t, curlsocktype) {
  return CURL_SOCKOPT_ALREADY_CONNECTED;
}

// Lets libcurl work until the transfer is done.
CURLcode carry_out(CURLM* multi, const FarEnd& far, std::string_view answer) {
  enum class Next { question, end, nothing } next = Next::question;
  for (int rounds = 0; rounds < 1'000'000; ++rounds) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int queued = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi, &queued)) return message->data.result;
    if (next == Next::question && far.is_asked()) {
      far.answer(answer);
      next = Next::end;
    } else if (next == Next::end) {
      far.say_no_more();
      next = Next::nothing;
    }
  }
  std::abort();  // libcurl neither ends the transfer nor gives it up
}

class Polls {
 public:
  Polls() {
    request_.form_is_a_guess = true;
    request_.room = kRoom;
  }

  void ask(std::string_view answer) {
    request_.base = report_.claims.native;
    request_.conditional = !report_.etag.empty();
    transfer(answer);
    if (transfers_.bytes != 0) std::abort();  // of that transfer alone
    const bool was_native = request_.form == peers::DigestForm::native;
    request_.form = was_native ? peers::DigestForm::squid : peers::DigestForm::native;
  }

 private:
  void transfer(std::string_view answer) {
    peers::Transfer transfer(transfers_, peer_,
                             {.target = "/digest/native",
                              .accept = "x/y",
                              .etag = report_.etag,
                              .max_body = kRoom,
                              .silence = std::chrono::seconds(1)});
    curl_easy_setopt(transfer.handle(), CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(transfer.handle(), CURLOPT_OPENSOCKETDATA, &far_);
    curl_easy_setopt(transfer.handle(), CURLOPT_SOCKOPTFUNCTION, is_connected);
    const auto error = transfer.finish(carry_out(multi_.get(), far_, answer));
    const auto result =
        error.empty() ? read_poll(request_, transfer.response()) : no_response(request_, error);
    enter(report_, result, {});
    (void)transfer.address();
  }

  static config::PeerSettings settings() {
    config::PeerSettings peer;
    peer.name = "b";
    peer.host = "127.0.0.1";
    peer.port = 3128;
    return peer;
  }

  FarEnd far_;
  const peers::Peer peer_{0, settings()};
  const peers::CurlMulti multi_{curl_multi_init()};
  peers::Transfers transfers_{.multi = multi_.get(),
                              .agent = "Hearsay/fuzz",
                              .limits = {},
                              .now = std::chrono::steady_clock::now,
                              .limit = kRoom,
                              .share = kRoom};
  peers::PollRequest request_;
  peers::PollReport report_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Polls polls;
  for (std::size_t i = 0; i < kMostAnswers && !rest.empty(); ++i) {
    const auto end = rest.find(kNextAnswer);
    polls.ask(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kNextAnswer.size());
  }
  return 0;
}
