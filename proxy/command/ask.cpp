#include "proxy/command/ask.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "config/load.hpp"

namespace proxy::command {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;

// Whether this process may use the folder of the default socket says nothing of the proxy.
Answered<Place> place_in(const std::string& file) {
  const auto settings = read_settings(file);
  if (!settings) return Unanswered{kUsage, settings.error().text};
  const auto socket = settings->process.control.value_or(config::kDefaultControl);
  if (!socket.empty()) return Place{socket, {}};
  return Unanswered{kUsage, fmt::format("{} turns the control socket off (\"control\": \"none\"); "
                                        "--url http://HOST:PORT asks over the network",
                                        file)};
}

std::string nobody_at_socket(const std::string& socket, const HttpOutcome& outcome) {
  const long cause = outcome.system_error;
  if (cause == EACCES || cause == EPERM) {
    return fmt::format(
        "{}: permission denied: the socket is for the proxy's user and group; run this as one of "
        "them, or with sudo",
        socket);
  }
  if (cause == ENOENT || cause == ECONNREFUSED || cause == ENOTDIR) {
    return fmt::format(
        "no proxy listens at {}: is it running? --socket names another socket, --config the "
        "settings that name it, --url a proxy elsewhere",
        socket);
  }
  return fmt::format("the proxy at {}: {}", socket, outcome.reason);
}

std::string why_unanswered(const HttpOutcome& outcome, const Place& place,
                           std::chrono::seconds patience) {
  if (outcome.code == CURLE_WRITE_ERROR) {
    return fmt::format("the page of {} is too long", place.name());
  }
  if (!outcome.connected && place.url.empty()) return nobody_at_socket(place.socket, outcome);
  if (!outcome.connected) {
    return fmt::format("no proxy answers at {}: {}: is it running, and may this machine reach it?",
                       place.url, outcome.reason);
  }
  if (outcome.code == CURLE_OPERATION_TIMEDOUT) {
    return fmt::format("the proxy at {} has been silent for {} s: it hangs, or is stopped",
                       place.name(), patience.count());
  }
  return fmt::format("the proxy at {}: {}", place.name(), outcome.reason);
}

}  // namespace

Result<config::Settings> read_settings(const std::string& file) {
  auto settings = config::load_file(file);
  if (settings) return std::move(*settings);
  std::string text = "the settings are wrong";
  for (const auto& error : settings.error()) text += '\n' + error.where + ": " + error.what;
  return Trouble{text};
}

Answered<Place> place_of(const PlaceOptions& options) {
  if (!options.config.empty()) return place_in(options.config);
  if (!options.socket.empty()) return Place{options.socket, {}};
  if (options.url.empty()) return Place{config::kDefaultControl, {}};
  return Place{{}, options.url.substr(0, options.url.find_last_not_of('/') + 1)};
}

// Own pages judge the Host field, and a request through the socket is for this machine.
HttpRequest request_to(const Place& place, const PageRequest& page) {
  return {.url = (place.url.empty() ? "http://localhost" : place.url) + page.target,
          .socket = place.socket,
          .body = page.body,
          .patience = page.patience};
}

PageRequest view(std::string target) {
  return {.target = std::move(target), .patience = std::chrono::seconds(5)};
}

Answered<Page> ask(const Place& place, const PageRequest& request) {
  Page page;
  const auto outcome = transfer(request_to(place, request), [&page](std::string_view bytes, long) {
    if (page.body.size() + bytes.size() > kLongest) return false;
    page.body.append(bytes);
    return true;
  });
  if (outcome.code == CURLE_URL_MALFORMAT || outcome.code == CURLE_UNSUPPORTED_PROTOCOL) {
    return Unanswered{kUsage, fmt::format("--url {}: expected http://HOST:PORT", place.url)};
  }
  if (outcome.code != CURLE_OK) {
    return Unanswered{kUnreachable, why_unanswered(outcome, place, request.patience)};
  }
  page.status = outcome.status;
  page.bytes = static_cast<std::uint64_t>(outcome.head_bytes) + page.body.size();
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
