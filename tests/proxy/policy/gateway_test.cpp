#include "proxy/policy/gateway.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

config::Reverse mapping(const std::string& host, std::optional<std::uint16_t> port = {}) {
  config::Reverse item;
  item.host = host;
  item.port = port;
  item.to = {{false, "origin.test", 8000}};
  item.send_host = host + (port ? ":" + std::to_string(*port) : "");  // tells which it was
  return item;
}

struct Lookup {
  std::string_view host;  // the Host field
  std::string_view found;
};

TEST(Gateway, FindsTheMostExactMapping) {
  Gateway gateway({mapping("*"), mapping("*.example.com"), mapping("*.b.example.com"),
                   mapping("*.b.example.com", 81), mapping("www.example.com"),
                   mapping("www.example.com", 81), mapping("fd00:0::1"), mapping("*", 82)});
  for (const auto& [host, found] :
       {Lookup{"www.example.com", "www.example.com"},
        Lookup{"WWW.Example.com.:80", "www.example.com"},
        Lookup{"www.example.com:81", "www.example.com:81"},
        Lookup{"www.example.com:82", "www.example.com"}, Lookup{"a.example.com", "*.example.com"},
        Lookup{"a.b.example.com", "*.b.example.com"},
        Lookup{"x.a.b.example.com:81", "*.b.example.com:81"},
        Lookup{"b.example.com", "*.example.com"}, Lookup{"example.com", "*"},
        Lookup{"wwwexample.com", "*"}, Lookup{"example.com:82", "*:82"},
        Lookup{"[FD00::1]:5", "fd00:0::1"}, Lookup{"10.0.0.1", "*"}}) {
    const auto target = http::parse_target("GET", "/x", host).value();
    auto* const at = gateway.find(target.host(), target.port());
    ASSERT_NE(at, nullptr) << host;
    EXPECT_EQ(at->host_for(target), found) << host;
  }
}

TEST(Gateway, FindsNothingForHostsThatAreNotMapped) {
  Gateway gateway({mapping("www.example.com", 81), mapping("*.example.com")});
  EXPECT_EQ(gateway.find("example.com", 80), nullptr);
  EXPECT_EQ(gateway.find("example.com.evil.test", 80), nullptr);
  EXPECT_EQ(gateway.find("", 80), nullptr);
  EXPECT_EQ(Gateway({}).find("www.example.com", 80), nullptr);
}

TEST(Gateway, RefusesTheSameHostInTwoSpellings) {
  try {
    Gateway({mapping("*"), mapping("fd00::1"), mapping("fd00:0::1")});
    FAIL() << "one of them would never be used";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("reverse[2].host: ")) << error.what();
  }
}

TEST(Mapping, SendsTheClientsHostOrTheOriginsWhereThereIsNone) {
  auto item = mapping("*");
  item.send_host.clear();
  const Mapping mapped(item);
  EXPECT_EQ(mapped.host_for(http::parse_target("GET", "/x", "a.test:81").value()), "a.test:81");
  EXPECT_EQ(mapped.host_for(http::parse_target("GET", "/x").value()), "origin.test:8000");
}

TEST(Request, OfAMappingIsStoredUnderANameThatNoUrlIs) {
  Mapping mapped(mapping("*"));
  const std::string text = "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n";
  const auto request = parse_request(text, {}).value();
  request->pin(default_policy());
  EXPECT_EQ(request->stored_as(), "http://a.test/x");
  request->arrive(Arrival::reverse, &mapped);
  EXPECT_EQ(request->stored_as(), "reverse:http://a.test/x");
  EXPECT_EQ(request->stored_as(http::parse_target("GET", "http://a.test/y").value()),
            "reverse:http://a.test/y");
  EXPECT_FALSE(request->may_be_shared());
  EXPECT_FALSE(http::parse_target("GET", request->stored_as()));
  const OwnedRequest owned(*request);
  EXPECT_EQ(owned.get().stored_as(), request->stored_as());
  EXPECT_EQ(owned.get().mapping(), &mapped);
}

TEST(Request, OfASharedMappingIsStoredAsItsUrl) {
  auto item = mapping("a.test");
  item.share = true;
  Mapping mapped(item);
  const std::string text = "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n";
  const auto request = parse_request(text, {}).value();
  request->arrive(Arrival::reverse, &mapped);
  EXPECT_EQ(request->stored_as(), "http://a.test/x");
  EXPECT_TRUE(request->may_be_shared());
}

}  // namespace
}  // namespace proxy::policy
