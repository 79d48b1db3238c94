#include "proxy/check/try_out.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace proxy::check {
namespace {

struct Case {
  CheckReport trial;
  bool strict;
  bool good;
  const char* out;
  const char* err;
};

TEST(Report, FailsForAnErrorAndForAWarningIfItIsStrict) {
  const Case cases[] = {
      {{}, true, true, "OK\n", ""},
      {{{}, {"port 1 is ours"}}, true, true, "port 1 is ours\nOK\n", ""},
      {{{"no room"}, {}}, false, true, "OK, but for 1 warning\n", "warning: no room\n"},
      {{{"no room"}, {}}, true, false, "not OK: 1 warning\n", "warning: no room\n"},
      {{{}, {}, {"taken"}}, false, false, "not OK: 1 error\n", "error: taken\n"},
      {{{"no room"}, {}, {"a", "b"}},
       false,
       false,
       "not OK: 2 errors, 1 warning\n",
       "error: a\nerror: b\nwarning: no room\n"},
      {{{"a", "b"}, {"c"}}, false, true, "c\nOK, but for 2 warnings\n", "warning: a\nwarning: b\n"},
  };
  for (Case each : cases) {
    each.trial.is_strict = each.strict;
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(report(each.trial, out, err), each.good) << each.out;
    EXPECT_EQ(out.str(), each.out);
    EXPECT_EQ(err.str(), each.err);
  }
}

}  // namespace
}  // namespace proxy::check
