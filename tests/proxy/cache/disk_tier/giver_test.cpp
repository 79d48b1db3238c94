// What one neighbour gave is purged from memory and disk, and nothing else is.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/cache/store_over_disk.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache {
namespace {

constexpr Giver kLiar{7};
constexpr Giver kOther{8};

disk::PurgeRules::Covers of_giver(std::string_view text) {
  return [text = std::string(text)](std::string_view, GiverTag giver) {
    return std::to_string(giver) == text;
  };
}

class GivenByNeighbours : public StoreOverDisk {
 protected:
  static constexpr std::uint64_t kLength = 2 * kBlockBytes;

  GivenByNeighbours() : StoreOverDisk(of_giver) {}

  Ref<const Entry> put(const std::string& url, Giver giver) {
    Stock stock;
    stock.url = url;
    stock.body = 100;
    stock.times = {now_, now_};
    stock.giver = giver;
    const auto response = kept(entry_of(budget_, stock));
    EXPECT_TRUE(disk_->put(key_of(url), response, {}, [] { return true; }));
    return response.entry;
  }
  Ref<const Entry> put_object(const std::string& url) {
    const Request request;
    const Response response("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
    const auto object =
        object_entry(budget_, {url, request.head.fields, response.head, {now_, now_}, "us"},
                     Object{disk_->disk().new_version()}, kLength);
    EXPECT_TRUE(disk_->put(key_of(url), kept(object), {}, [] { return true; }));
    return object;
  }
  void put_block(const Entry& object, std::uint32_t number, Giver giver) {
    const auto size = static_cast<std::uint32_t>(kBlockBytes);
    const auto bytes = Block::make(budget_, size);
    std::fill_n(bytes->data(), size, 'x');
    const auto block = block_entry(budget_, object, {{{bytes, size}}, size}, giver);
    EXPECT_EQ(disk_->blocks().put(key_of(object.url()), number, object, block),
              DiskBlocks::Taken::yes);
  }
  Ref<const Entry> read(const std::string& url) {
    const auto found = disk_->read({key_of(url), url, {}}, *store_, disk::Wait::yes);
    return found ? found->entry : nullptr;
  }
  Ref<const Entry> block(const Entry& object, std::uint32_t number) {
    const auto found =
        disk_->blocks().read(key_of(object.url()), number, object, *store_, disk::Wait::yes);
    return found ? *found : nullptr;
  }
  bool has_block(const Entry& object, std::uint32_t number) {
    return disk_->has_block(
        disk::block_key(key_of(object.url()), object.object()->version, number));
  }
  // Of whole responses.
  std::ptrdiff_t claims() {
    std::vector<digest::Claim> claimed;
    store_->list_claimed(now_, claimed);
    return std::count_if(claimed.begin(), claimed.end(),
                         [](const digest::Claim& claim) { return claim.is_for_all(); });
  }
  void purge(Giver giver) { EXPECT_TRUE(disk_->purge_all(std::to_string(giver.tag), {})); }
};

TEST_F(GivenByNeighbours, TheGiverIsKnownAfterARestart) {
  put("http://a/", kLiar);
  const auto object = put_object("http://o/");
  put_block(*object, 0, kOther);
  settle();
  restart();
  EXPECT_EQ(read("http://a/")->giver(), kLiar);
  EXPECT_EQ(read("http://o/")->giver(), Giver{});
  EXPECT_EQ(block(*object, 0)->giver(), kOther);
}

TEST_F(GivenByNeighbours, WhatOneGaveIsGoneAtOnceAndAfterARestart) {
  put("http://a/", kLiar);
  put("http://b/", kOther);
  put("http://c/", {});
  settle();
  purge(kLiar);
  EXPECT_FALSE(read("http://a/"));
  for (const char* url : {"http://b/", "http://c/"}) EXPECT_TRUE(read(url)) << url;
  EXPECT_TRUE(support::await([&] { return claims() == 2; })) << claims();
  settle();
  restart();
  EXPECT_FALSE(read("http://a/"));
  for (const char* url : {"http://b/", "http://c/"}) EXPECT_TRUE(read(url)) << url;
  EXPECT_EQ(claims(), 2);
  put("http://a/", kLiar);
  settle();
  EXPECT_TRUE(read("http://a/")) << "given after the purge";
}

// The search finds what nobody asks for.
TEST_F(GivenByNeighbours, WhatOneGaveIsFoundWithoutARequest) {
  put("http://a/", kLiar);
  put("http://b/", kOther);
  settle();
  purge(kLiar);
  const auto& catalog = disk_->disk().catalog();
  EXPECT_TRUE(support::await([&] { return catalog.rules.count() == 0; }));
  EXPECT_EQ(catalog.index.entries(), 1U);
  EXPECT_FALSE(read("http://a/"));
}

TEST_F(GivenByNeighbours, ABlockGoesWithoutItsObjectWhichIsNotClaimedAnyMore) {
  const auto object = put_object("http://o/");
  put_block(*object, 0, {});
  put_block(*object, 1, kLiar);
  settle();
  disk_->disk().queue().doubt(key_of("http://o/"), object->object()->version);
  EXPECT_TRUE(support::await([&] { return claims() == 1; }));
  purge(kLiar);
  EXPECT_FALSE(block(*object, 1));
  EXPECT_FALSE(has_block(*object, 1)) << "so that it is fetched again";
  EXPECT_TRUE(block(*object, 0));
  EXPECT_TRUE(read("http://o/"));
  EXPECT_TRUE(support::await([&] { return claims() == 0; })) << claims();
  settle();
  restart();
  EXPECT_FALSE(block(*object, 1));
  EXPECT_TRUE(block(*object, 0));
}

TEST_F(GivenByNeighbours, ABlockThatTheSearchFindsUnclaimsItsObject) {
  const auto object = put_object("http://o/");
  put_block(*object, 0, kLiar);
  put_block(*object, 1, {});
  settle();
  disk_->disk().queue().doubt(key_of("http://o/"), object->object()->version);
  EXPECT_TRUE(support::await([&] { return claims() == 1; }));
  purge(kLiar);
  EXPECT_TRUE(support::await([&] { return !has_block(*object, 0); }));
  EXPECT_TRUE(support::await([&] { return claims() == 0; })) << claims();
  EXPECT_TRUE(read("http://o/"));
}

}  // namespace
}  // namespace proxy::cache
