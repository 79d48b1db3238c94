// Entries whose bodies are left in their files: their heads are known after the first read, and a
// head is never that of an earlier entry.
#include <gtest/gtest.h>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/cache/store_over_disk.hpp"

namespace proxy::cache {
namespace {

const std::string kUrl = "http://a/";

disk::PurgeRules::Covers of_giver_or_prefix(std::string_view text) {
  return [text = std::string(text)](std::string_view url, GiverTag giver) {
    return std::to_string(giver) == text || url.starts_with(text);
  };
}

class LeftInFiles : public StoreOverDisk {
 protected:
  LeftInFiles() : StoreOverDisk(of_giver_or_prefix) {}

  Kept put(Stock stock, const Kept& superseded = {}) {
    stock.times = {now_, now_};
    const auto response = kept(entry_of(budget_, stock));
    return put(response, superseded);
  }
  Kept put(const Kept& response, const Kept& superseded) {
    const auto& url = response.entry->url();
    EXPECT_TRUE(disk_->put(key_of(url), response, superseded, [] { return true; }));
    settle();
    return response;
  }
  static Stock large(const std::string& lines = "") {
    Stock stock{.url = kUrl, .body = 100'000};
    stock.lines += lines;
    return stock;
  }
  ReadBack read(const std::string& lines = "", Bodies bodies = Bodies::large_in_file) {
    const Request request(lines);
    auto found =
        disk_->read({key_of(kUrl), kUrl, request.head.fields}, *store_, disk::Wait::yes, bodies);
    return found ? std::move(*found) : ReadBack{};
  }
  static bool has(const ReadBack& read, const std::string& line) {
    return read.entry && read.entry->head().find(line) != std::string::npos;
  }
};

TEST_F(LeftInFiles, AreDecodedOnce) {
  put(large("X-A: 1\r\n"));
  const auto first = read();
  ASSERT_TRUE(first.entry && first.in_file);
  EXPECT_TRUE(first.entry->body.slices.empty());
  EXPECT_EQ(first.entry->body.size, 100'000U);
  const auto second = read();
  EXPECT_EQ(second.entry, first.entry);
  ASSERT_TRUE(second.in_file);
  EXPECT_EQ(second.in_file->offset, first.in_file->offset);
  EXPECT_TRUE(second.in_file->check(disk::Wait::yes));
  EXPECT_TRUE(disk_->still_found(second, kUrl));
  const auto in_memory = read("", Bodies::in_memory);
  EXPECT_FALSE(in_memory.in_file);
  EXPECT_EQ(in_memory.entry->body.slices.size(), 2U);
}

TEST_F(LeftInFiles, AreReplaced) {
  put(large("X-A: 1\r\n"));
  EXPECT_TRUE(has(read(), "X-A: 1"));
  EXPECT_TRUE(has(read(), "X-A: 1"));
  put(large("X-A: 2\r\n"));
  EXPECT_TRUE(has(read(), "X-A: 2"));
  EXPECT_TRUE(has(read(), "X-A: 2"));
}

TEST_F(LeftInFiles, GetANewerHead) {
  const auto old = put(large("X-A: 1\r\n"));
  EXPECT_TRUE(has(read(), "X-A: 1"));
  EXPECT_TRUE(has(read(), "X-A: 1"));
  const Stock newer = large("X-A: 2\r\n");
  const Request request;
  const Response response(newer.lines);
  const auto fresh = Entry::make(
      budget_, Received{newer.url, request.head.fields, response.head, {now_, now_}, "us"});
  fresh->body = old.entry->body;
  put(kept(fresh), old);
  const auto first = read();
  ASSERT_TRUE(has(first, "X-A: 2") && first.in_file);
  EXPECT_NE(first.in_file->front, first.in_file->at) << "only the head was written";
  const auto second = read();
  EXPECT_EQ(second.entry, first.entry);
  EXPECT_TRUE(second.in_file && second.in_file->check(disk::Wait::yes));
}

TEST_F(LeftInFiles, ArePurged) {
  put(large());
  EXPECT_TRUE(read().entry);
  const auto overtaken = read();
  EXPECT_TRUE(overtaken.entry);
  disk_->purge(key_of(kUrl), {});
  EXPECT_FALSE(read().entry);
  EXPECT_FALSE(disk_->still_found(overtaken, kUrl));
  settle();
  EXPECT_FALSE(read().entry);
}

TEST_F(LeftInFiles, ArePurgedByPrefixAndByGiver) {
  for (const char* purge : {"http://", "7"}) {
    Stock stock = large();
    stock.giver = Giver{7};
    put(stock);
    EXPECT_TRUE(read().entry);
    EXPECT_TRUE(read().entry);
    EXPECT_TRUE(disk_->purge_all(purge, {}));
    EXPECT_FALSE(read().entry) << purge;
    settle();
  }
}

TEST_F(LeftInFiles, AreOneForEachVariant) {
  for (const char* language : {"en", "de"}) {
    Stock stock = large("Vary: Accept-Language\r\nX-A: " + std::string(language) + "\r\n");
    stock.request = "Accept-Language: " + std::string(language) + "\r\n";
    put(stock);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(has(read("Accept-Language: en\r\n"), "X-A: en"));
    EXPECT_TRUE(has(read("Accept-Language: de\r\n"), "X-A: de"));
    const auto other = read("Accept-Language: fr\r\n");
    EXPECT_TRUE(!other.entry && other.varies);
  }
  EXPECT_EQ(read("Accept-Language: en\r\n").entry, read("Accept-Language: en\r\n").entry);
}

// Memory holds what the disk may refuse, until it is written.
TEST_F(LeftInFiles, AreGivenUpByMemoryOnceTheyAreWritten) {
  disk_->sit_under(*store_);
  const auto in_memory = [&](const std::string& url) {
    return store_->peek(key_of(url), url, {}).entry != nullptr;
  };
  const auto put_in_both = [&](const std::string& url, std::uint32_t bytes) {
    const auto response =
        kept(entry_of(budget_, {.url = url, .body = bytes, .times = {now_, now_}}));
    const auto store = [&] { return store_->put(key_of(url), response, now_) == Stored::yes; };
    EXPECT_TRUE(disk_->put(key_of(url), response, {}, store));
  };
  put_in_both(kUrl, 100'000);
  EXPECT_TRUE(store_->find(key_of(kUrl), kUrl, {}).entry) << "a use";
  put_in_both("http://b/", 60'000);
  settle();
  EXPECT_FALSE(in_memory(kUrl));
  EXPECT_TRUE(in_memory("http://b/")) << "a small one stays";
  EXPECT_TRUE(read().in_file);
  EXPECT_TRUE(disk_->disk().catalog().index.find(key_of(kUrl))->used);
}

TEST_F(LeftInFiles, AreReadAnewAfterARestart) {
  put(large("X-A: 1\r\n"));
  EXPECT_TRUE(has(read(), "X-A: 1"));
  restart();
  EXPECT_TRUE(has(read(), "X-A: 1"));
  const auto again = read();
  EXPECT_TRUE(again.in_file && again.in_file->check(disk::Wait::yes));
}

TEST_F(LeftInFiles, AreDroppedOnceTheirBodyIsDamaged) {
  put(large());
  EXPECT_TRUE(read().entry);
  const auto known = read();
  ASSERT_TRUE(known.in_file);
  // The file is open for the disk's own writes.
  const std::uint8_t damage = 0xff;
  ASSERT_TRUE(known.in_file->segment->file.write(disk::Bytes(&damage, 1), known.in_file->offset));
  EXPECT_EQ(known.in_file->check(disk::Wait::yes).error(), disk::Error::corrupt);
  EXPECT_EQ(disk_->read_body(*known.in_file, *store_, disk::Wait::yes).error(),
            disk::Error::corrupt);
  EXPECT_FALSE(read().entry);
  EXPECT_EQ(disk_->disk().catalog().counters.corrupt, 1U);
}

}  // namespace
}  // namespace proxy::cache
