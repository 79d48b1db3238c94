// The saved form of entries and of selectors.
#include "proxy/cache/saved_head.hpp"

#include <gtest/gtest.h>

#include <list>
#include <string>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/disk/stored_record.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

constexpr std::uint64_t kNumber = 0x1122334455667788;

std::string hex_of(std::string_view text) {
  std::string hex;
  for (const std::uint8_t byte : disk::bytes_of(text)) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

const Stock kVarying{.lines =
                         "Cache-Control: max-age=100, stale-while-revalidate=7\r\n"
                         "Vary: Accept-Encoding, Cookie\r\nETag: \"e\"\r\n",
                     .request = "Accept-Encoding: gzip\r\n"};

class AnEntryWrittenDown : public ::testing::Test {
 protected:
  std::string encoded(const Stock& stock, std::uint64_t selector = 0) {
    const auto entry = entry_of(budget_, stock);
    write_times(record_, entry->times());
    return encode_head(*entry, selector);
  }
  std::optional<SavedHead> decoded(std::string_view head) {
    return decode_head("http://a/", heads_.emplace_back(head), record_);
  }

  Budget budget_{1 << 20};
  disk::RecordHeader record_;
  std::list<std::string> heads_;  // to which the results of decoded() refer
};

// The bytes were composed in Python, from the description in the header.
TEST_F(AnEntryWrittenDown, HasTheseBytes) {
  const auto head = encoded(kVarying, kNumber);
  const auto entry = entry_of(budget_, kVarying);
  ASSERT_EQ(entry->head().size(), 0xa2U);
  EXPECT_EQ(hex_of(head.substr(0, 48)),
            "01010003"
            "a2000000070000000000000064000000020000000000000000000000"
            "a07a53c28c0100008877665544332211");
  EXPECT_EQ(head.substr(48, entry->head().size()), entry->head());
  EXPECT_EQ(hex_of(head.substr(48 + entry->head().size())),
            "0f000000040000006163636570742d656e636f64696e67677a6970"
            "06000000ffffffff636f6f6b6965");
}

TEST_F(AnEntryWrittenDown, IsTheSameOnceReadAgain) {
  const Times times{kStart + 10s, kStart + 10s + 250ms};
  const Stock stocks[] = {
      {},
      kVarying,
      {.lines = "Cache-Control: no-cache\r\nAge: 90\r\nContent-Type: text/plain\r\n"},
      {.lines = "Cache-Control: s-maxage=9, stale-if-error=8\r\nDate: yesterday\r\n"},
      {.lines = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n", .times = times},
      {.lines = "", .status = 404, .shared = false},
      {.bounds = {1000s}, .rule = 0x1234567890abcdef},
      {.rule = 0x1234567890abcdef, .by_rule_alone = true},
  };
  for (const Stock& stock : stocks) {
    const auto before = entry_of(budget_, stock);
    const std::uint64_t selector = before->variant().varies() ? kNumber : 0;
    auto saved = decoded(encoded(stock, selector));
    ASSERT_TRUE(saved) << stock.lines;
    EXPECT_EQ(saved->selector, selector);
    const auto made = Entry::make(budget_, std::move(saved->entry));
    const Entry& after = *made;
    EXPECT_EQ(after.url(), before->url());
    EXPECT_EQ(after.status, before->status);
    EXPECT_EQ(after.head(), before->head());
    EXPECT_EQ(after.variant().selecting_fields(), before->variant().selecting_fields());
    EXPECT_EQ(after.source, before->source);
    EXPECT_EQ(after.shared, before->shared);
    EXPECT_EQ(after.no_cache, before->no_cache);
    EXPECT_EQ(after.never_stale, before->never_stale);
    EXPECT_EQ(after.extras().stale_while_revalidate, before->extras().stale_while_revalidate);
    EXPECT_EQ(after.extras().stale_if_error, before->extras().stale_if_error);
    EXPECT_EQ(after.quotes().etag, before->quotes().etag);
    EXPECT_EQ(after.quotes().last_modified, before->quotes().last_modified);
    EXPECT_EQ(after.quotes().content_type, before->quotes().content_type);
    EXPECT_EQ(after.times().request, before->times().request);
    EXPECT_EQ(after.times().response, before->times().response);
    EXPECT_EQ(after.date(), before->date());
    EXPECT_EQ(after.fresh_until(), before->fresh_until()) << stock.lines;
    EXPECT_EQ(after.claimable_until(), before->claimable_until()) << stock.lines;
    EXPECT_EQ(after.rule(), before->rule());
    EXPECT_EQ(after.by_rule_alone(), before->by_rule_alone());
    EXPECT_EQ(after.claimable_by_rule_until(), before->claimable_by_rule_until());
    EXPECT_FALSE(after.range());
  }
}

TEST_F(AnEntryWrittenDown, HasOneClaimInItsRecord) {
  disk::RecordHeader record;
  write_claim(record, *entry_of(budget_, {}));
  const auto start =
      static_cast<std::uint32_t>(std::chrono::floor<seconds>(kStart.time_since_epoch()).count());
  EXPECT_EQ(record.claimable_until, start + 100);
  EXPECT_EQ(record.rule, 0);
  write_claim(record, *entry_of(budget_, {.bounds = {1000s}, .rule = 0x50007}));
  EXPECT_EQ(record.claimable_until, start + 1000) << "the rule outlasts the response's own word";
  EXPECT_EQ(record.rule, 7);
}

TEST_F(AnEntryWrittenDown, IsNothingWhereItIsCutOrLonger) {
  const auto head = encoded(kVarying, kNumber);
  for (std::size_t length = 0; length < head.size(); ++length) {
    EXPECT_FALSE(decoded(head.substr(0, length))) << length;
  }
  EXPECT_FALSE(decoded(head + 'x'));
}

TEST_F(AnEntryWrittenDown, IsNothingWhereItSaysWhatNoEntryDoes) {
  const auto good = encoded({});
  ASSERT_TRUE(decoded(good));
  const auto with = [&](std::size_t at, std::string_view bytes) {
    return std::string(good).replace(at, bytes.size(), bytes);
  };
  EXPECT_FALSE(decoded(with(0, "\2"))) << "another layout";
  EXPECT_FALSE(decoded(with(1, "\100"))) << "a bit without meaning";
  EXPECT_FALSE(decoded(with(1, "\11"))) << "an object where the record is of none";
  EXPECT_FALSE(decoded(with(2, "\3"))) << "no source";
  EXPECT_FALSE(decoded(with(3, "\5"))) << "no basis";
  EXPECT_FALSE(decoded(with(30, "\1"))) << "older than anything";
  EXPECT_FALSE(decoded(with(38, "\1"))) << "claimed for ever";
  EXPECT_FALSE(decoded(with(40, "\1"))) << "a selector without Vary";
  EXPECT_FALSE(decoded(with(48, "FTTP"))) << "no status line";
  EXPECT_FALSE(decoded(with(57, "206"))) << "a part";
  EXPECT_FALSE(decoded(with(63, "\r\n\r\n"))) << "the head's end before its end";
  record_.response_time = -1;
  EXPECT_FALSE(decoded(good));
  record_.response_time = std::int64_t{1} << 60;
  EXPECT_FALSE(decoded(good));
}

class AnObjectWrittenDown : public AnEntryWrittenDown {
 protected:
  static constexpr std::uint64_t kLength = 0x40'0001;  // 5 blocks

  AnObjectWrittenDown() {
    const Request request;
    const Response response("Cache-Control: max-age=100\r\n");
    entry_ = object_entry(budget_, {"http://a/", request.head.fields, response.head, kAtOnce, "us"},
                          Object{kNumber}, kLength);
    record_.kind = disk::RecordKind::object;
    write_times(record_, entry_->times());
    note_object(record_, *entry_);
  }

  Ref<const Entry> entry_;
};

TEST_F(AnObjectWrittenDown, HasItsLengthBeforeTheHead) {
  const auto head = encode_head(*entry_, 0);
  EXPECT_EQ(hex_of(head.substr(0, 4)), "01090003");
  EXPECT_EQ(hex_of(head.substr(48, 8)), "0100400000000000");
  EXPECT_EQ(head.substr(56), entry_->head());
  EXPECT_EQ(record_.version, kNumber);
  EXPECT_EQ(record_.block, 5U);
}

TEST_F(AnObjectWrittenDown, IsTheSameOnceReadAgain) {
  const auto saved = decoded(encode_head(*entry_, 0));
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->length, kLength);
  EXPECT_EQ(saved->entry.extras.object, entry_->object());
  EXPECT_EQ(saved->entry.extras.told_until, entry_->claimable_until());
  EXPECT_EQ(saved->entry.head, entry_->head());
}

TEST_F(AnObjectWrittenDown, OfALengthNotKnownYetIsWhatWasKeptOfIt) {
  const Request request;
  const Response response("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
  const auto begun =
      begun_entry(budget_, {"http://a/", request.head.fields, response.head, kAtOnce, "us"},
                  Object{kNumber}, 4 * kBlockBytes);
  note_object(record_, *begun);
  EXPECT_EQ(record_.block, 4U);
  auto head = encode_head(*begun, 0);
  const auto saved = decoded(head);
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->length, 4 * kBlockBytes);
  const auto made = Entry::make(budget_, saved->entry);
  const Entry& again = *made;
  EXPECT_EQ(again.status, 206U);
  EXPECT_EQ(again.range(), begun->range());
  EXPECT_EQ(again.object(), begun->object());
  EXPECT_EQ(again.head(), begun->head());
  head[48] = 1;  // one byte more, which is in a further block
  record_.block = 5;
  EXPECT_FALSE(decoded(head)) << "no whole blocks";
}

TEST_F(AnObjectWrittenDown, IsNothingWhereRecordAndHeadDisagree) {
  const auto good = encode_head(*entry_, 0);
  const auto with = [&](std::size_t at, std::string_view bytes) {
    return std::string(good).replace(at, bytes.size(), bytes);
  };
  EXPECT_FALSE(decoded(with(1, "\1"))) << "no object";
  EXPECT_FALSE(decoded(with(51, "\1"))) << "longer than its blocks";
  EXPECT_FALSE(decoded(with(65, "404"))) << "no content";
  EXPECT_FALSE(decoded(good.substr(0, 55)));
  record_.block = 6;
  EXPECT_FALSE(decoded(good));
  record_.block = 0;
  EXPECT_FALSE(decoded(with(48, std::string(8, '\0')))) << "of no bytes";
  EXPECT_FALSE(decoded(with(48, std::string(8, '\xff')))) << "blocks without number";
  record_.block = 5;
  record_.kind = disk::RecordKind::whole;
  EXPECT_FALSE(decoded(good));
}

TEST(ASelector, HasTheseBytes) {
  Selector selector{kNumber, "accept-encoding, cookie"};
  for (std::uint8_t i = 0; i < 16; ++i) selector.claimed.bytes[i] = i;
  const auto head = encode(selector);
  EXPECT_EQ(hex_of(head),
            "01000000000000008877665544332211"
            "000102030405060708090a0b0c0d0e0f"
            "6163636570742d656e636f64696e672c20636f6f6b6965");
  EXPECT_EQ(decode_selector(head), selector);
}

TEST(ASelector, IsNothingWhereItCouldLeadNowhere) {
  const auto text = [](std::uint64_t number, std::string_view names) {
    return encode({number, std::string(names)});
  };
  EXPECT_TRUE(decode_selector(text(1, "cookie")));
  EXPECT_FALSE(decode_selector(text(0, "cookie")));
  for (const char* names : {"", "*", "Cookie", "b, a", "a, a", "a,b", "a b", "a, *"}) {
    EXPECT_FALSE(decode_selector(text(1, names))) << names;
  }
  EXPECT_FALSE(decode_selector("\2" + text(1, "cookie").substr(1)));
  EXPECT_FALSE(decode_selector(text(1, "cookie").substr(0, 32)));
}

TEST(AVariantsKey, IsThatOfWhoAsksAlike) {
  Budget budget(1 << 20);
  const auto url = key_of("http://a/");
  const auto entry = entry_of(budget, kVarying);
  const Selector selector{kNumber, names_of(entry->variant())};
  EXPECT_EQ(selector.names, "accept-encoding, cookie");
  const auto key = variant_key(url, kNumber, entry->variant());
  const auto key_of_request = [&](const std::string& lines) {
    const Request request(lines);
    http::NormalForms forms(request.head.fields);
    return variant_key(url, selector, forms);
  };
  EXPECT_EQ(key_of_request("Accept-encoding:  gzip \r\n"), key);
  EXPECT_NE(key_of_request("Accept-Encoding: br\r\n"), key);
  EXPECT_NE(key_of_request("Accept-Encoding: gzip\r\nCookie: a\r\n"), key);
  EXPECT_NE(variant_key(url, kNumber + 1, entry->variant()), key);
  EXPECT_NE(variant_key(key_of("http://b/"), kNumber, entry->variant()), key);
}

}  // namespace
}  // namespace proxy::cache
