#include "proxy/command/squid/conditions.hpp"

#include <gtest/gtest.h>

namespace proxy::command::squid {
namespace {

std::string texts(const Values& networks) {
  if (networks.empty()) return "none";
  std::string out;
  for (const Value& network : networks) {
    out += (out.empty() ? "" : " ") + to_text(std::get<config::Network>(network));
  }
  return out;
}

TEST(SquidNetworks, AreReadInEachForm) {
  struct Case {
    std::string_view text, networks;
  };
  for (const Case& c : {Case{"10.1.2.3", "10.1.2.3"},
                        Case{"10.1.2.3/8", "10.0.0.0/8"},
                        Case{"10.0.0.0/255.255.0.0", "10.0.0.0/16"},
                        Case{"all", "0.0.0.0/0 ::/0"},
                        Case{"ipv4", "0.0.0.0/0"},
                        Case{"2001:db8::1/32", "2001:db8::/32"},
                        Case{"::/0", "::/0"},
                        Case{"10.0.0.1-10.0.0.4", "10.0.0.1 10.0.0.2/31 10.0.0.4"},
                        Case{"10.30.0.0-10.33.0.0/16", "10.30.0.0/15 10.32.0.0/15"},
                        Case{"255.255.255.254-255.255.255.255", "255.255.255.254/31"},
                        Case{"fc00::1-fc00::2", "fc00::1 fc00::2"},
                        Case{"0.0.0.0-255.255.255.255", "0.0.0.0/0"},
                        Case{"host.example", "none"},
                        Case{"10.0.0.0/33", "none"},
                        Case{"10.0.0.0/", "none"},
                        Case{"10.0.0.0/255.0.255.0", "none"},
                        Case{"10.0.0.9-10.0.0.1", "none"},
                        Case{"10.0.0.1-::1", "none"},
                        Case{"", "none"},
                        Case{"10.0.0.1-", "none"}}) {
    EXPECT_EQ(texts(parse_addresses(c.text)), c.networks) << c.text;
  }
}

std::string common(Aspect aspect, const Values& a, const Values& b) {
  const auto met = both({{aspect, a}}, {{aspect, b}});
  if (!met) return "none";
  std::string out;
  for (const std::string& text : texts_of(met->at(aspect), aspect))
    out += (out.empty() ? "" : ", ") + text;
  return out;
}

TEST(SquidConditions, OfBothAreWhatTheirValuesHaveInCommon) {
  struct Case {
    Aspect aspect;
    Values a, b;
    std::string_view common;
  };
  const auto net = [](std::string_view text) { return parse_addresses(text); };
  for (const Case& c :
       {Case{Aspect::clients, net("10.0.0.0/8"), net("10.7.0.0/16"), "10.7.0.0/16"},
        Case{Aspect::clients, net("10.0.0.0/8"), net("11.0.0.0/8"), "none"},
        Case{Aspect::to, {"*.a.test", "b.test"}, {"x.a.test", "b.test"}, "x.a.test, b.test"},
        Case{Aspect::to, {"*.a.test"}, {"a.test"}, "none"},
        Case{Aspect::methods, {"GET", "HEAD"}, {"HEAD", "POST"}, "HEAD"},
        Case{Aspect::users, {"*"}, {"anna"}, "anna"},
        Case{Aspect::users, {"anna"}, {"berta"}, "none"},
        Case{Aspect::ports,
             {Interval{80, 90}, Interval{443, 443}},
             {Interval{85, 443}},
             "85-90, 443"},
        Case{Aspect::ports, {Interval{1, 2}}, {Interval{3, 4}}, "none"},
        Case{Aspect::times,
             {Interval{480, 720, 0x1f}},
             {Interval{600, 1080, 0x30}},
             "fri 10:00-12:01"},
        Case{Aspect::times, {Interval{0, 1439, 0x0f}}, {Interval{0, 1439, 0x70}}, "none"}}) {
    EXPECT_EQ(common(c.aspect, c.a, c.b), c.common);
    EXPECT_EQ(common(c.aspect, c.b, c.a), c.common);
  }
  const auto two = both({{Aspect::users, {"anna"}}}, {{Aspect::ports, {Interval{80, 80}}}});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->size(), 2U) << "an aspect that one of them lacks is no condition of it";
  EXPECT_FALSE(both({{Aspect::ports, {}}}, {{Aspect::ports, {Interval{80, 80}}}}))
      << "no port is left";
}

TEST(SquidConditions, EndAtTheHourWhereTheyAllowAndAMinuteLaterWhereTheyDeny) {
  const Values day{Interval{480, 1080, 0x1f}};
  EXPECT_EQ(texts_of(day, Aspect::times, Action::allow).front(), "mon-fri 08:00-18:00");
  EXPECT_EQ(texts_of(day, Aspect::times, Action::deny).front(), "mon-fri 08:00-18:01");
  EXPECT_EQ(texts_of({Interval{0, 1439}}, Aspect::times).front(), "mon-sun");
  EXPECT_EQ(texts_of({Interval{0, 1439, 0x55}}, Aspect::times).front(), "mon,wed,fri,sun");
}

}  // namespace
}  // namespace proxy::command::squid
