// A cache on disk, and the output of `hearsay cache` for it.
#pragma once

#include <string>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache.hpp"
#include "tests/proxy/cache/disk/scene.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/command/said.hpp"

namespace proxy::command {

class CacheScene : public ::testing::Test {
 protected:
  using NewRecord = cache::disk::NewRecord;
  using RecordKind = cache::disk::RecordKind;

  // The record of a response that arrived `age` ago.
  NewRecord response(const std::string& url, const std::string& body = "body",
                     const std::string& lines = "Cache-Control: max-age=7000\r\n",
                     std::chrono::seconds age = {}, std::uint64_t selector = 0,
                     const std::string& request = "") {
    const auto arrived = std::chrono::system_clock::now() - age;
    const cache::Stock stock{
        .url = url, .lines = lines, .request = request, .times = {arrived, arrived}};
    const auto entry = cache::entry_of(budget_, stock);
    NewRecord record = cache::disk::response(url, body);
    record.head = cache::encode_head(*entry, selector);
    cache::write_times(record.header, entry->times());
    const auto until = std::max(entry->claimable_until(), cache::Time()).time_since_epoch();
    record.header.claimable_until =
        static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(until).count());
    return record;
  }

  // The record of a large object, without its blocks.
  NewRecord object(const std::string& url, std::uint64_t version, std::uint64_t length) {
    const cache::Request request;
    const cache::Response head("Cache-Control: max-age=7000\r\n");
    const auto now = std::chrono::system_clock::now();
    const auto entry = cache::object_entry(
        budget_, {url, request.head.fields, head.head, {now, now}, "us"}, {version}, length);
    NewRecord record{.header = {.kind = RecordKind::object, .key = cache::disk::key_for(url)},
                     .url = url,
                     .head = cache::encode_head(*entry, 0)};
    cache::write_times(record.header, entry->times());
    cache::note_object(record.header, *entry);
    record.header.claimable_until =
        static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                       entry->claimable_until().time_since_epoch())
                                       .count());
    return record;
  }
  static NewRecord block(const std::string& url, std::uint64_t version, std::uint32_t number) {
    return {.header = {.kind = RecordKind::block,
                       .key = cache::disk::key_for(url),
                       .version = version,
                       .block = number},
            .url = url,
            .head = {},
            .body = cache::disk::body_of(std::string(10'240, 'x'))};
  }

  // The selector that leads to the variants of this number, and one such variant.
  NewRecord selector(const std::string& url, std::uint64_t number) {
    NewRecord record = response(url);
    record.header.kind = RecordKind::selector;
    record.head = cache::encode(cache::Selector{number, "cookie"});
    record.body = {};
    return record;
  }
  NewRecord variant(const std::string& url, const std::string& body, std::uint64_t number) {
    NewRecord record =
        response(url, body, "Cache-Control: max-age=7000\r\nVary: Cookie\r\n", {}, number);
    record.header.key = cache::disk::key_for("a key of its own: " + body);
    return record;
  }

  cache::disk::Options disk_options() const {
    auto options = cache::disk::small_options(directory_.path());
    options.purge_reading = reading;
    return options;
  }
  // Writes the records to disk, as a proxy does.
  void store(std::vector<NewRecord> records) {
    cache::disk::Scene disk(disk_options());
    for (auto& record : records) ASSERT_TRUE(disk.append(std::move(record)));
  }

  // The body that a proxy would find for the URL.
  cache::disk::Result<std::string> body(const std::string& url) {
    cache::disk::Scene disk(disk_options());
    return disk.body(url);
  }

  ConfiguredCache configured() const {
    return {directory_.path(), cache::disk::small_options({}).log.bytes, reading};
  }
  // Covers the names with this prefix, of forward and reverse mode.
  static cache::disk::PurgeRules::Covers reading(std::string_view text) {
    return [text = std::string(text)](std::string_view name, cache::disk::GiverTag) {
      return cache::StoredName::decode(name).url.starts_with(text);
    };
  }
  std::string segment_path() const { return directory_ / "00000001.segment"; }
  void damage(std::string_view at) const {
    std::string bytes = read_file(segment_path());
    bytes[bytes.find(at)] ^= 1;
    write_file(segment_path(), bytes);
  }

  // Runs a subcommand with these options. On trouble the code is kFailed, and err has the text.
  template <class Options>
  Said said(Result<int> (*work)(const Options&, const Streams&), Options options) {
    options.cache = configured();
    const StreamFile in;
    const StreamFile out;
    const StreamFile err;
    const auto code = work(options, {in.descriptor(), out.descriptor(), err.descriptor()});
    return {code ? *code : kFailed, out.content(), code ? err.content() : code.error().text};
  }

  const TemporaryDirectory directory_;
  cache::Budget budget_{1 << 20};
};

}  // namespace proxy::command
