#include "proxy/reply/object_answer.hpp"

#include <gtest/gtest.h>

#include "proxy/cache/combine.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;

const std::string kObjectUrl = "http://a.test/object";
const auto kObjectKey = cache::key_of(kObjectUrl);
constexpr std::uint64_t kBlock = cache::kBlockBytes;
constexpr std::uint64_t kWhole = 2 * kBlock + 100;  // of which the last block has 100 bytes

// An object of three blocks, of which those in `held` are stored. Block N consists of one letter.
struct ObjectScene : client::ServeScene {
  explicit ObjectScene(std::initializer_list<std::uint32_t> held) {
    const cache::Request asked;
    const cache::Response told("ETag: \"v1\"\r\nCache-Control: max-age=600\r\n");
    const cache::Received received{kObjectUrl, asked.head.fields, told.head, cache::kAtOnce, "us"};
    object = cache::object_entry(budget, received, {.version = 1}, kWhole);
    if (!cache.store(kObjectKey, object, clock.steady())) throw std::runtime_error("not kept");
    for (const auto number : held) keep_it(number);
  }
  void keep_it(std::uint32_t number) {
    const auto size = static_cast<std::uint32_t>(number == 2 ? 100 : kBlock);
    const auto bytes = cache::Block::make(budget, size);
    std::fill_n(bytes->data(), size, static_cast<char>('a' + number));
    tiers::NewBlock block{number, {{{bytes, size}}, size}, {}, clock.steady()};
    if (cache.store_block(kObjectKey, object, std::move(block)) != tiers::BlockKept::yes)
      throw std::runtime_error("block not kept");
  }
  Delivered serve(const std::string& lines, const std::string& method = "GET") {
    const client::SceneRequest request(*this, lines, method + " " + kObjectUrl + " HTTP/1.1");
    response.begin(method == "HEAD");
    return run(proxy::reply::serve(client, *request, {kObjectKey, object}));
  }

  cache::Ref<const cache::Entry> object;
};

// "a*1048576 c*100": the runs of equal letters.
std::string runs_of(const std::string& bytes) {
  std::string told;
  for (std::size_t at = 0; at < bytes.size();) {
    auto end = bytes.find_first_not_of(bytes[at], at);
    if (end == bytes.npos) end = bytes.size();
    if (!told.empty()) told += ' ';
    told += bytes[at] + ("*" + std::to_string(end - at));
    at = end;
  }
  return told;
}

struct ObjectCase {
  const char* name;
  std::string lines;
  unsigned status;
  std::string content;
  std::string range;
  const char* method = "GET";
};
class AnObject : public testing::TestWithParam<ObjectCase> {};

TEST_P(AnObject, IsAnsweredFromItsBlocks) {
  const auto& c = GetParam();
  ObjectScene scene({0, 1, 2});
  EXPECT_EQ(scene.serve(c.lines, c.method), Delivered::sent);
  const auto& got = scene.response;
  EXPECT_EQ(got.status(), c.status);
  EXPECT_EQ(runs_of(got.content()), c.content);
  EXPECT_EQ(got.field("Content-Range"), c.range);
  EXPECT_EQ(got.field("Cache-Status"), "cache-a; hit; ttl=600");
  EXPECT_TRUE(got.finished());
  EXPECT_FALSE(got.aborted());
  EXPECT_EQ(scene.record.tag,
            c.status == 304 ? observe::Tag::conditional_hit : observe::Tag::mem_hit);
  if (c.status == 206 || c.status == 200) {
    EXPECT_EQ(scene.counters.bytes_from_cache.get(), got.content().size());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Requests, AnObject,
    testing::Values(
        ObjectCase{"Whole", "", 200, "a*1048576 b*1048576 c*100", ""},
        ObjectCase{"Front", "Range: bytes=0-9\r\n", 206, "a*10", "bytes 0-9/2097252"},
        ObjectCase{"AcrossBlocks", "Range: bytes=1048570-1048579\r\n", 206, "a*6 b*4",
                   "bytes 1048570-1048579/2097252"},
        ObjectCase{"FromTheMiddleOfABlock", "Range: bytes=2097100-\r\n", 206, "b*52 c*100",
                   "bytes 2097100-2097251/2097252"},
        ObjectCase{"End", "Range: bytes=-20\r\n", 206, "c*20", "bytes 2097232-2097251/2097252"},
        ObjectCase{"BeyondTheEnd", "Range: bytes=2097252-\r\n", 416, "", "bytes */2097252"},
        ObjectCase{"OfThisVersion", "Range: bytes=0-9\r\nIf-Range: \"v1\"\r\n", 206, "a*10",
                   "bytes 0-9/2097252"},
        ObjectCase{"KnownToTheClient", "If-None-Match: \"v1\"\r\n", 304, "", ""},
        ObjectCase{"Head", "", 200, "", "", "HEAD"}),
    [](const auto& tested) { return tested.param.name; });

TEST(AnObject, IsSentInSeveralParts) {
  ObjectScene scene({0, 1, 2});
  scene.serve("Range: bytes=0-1,2097250-\r\n");
  const auto& got = scene.response;
  EXPECT_EQ(got.status(), 206U);
  EXPECT_TRUE(got.field("Content-Type").starts_with("multipart/byteranges; boundary="));
  EXPECT_EQ(got.length(), got.content().size());
  for (const auto* part : {"Content-Range: bytes 0-1/2097252\r\n", "\r\n\r\naa\r\n",
                           "Content-Range: bytes 2097250-2097251/2097252\r\n", "\r\n\r\ncc\r\n"})
    EXPECT_NE(got.content().find(part), std::string::npos) << part;
}

struct LackingCase {
  const char* name;
  std::string lines;
  unsigned status;
};

TEST(AnObject, ThatLacksABlockAnswersAStoredQuestionOnlyFromTheOthers) {
  const std::string only = "Cache-Control: only-if-cached\r\n";
  for (const LackingCase& c :
       {LackingCase{"in the first", only + "Range: bytes=0-9\r\n", 206},
        LackingCase{"in the last", only + "Range: bytes=-9\r\n", 206},
        LackingCase{"in the one that lacks", only + "Range: bytes=1048576-1048580\r\n", 504},
        LackingCase{"head", only, 200}}) {
    ObjectScene scene({0, 2});
    const bool is_head = std::string_view(c.name) == "head";
    EXPECT_EQ(scene.serve(c.lines, is_head ? "HEAD" : "GET"), Delivered::sent) << c.name;
    EXPECT_EQ(scene.response.status(), c.status) << c.name;
    EXPECT_TRUE(scene.state.finished) << c.name;
  }
}

TEST(AnObject, IsCutWhereTheClientLeaves) {
  ObjectScene scene({0, 1, 2});
  scene.response.client_leaves_after(kBlock + 5);
  scene.serve("");
  EXPECT_TRUE(scene.response.aborted());
  EXPECT_FALSE(scene.state.finished);
}

}  // namespace
}  // namespace proxy::reply
