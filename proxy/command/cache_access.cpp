#include "proxy/command/cache_access.hpp"

#include <fmt/format.h>

#include "config/counted.hpp"
#include "config/text.hpp"
#include "proxy/cache/stored_name.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;
using inspect::Report;

constexpr std::size_t kLongestLine = std::size_t{4} << 20;  // a head with each byte as \uXXXX
constexpr std::size_t kMaxRefusal = 4096;

std::string_view remedy_for(disk::Error error) {
  switch (error) {
    case disk::Error::in_use:
    case disk::Error::being_read:
      return "another `hearsay cache` is using this cache";
    case disk::Error::no_directory:
      return "there is no cache; a proxy started with these settings creates it";
    case disk::Error::read_only:
      return "permission denied; run this as the user that the proxy runs as";
    case disk::Error::too_small:
      return "cache.disk.size is too small for a cache on disk";
    default:
      return disk::to_string(error);
  }
}

// Splits the body of the answer into lines.
struct Answer {
  const EachReport& each;
  std::string rest = {};        // the begin of a line, or of a refusal
  std::string broken_off = {};  // the reason that the proxy gave in its last line
  bool odd = false;             // the answer is in another form
  bool enough = false;          // `each` wants nothing more

  bool take(std::string_view bytes, long status) {
    if (status != 200) {
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
      // False ends the transfer: a proxy may have many lines more, which nobody would read.
      if (odd || why || enough) return false;
    }
    rest.append(bytes);
    odd = rest.size() > kLongestLine;
    return !odd;
  }
};

// A proxy that listens at every address is reached at loopback.
std::string url_of(config::HostPort at) {
  if (at.host == "0.0.0.0") at.host = "127.0.0.1";
  if (at.host == "::") at.host = "::1";
  return "http://" + to_text(at);
}

// Over the socket, or if that is empty by the URL. Nothing: no proxy is connected to at the socket.
std::optional<Result<void>> ask_at(const ConfiguredCache& cache, const RunningProxy& proxy,
                                   const PageRequest& request, const EachReport& each) {
  Answer answer{each};
  const auto outcome = transfer(
      request_to(proxy, request),
      [&answer](std::string_view bytes, long status) { return answer.take(bytes, status); });
  if (!proxy.socket.empty() && !outcome.connected) return std::nullopt;
  if (answer.enough) return boost::system::in_place_value;
  const auto trouble = [&proxy](std::string_view what) {
    return Trouble{fmt::format("the proxy at {}{}", proxy.name(), what)};
  };
  if (answer.odd) return trouble(" gave an answer that is none of Hearsay's");
  if (!answer.broken_off.empty()) return trouble(" broke off: " + escaped(answer.broken_off));
  if (outcome.code == CURLE_COULDNT_CONNECT && !cache.path.empty()) {
    return Trouble{fmt::format(
        "{}: a proxy or another `hearsay cache` is using this cache, but no proxy answers at {} "
        "(the setting listen): {}",
        cache.path, proxy.name(), outcome.reason)};
  }
  if (outcome.code != CURLE_OK) return trouble(": " + outcome.reason);
  if (outcome.status == 200) return boost::system::in_place_value;
  const auto why = escaped(answer.rest.substr(0, answer.rest.find_last_not_of("\r\n") + 1));
  return trouble(fmt::format(" answered {}: {}", outcome.status, why));
}

}  // namespace

Result<http::Target> target_of(std::string_view url) {
  const auto plain = cache::StoredName::decode(url).url;
  // No client sends a fragment (RFC 9110 section 7.1), so no cache has it in a name.
  const auto target = http::parse_target("GET", plain.substr(0, plain.find('#')));
  if (target && target->form() == http::Target::Form::absolute) return *target;
  return Trouble{fmt::format("{} is no URL that a proxy could hold (http://HOST/PATH)",
                             config::in_quotes(url))};
}

std::string stored_name(const ConfiguredCache& cache, const http::Target& url) {
  return cache.naming ? cache.naming(url) : url.url();
}

Trouble trouble_with(const ConfiguredCache& cache, disk::Error error) {
  return {fmt::format("{}: {}", cache.path, remedy_for(error))};
}

Result<std::unique_ptr<disk::Contents>> open_stopped(const ConfiguredCache& cache,
                                                     const Streams& streams) {
  auto contents = std::make_unique<disk::Contents>(cache.reading);
  // Without a disk, all responses are in the memory of the proxy, which alone can answer.
  if (cache.path.empty()) return {boost::system::in_place_value, nullptr};
  const auto unknown = contents->open(cache.path);
  // Whoever uses the cache knows more than its files do, such as what is in memory alone.
  if (!unknown && unknown.error() == disk::Error::in_use) {
    return {boost::system::in_place_value, nullptr};
  }
  if (!unknown) return trouble_with(cache, unknown.error());
  const auto lost = unknown->unreadable + unknown->damaged + unknown->other_version;
  if (lost > 0) {
    say(streams.err, fmt::format("{}: {} damaged, or cannot be read completely; "
                                 "`hearsay cache verify` says where\n",
                                 cache.path, config::counted(lost, "segment is", "segments are")));
  }
  return contents;
}

ScannedRelations::ScannedRelations(const disk::Contents& contents) {
  contents.each(
      [this](const disk::Contents::Seen& seen) {
        if (!seen.stored) return true;
        const disk::RecordHeader& header = seen.stored->header();
        if (header.kind == RecordKind::block) {
          auto& held = objects_[header.version];
          held.numbers.push_back(header.block);
          held.bytes += header.body_bytes;
          held.disk_bytes += header.bytes();
        } else if (const auto selector = cache::decode_selector(seen.stored->head())) {
          selectors_.insert(selector->number);
        }
        return true;
      },
      [](const disk::Location& place) {
        return place.kind == RecordKind::block || place.kind == RecordKind::selector;
      });
}

inspect::StoredBlocks ScannedRelations::stored_blocks(const disk::StoredRecord& object,
                                                      std::uint64_t) const {
  const auto found = objects_.find(object.header().version);
  return found == objects_.end() ? inspect::StoredBlocks{} : found->second;
}

bool ScannedRelations::leads_to(const disk::StoredRecord&, std::uint64_t selector) const {
  return selector == 0 || selectors_.contains(selector);
}

Result<void> ask_proxy(const ConfiguredCache& cache, const PageRequest& request,
                       const EachReport& each) {
  // The socket comes first, since it needs no entry in access.admin.
  if (!cache.socket.empty()) {
    if (auto done = ask_at(cache, {cache.socket, {}}, request, each)) return std::move(*done);
  }
  if (cache.path.empty() && cache.listen.host.empty()) {
    return Trouble{fmt::format("no proxy answers at the control socket {}", cache.socket)};
  }
  if (cache.listen.port == 0) {
    return Trouble{
        "a proxy is using this cache, but listens at a port that the settings do not say (listen)"};
  }
  return *ask_at(cache, {{}, url_of(cache.listen)}, request, each);
}

std::uint64_t number_in(const Report& report, std::string_view name) {
  const auto* number = report.find<std::uint64_t>(name);
  return number ? *number : 0;
}

std::string text_in(const Report& report, std::string_view name, std::string_view otherwise) {
  const auto* text = report.find<std::string>(name);
  return text ? escaped(*text) : std::string(otherwise);
}

}  // namespace proxy::command
