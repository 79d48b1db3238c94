// The bytes that a polling neighbour receives over the network.
#include <gtest/gtest.h>

#include <boost/asio/read_until.hpp>
#include <charconv>

#include "digest/native_digest.hpp"
#include "peers/native_target.hpp"
#include "proxy/client/arrival.hpp"
#include "proxy/pages/own_pages.hpp"
#include "tests/digest/keys.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
constexpr std::size_t kRoom = std::size_t{1} << 22;

// A cache whose oldest entries leave first.
class Queue final : public peers::Holdings {
 public:
  explicit Queue(std::uint64_t entries) : next_(entries) {}

  void store(std::uint64_t count) {
    for (; count > 0; --count) {
      changes_.push_back({digest::quick_key(next_++), digest::KeyChange::What::added});
    }
  }
  void drop(std::uint64_t count) {
    for (; count > 0; --count) {
      changes_.push_back({digest::quick_key(first_++), digest::KeyChange::What::removed});
    }
  }

  digest::Collected collect(peers::WallTime, std::vector<digest::KeyChange>& changes) override {
    changes.insert(changes.end(), changes_.begin(), changes_.end());
    changes_.clear();
    return digest::Collected::complete;
  }
  void list(peers::WallTime, std::vector<digest::Claim>& keys) override {
    changes_.clear();
    for (auto i = first_; i < next_; ++i) keys.push_back({digest::quick_key(i)});
  }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t next_;
  std::vector<digest::KeyChange> changes_;
};

config::Settings with_bits_per_entry(unsigned bits) {
  auto settings = client::quiet_settings();
  settings.digest.bits_per_entry = bits;
  return settings;
}

struct Answer {
  std::string head;
  std::string body;

  std::string status() const { return head.substr(9, 3); }
};

// A proxy with a number of entries, and a neighbour that has its digest. The capacity is twice that
// number, so the bits per entry set the size of the filter.
class Wire {
 public:
  Wire(std::uint64_t entries, unsigned bits_per_entry)
      : holdings(entries), scene_(with_bits_per_entry(bits_per_entry), {}, &holdings) {
    held_ = *digest::decode_native(scene_.publisher.native(0, 0)->body, nullptr, kRoom);
  }

  const digest::BloomFilter& filter() const { return held_->filter; }
  std::uint64_t epoch() const { return held_->epoch; }

  // Polls as the exchange does. The answer must be a delta of less than `limit` bytes: any other
  // answer fails the test, and is not read to its end.
  Answer poll(std::size_t limit) {
    scene_.publisher.tick(now_ += std::chrono::milliseconds(500));
    const auto form = scene_.publisher.native(held_->epoch, held_->generation);
    EXPECT_LT(form->body.size(), limit);
    if (form->body.size() >= limit) return {};
    const Answer answer = ask();
    if (answer.status() != "200") return answer;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(answer.body.data());
    const auto decoded = digest::decode_native({bytes, answer.body.size()}, &*held_, kRoom);
    EXPECT_TRUE(decoded);
    if (decoded) held_ = *decoded;
    return answer;
  }

  Queue holdings;

 private:
  Answer ask() {
    const std::string text =
        "GET " + peers::native_target(&*held_) + " HTTP/1.1\r\nHost: 127.0.0.1:3128\r\n" +
        "If-None-Match: " + peers::native_etag(held_->epoch, held_->generation) + "\r\n\r\n";
    const auto request = policy::parse_request(text, {}).value();
    request->pin(scene_.policy);
    client::record_arrival(scene_.client, *request);
    server::Http1Body body(scene_.input, request->framing);
    scene_.response.begin({1, false, false});
    support::run(scene_.worker.io, serve_own(scene_.shared.pages, scene_.client, *request,
                                             *own_page(scene_.client, *request), body));
    return read();
  }

  Answer read() {
    namespace asio = net::asio;
    Answer answer;
    const auto end =
        asio::read_until(scene_.pair.second, asio::dynamic_buffer(buffer_), "\r\n\r\n");
    answer.head = buffer_.substr(0, end);
    buffer_.erase(0, end);
    std::size_t length = 0;
    if (const auto at = answer.head.find("Content-Length: "); at != std::string::npos) {
      std::from_chars(answer.head.data() + at + 16, answer.head.data() + end, length);
    }
    if (buffer_.size() < length) {
      asio::read(scene_.pair.second, asio::dynamic_buffer(buffer_),
                 asio::transfer_exactly(length - buffer_.size()));
    }
    answer.body = std::exchange(buffer_, buffer_.substr(length)).substr(0, length);
    return answer;
  }

  Scene scene_;
  std::optional<digest::NativeDigest> held_;
  peers::WallTime now_{};
  std::string buffer_;
};

// The filter of a million entries with 12 bits each. The digest has to be sized for two million.
TEST(NativeWire, IsShortWhenTheFilterIsFull) {
  Wire wire(kMillion, 6);
  ASSERT_EQ(wire.filter().shape().bits, 12 * kMillion);
  EXPECT_NEAR(wire.filter().false_positive_rate(), 0.00314, 0.00005);
  wire.holdings.store(500);
  wire.holdings.drop(500);
  EXPECT_EQ(wire.poll(8'000).status(), "200");
  wire.holdings.store(1000);
  EXPECT_EQ(wire.poll(13'000).status(), "200");
  EXPECT_EQ(wire.poll(13'000).status(), "304") << "nothing changed";
}

TEST(NativeWire, IsShortWhileTheCacheFillsFromEmpty) {
  Wire wire(0, 12);
  EXPECT_EQ(wire.poll(200).status(), "304");
  for (int thousands = 1; thousands <= 20; ++thousands) {
    const std::uint64_t epoch = wire.epoch();
    wire.holdings.store(1000);
    const Answer answer = wire.poll(70'000);
    EXPECT_TRUE(answer.body.size() < 13'000 || wire.epoch() != epoch) << thousands;
    EXPECT_EQ(wire.poll(200).status(), "304") << thousands;
  }
}

// 100 entries are stored and 100 evicted per second. The neighbour polls at the shortest interval,
// and the heads are counted as larger than they are.
TEST(NativeWire, TakesLessThan40KilobitsASecondInSteadyUse) {
  constexpr std::size_t kHeads = 700;
  constexpr double kSeconds = 0.9;
  Wire wire(kMillion / 8, 96);  // a filter as large as that of a million entries, but emptier
  wire.holdings.store(100);
  wire.holdings.drop(100);
  const Answer answer = wire.poll(4'000);
  EXPECT_LT(answer.head.size(), kHeads / 2);
  EXPECT_LT(8 * static_cast<double>(answer.body.size() + kHeads) / kSeconds, 40'000);
}

}  // namespace
}  // namespace proxy::pages
