#include "proxy/http/secrets.hpp"

#include <gtest/gtest.h>

namespace proxy::http {
namespace {

TEST(Secrets, AreShownByFieldsThatTellTheClientFromOthers) {
  struct Case {
    field id;
    std::string_view name;
    bool is_shown;
  };
  for (const Case& c :
       {Case{field::authorization, "Authorization", true}, Case{field::cookie, "Cookie", true},
        Case{field::unknown, "Private-Token", true}, Case{field::unknown, "X-Api-Key", true},
        Case{field::unknown, "x-csrf-TOKEN", true},
        Case{field::proxy_authorization, "Proxy-Authorization", false},
        Case{field::user_agent, "User-Agent", false}, Case{field::accept, "Accept", false}}) {
    Fields fields;
    fields.append(field::host, "Host", "a.test");
    fields.append(c.id, c.name, "x");
    EXPECT_EQ(shows_secret(fields), c.is_shown) << c.name;
  }
}

TEST(Secrets, AreInQueriesThatHaveASignature) {
  for (const std::string_view url :
       {"https://a.test/b?X-Amz-Signature=1", "https://a.test/b?x=1&Signature=2",
        "https://a.test/b?se=1&sig=2", "https://a.test/b?a&X-Goog-Signature=3"}) {
    EXPECT_TRUE(has_signed_query(url)) << url;
  }
  for (const std::string_view url :
       {"https://a.test/sig=1", "https://a.test/b?design=1", "https://a.test/b?x=sig", "/"}) {
    EXPECT_FALSE(has_signed_query(url)) << url;
  }
}

}  // namespace
}  // namespace proxy::http
