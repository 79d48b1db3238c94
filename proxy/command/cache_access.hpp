// What the subcommands of `hearsay cache` read: a stopped cache, or the answers of the proxy that
// uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/command/ask.hpp"
#include "proxy/command/cache.hpp"
#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

// Parses a URL as the proxy would request it; the space of a stored name is skipped.
// Returns trouble for a text that no client could request.
Result<http::Target> target_of(std::string_view url);
// The name under which the responses of `url` are stored in this cache.
std::string stored_name(const ConfiguredCache& cache, const http::Target& url);

// Describes the error, and what to do about it.
Trouble trouble_with(const ConfiguredCache& cache, cache::disk::Error error);

// Opens the cache on disk for reading. Returns null if a proxy has to be asked: one is using the
// cache, or its path is unknown. Warns on `err` if some segments cannot be read.
Result<std::unique_ptr<cache::disk::Contents>> open_stopped(const ConfiguredCache& cache,
                                                            const Streams& streams);

// Relations between the records of a stopped cache: which variants a selector still leads to, and
// how much of each large object is stored. Takes memory for each URL that varies, and for each
// block of each large object.
class ScannedRelations final : public inspect::Relations {
 public:
  // Reads the selectors and blocks of the cache; `contents` is not used afterwards.
  explicit ScannedRelations(const cache::disk::Contents& contents);

  inspect::StoredBlocks stored_blocks(const cache::disk::StoredRecord& object,
                                      std::uint64_t length) const override;
  bool leads_to(const cache::disk::StoredRecord& variant, std::uint64_t selector) const override;

 private:
  std::unordered_set<std::uint64_t> selectors_;
  std::unordered_map<std::uint64_t, inspect::StoredBlocks> objects_;  // by version
};

// Whether ask_proxy() reads more of the answer.
enum class ReadOn : std::uint8_t { yes, no };
using EachReport = std::function<ReadOn(const inspect::Report&)>;

// Sends a request for a page under /admin/cache to the control socket of the proxy that uses this
// cache, or if that cannot be connected to, to its first socket for clients. Calls `each` with
// every line of the answer as it arrives, each a JSON object, until `each` returns ReadOn::no.
// Returns trouble if no proxy answers, if the proxy refuses, if the answer ends with the line
// {"error": "why"}, and if the answer is cut or has another form. Blocks; a proxy that sends
// nothing for 60 s counts as cut.
Result<void> ask_proxy(const ConfiguredCache& cache, const PageRequest& request,
                       const EachReport& each);

// The number of this name; 0 if there is none.
std::uint64_t number_in(const inspect::Report& report, std::string_view name);
// The text of the fact with this name, escaped; `otherwise` if there is none.
std::string text_in(const inspect::Report& report, std::string_view name,
                    std::string_view otherwise);

}  // namespace proxy::command
