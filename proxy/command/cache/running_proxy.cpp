#include "proxy/command/cache/running_proxy.hpp"

#include <fmt/format.h>

#include <new>
#include <optional>

#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

using inspect::Report;

constexpr std::size_t kLongestLine = std::size_t{4} << 20;  // a head with each byte as \uXXXX
constexpr std::size_t kMaxRefusal = 4096;

// Splits the body of the answer into lines.
struct Answer {
  const PageTransfer& transfer;
  const std::function<ReadOn(const Report&)>& each;
  std::string rest = {};        // the begin of a line, or of a refusal
  std::string broken_off = {};  // the reason that the proxy gave in its last line
  bool odd = false;             // the answer is in another form
  bool enough = false;          // `each` wants nothing more

  bool take(std::string_view bytes) {
    if (transfer.status() != 200) {
      rest.append(bytes.substr(0, kMaxRefusal - std::min(kMaxRefusal, rest.size())));
      return true;
    }
    for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
      rest.append(bytes.substr(0, end));
      bytes.remove_prefix(end + 1);
      if (rest.empty()) continue;  // sent while the proxy is still searching
      const auto report = Report::of_json(rest);
      rest.clear();
      odd = !report;
      const auto* why = report ? report->find<std::string>("error") : nullptr;
      if (why) broken_off = *why;
      enough = report && !why && each(*report) == ReadOn::no;
      if (odd || why || enough) return false;
    }
    rest.append(bytes);
    odd = rest.size() > kLongestLine;
    return !odd;
  }
};

// libcurl breaks off if this returns another number than `count`.
std::size_t on_answer(char* bytes, std::size_t, std::size_t count, void* into) noexcept try {
  return static_cast<Answer*>(into)->take({bytes, count}) ? count : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

// A proxy that listens at every address is reached at loopback.
std::string url_of(const config::HostPort& at) {
  auto host = at.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  const bool six = host.find(':') != host.npos;
  return fmt::format("http://{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", at.port);
}

Trouble trouble_of(const ConfiguredCache& cache, const std::string& url, CURLcode code,
                   const std::string& why) {
  if (code != CURLE_COULDNT_CONNECT || cache.path.empty()) {
    return {fmt::format("the proxy at {}: {}", url, why)};
  }
  return {
      fmt::format("{}: a proxy or another `hearsay cache` is using this cache, "
                  "but no proxy answers at {} (the setting listen): {}",
                  cache.path, url, why)};
}

Trouble refused(const std::string& url, const Answer& answer) {
  auto why = escaped(answer.rest.substr(0, answer.rest.find_last_not_of("\r\n") + 1));
  return {fmt::format("the proxy at {} answered {}: {}", url, answer.transfer.status(), why)};
}

// Over the socket, or if that is empty by the URL. Nothing: no proxy is connected to at the socket.
std::optional<Result<void>> ask_at(const ConfiguredCache& cache, const std::string& socket,
                                   const std::string& url, const PageRequest& request,
                                   const std::function<ReadOn(const Report&)>& each) {
  const auto& name = socket.empty() ? url : socket;
  PageTransfer transfer(socket.empty() ? url : "http://localhost", request);
  if (!socket.empty()) transfer.go_through(socket);
  Answer answer{transfer, each};
  const CURLcode code = transfer.perform(on_answer, &answer);
  if (!socket.empty() && !transfer.connected()) return std::nullopt;
  if (answer.enough) return boost::system::in_place_value;
  if (answer.odd) {
    return Trouble{fmt::format("the proxy at {} gave an answer that is none of Hearsay's", name)};
  }
  if (!answer.broken_off.empty()) {
    return Trouble{fmt::format("the proxy at {} broke off: {}", name, escaped(answer.broken_off))};
  }
  if (code != CURLE_OK) return trouble_of(cache, name, code, transfer.reason(code));
  if (transfer.status() != 200) return refused(name, answer);
  return boost::system::in_place_value;
}

}  // namespace

Result<void> ask_proxy(const ConfiguredCache& cache, const PageRequest& request,
                       const std::function<ReadOn(const Report&)>& each) {
  if (!cache.socket.empty()) {
    if (auto done = ask_at(cache, cache.socket, {}, request, each)) return std::move(*done);
  }
  if (cache.path.empty() && cache.listen.host.empty()) {
    return Trouble{fmt::format("no proxy answers at the control socket {}", cache.socket)};
  }
  if (cache.listen.port == 0) {
    return Trouble{
        "a proxy is using this cache, but listens at a port that the settings do not say (listen)"};
  }
  return *ask_at(cache, {}, url_of(cache.listen), request, each);
}

}  // namespace proxy::command
