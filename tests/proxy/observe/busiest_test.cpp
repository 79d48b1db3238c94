#include "proxy/observe/recent_requests.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;
using Found = RecentRequests::Found;

const Busiest::Time kBegin{1000h};

// The request is the `of_kind`th of its kind and thread.
Found busy(std::string url, std::uint64_t of_kind, Tag tag = Tag::miss, std::uint64_t bytes = 10,
           std::string client = "10.0.0.1", std::size_t thread = 0) {
  RequestRecord record;
  record.tag = tag;
  record.bytes = bytes;
  RecentRequest request;
  request.of_kind = of_kind;
  request.client = std::move(client);
  request.url = std::move(url);
  request.record = record;
  return {thread, std::make_shared<const RecentRequest>(std::move(request))};
}

const Busiest::Row& row(const std::vector<Busiest::Row>& rows, const std::string& name) {
  static const Busiest::Row kNone;
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Busiest::Row& one) { return one.name == name; });
  return found == rows.end() ? kNone : *found;
}

TEST(HostIn, IsWhatTheSchemeAndThePathLeave) {
  const std::pair<const char*, const char*> kHosts[] = {{"http://a.test/x", "a.test"},
                                                        {"http://a.test:8080/x?y", "a.test:8080"},
                                                        {"http://[::1]:80/", "[::1]:80"},
                                                        {"a.test:443", "a.test:443"},
                                                        {"http://a.test?http://b", "a.test"},
                                                        {"/path", ""},
                                                        {"", ""}};
  for (const auto& [url, host] : kHosts) EXPECT_EQ(host_in(url), host) << url;
}

TEST(Busiest, SumsByHostByURLAndByClient) {
  Busiest busiest;
  busiest.record({busy("http://a.test/x", 1), busy("http://a.test/x", 1, Tag::mem_hit, 30),
                  busy("http://a.test/y", 2, Tag::miss, 5, "10.0.0.2")},
                 kBegin);
  busiest.record({busy("http://b.test/", 1, Tag::miss, 7, "10.0.0.2", 1)}, kBegin + 1s);
  const auto told = busiest.tell();
  const auto& host = row(told.hosts, "a.test");
  EXPECT_EQ(host.requests, 3);
  EXPECT_EQ(host.hits, 1);
  EXPECT_EQ(host.bytes, 45);
  EXPECT_EQ(row(told.hosts, "b.test").requests, 1);
  EXPECT_EQ(row(told.urls, "http://a.test/x").requests, 2);
  EXPECT_EQ(row(told.urls, "http://a.test/y").bytes, 5);
  EXPECT_EQ(row(told.clients, "10.0.0.1").requests, 2);
  EXPECT_EQ(row(told.clients, "10.0.0.2").bytes, 12);
}

TEST(Busiest, CountsThoseThatWereLeftOut) {
  Busiest busiest;
  // Of 1,000 hits two were kept, and of the misses of this thread each one.
  busiest.record({busy("http://a.test/", 1, Tag::mem_hit),
                  busy("http://b.test/", 1000, Tag::mem_hit), busy("http://a.test/", 1)},
                 kBegin);
  auto told = busiest.tell();
  EXPECT_EQ(row(told.hosts, "a.test").requests, 501);
  EXPECT_EQ(row(told.hosts, "a.test").hits, 500);
  EXPECT_EQ(row(told.hosts, "b.test").requests, 500);
  busiest.record({busy("http://b.test/", 1003, Tag::mem_hit)}, kBegin + 1s);
  told = busiest.tell();
  EXPECT_EQ(row(told.hosts, "b.test").requests, 503);
}

TEST(Busiest, ForgetsAfterAnHour) {
  Busiest busiest;
  busiest.record({busy("http://a.test/", 1)}, kBegin);
  for (auto passed = 0min; passed < 60min; passed += 1min) busiest.record({}, kBegin + passed);
  EXPECT_EQ(row(busiest.tell().hosts, "a.test").requests, 1);
  busiest.record({}, kBegin + 60min);
  EXPECT_TRUE(busiest.tell().hosts.empty());
}

TEST(Busiest, KeepsTheBusyAndTheLargeAmongManyNames) {
  Busiest busiest;
  std::uint64_t number = 0;
  for (int second = 0; second < 100; ++second) {
    std::vector<Found> requests;
    for (int i = 0; i < 50; ++i) {
      ++number;
      requests.push_back(busy("http://r.test/" + std::to_string(number), number));
    }
    requests.push_back(busy("http://busy.test/", ++number));
    if (second == 3) requests.push_back(busy("http://large.test/", ++number, Tag::miss, 1 << 30));
    busiest.record(requests, kBegin + std::chrono::seconds(second));
  }
  const auto told = busiest.tell();
  EXPECT_LE(told.urls.size(), 2 * Busiest::kTold);
  EXPECT_EQ(row(told.urls, "http://busy.test/").requests, 100);
  EXPECT_EQ(row(told.urls, "http://large.test/").bytes, 1 << 30);
}

}  // namespace
}  // namespace proxy::observe
