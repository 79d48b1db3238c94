#include "proxy/sources/checking.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;

struct Case {
  const char* name;
  Ruling ruling;
  std::vector<Testimony> answers;
};

TEST(Examination, BelievesAnOriginThatContradictsTheNeighbourEachTimeInTheSameWay) {
  const Testimony agrees{false, "v1"};
  const Testimony against{true, "v2"};
  const Testimony against_too{true, "v3"};
  const Testimony fails{false, ""};
  for (const Case& c : {
           Case{"Agrees", Ruling::nothing, {agrees}},
           Case{"Fails", Ruling::nothing, {fails}},
           Case{"Once", Ruling::ask_again, {against}},
           Case{"Twice", Ruling::ask_again, {against, against}},
           Case{"EachTime", Ruling::contradicted, {against, against, against}},
           Case{"ThenAgrees", Ruling::origin_varies, {against, agrees}},
           Case{"AtLastAgrees", Ruling::origin_varies, {against, against, agrees}},
           Case{"OtherwiseEachTime", Ruling::origin_varies, {against, against_too}},
           Case{"OtherwiseAtLast", Ruling::origin_varies, {against, against, against_too}},
           Case{"FailsThen", Ruling::nothing, {against, fails}},
       }) {
    EXPECT_EQ(ruling_on(c.answers), c.ruling) << c.name;
  }
}

TEST(Examination, LeavesALoadBalancerAndItsServersEverMoreTime) {
  EXPECT_EQ(pause_after(1, 5s), 5s);
  EXPECT_EQ(pause_after(2, 5s), 25s);
}

}  // namespace
}  // namespace proxy::sources
