#include "proxy/sources/neighbour.hpp"

#include <gtest/gtest.h>

namespace proxy::sources {
namespace {

TEST(SaysItHolds, OnlyWhatIsToldEitherWay) {
  struct Case {
    std::string text;
    std::optional<bool> held;
  };
  for (Case c : {Case{"200 OK", true}, Case{"504 Gateway Timeout", false},
                 Case{"502 Bad Gateway", false}, Case{"304 Not Modified", std::nullopt},
                 Case{"100 Continue", std::nullopt}, Case{"403 Forbidden", std::nullopt},
                 Case{"404 Not Found", std::nullopt}, Case{"206 Partial Content", std::nullopt},
                 Case{"504 No\r\nCache-Status: b; detail=\"refused/loop\"", std::nullopt},
                 Case{"504 No\r\nCache-Status: b; fwd=stale", false}}) {
    auto text = "HTTP/1.1 " + c.text + "\r\n\r\n";
    EXPECT_EQ(says_it_holds(http::parse_response_head(text).value()), c.held) << c.text;
  }
}

}  // namespace
}  // namespace proxy::sources
