#include "proxy/command/steer/ask.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <utility>

#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;

// libcurl breaks off if this returns another number than `count`.
std::size_t take(char* bytes, std::size_t, std::size_t count, void* into) noexcept try {
  auto& body = *static_cast<std::string*>(into);
  if (body.size() + count > kLongest) return 0;
  body.append(bytes, count);
  return count;
} catch (const std::bad_alloc&) {
  return 0;
}

Unanswered nobody_at_socket(const std::string& socket, long cause, std::string_view reason) {
  if (cause == EACCES || cause == EPERM) {
    return {kUnreachable, fmt::format("{}: permission denied: the socket is for the proxy's user "
                                      "and group; run this as one of them, or with sudo",
                                      socket)};
  }
  if (cause == ENOENT || cause == ECONNREFUSED || cause == ENOTDIR) {
    return {kUnreachable,
            fmt::format("no proxy listens at {}: is it running? --socket names another socket, "
                        "--config the settings that name it, --url a proxy elsewhere",
                        socket)};
  }
  return {kUnreachable, fmt::format("the proxy at {}: {}", socket, reason)};
}

Unanswered unanswered(const PageTransfer& transfer, const Place& place,
                      std::chrono::seconds patience, CURLcode code) {
  const auto why = transfer.reason(code);
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
    return {kUsage, fmt::format("--url {}: expected http://HOST:PORT", place.url)};
  }
  if (code == CURLE_WRITE_ERROR) {
    return {kUnreachable, fmt::format("the page of {} is too long", place.name())};
  }
  const bool connected = transfer.connected();
  if (!connected && place.url.empty())
    return nobody_at_socket(place.socket, transfer.system_error(), why);
  if (connected && code == CURLE_OPERATION_TIMEDOUT) {
    return {kUnreachable, fmt::format("the proxy at {} has been silent for {} s: it hangs, or is "
                                      "stopped",
                                      place.name(), patience.count())};
  }
  if (connected) return {kUnreachable, fmt::format("the proxy at {}: {}", place.name(), why)};
  return {kUnreachable, fmt::format("no proxy answers at {}: {}: is it running, and may this "
                                    "machine reach it?",
                                    place.url, why)};
}

}  // namespace

PageRequest view(std::string target) {
  PageRequest request{std::move(target)};
  request.patience = std::chrono::seconds(5);
  return request;
}

Answered<Page> ask(const Place& place, const PageRequest& request) {
  const bool local = place.url.empty();
  PageTransfer transfer(local ? "http://localhost" : place.url, request);
  if (local) transfer.go_through(place.socket);
  Page page;
  const CURLcode code = transfer.perform(take, &page.body);
  if (code != CURLE_OK) return unanswered(transfer, place, request.patience, code);
  page.status = transfer.status();
  page.bytes = static_cast<std::uint64_t>(transfer.head_bytes()) + page.body.size();
  return page;
}

Unanswered refusal(const Place& place, const Page& page) {
  const auto words = page.body.substr(0, page.body.find_last_not_of("\r\n") + 1);
  return {kRefusal, fmt::format("the proxy at {} answered {}: {}", place.name(), page.status,
                                escaped(words, 4096))};
}

Answered<std::string> ask_for(const Place& place, const PageRequest& request) {
  auto page = ask(place, request);
  if (!page) return page.error();
  if (page->status != 200) return refusal(place, *page);
  return std::move(page->body);
}

}  // namespace proxy::command
