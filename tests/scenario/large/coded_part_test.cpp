// Parts whose head contradicts their body: the bytes of the part are coded, or its status is 200.
#include <gtest/gtest.h>

#include "tests/scenario/large/range_scene.hpp"

namespace scenario {
namespace {

// As middleware does that compresses whatever passes (Express, Envoy): the origin selects the bytes
// and codes them, but leaves Content-Range as it is.
class CodedPart : public RangeScene {
 protected:
  CodedPart() : RangeScene(6 * kMiB) {
    origin.otherwise([this](const Request& request) {
      const auto range = request.field("Range");
      if (range.empty() || !contains(request.field("Accept-Encoding"), "gzip"))
        return answer(request);
      const auto span = span_of(range);
      return described(Reply(206, {{"Content-Range", content_range(span)}}))
          .with("Content-Encoding", "gzip")
          .chunked()
          .send(coded(range));
    });
  }
  static std::string coded(const std::string& range) { return "gzip(" + range + ")"; }
  Response get_coded(const std::string& range, Fields fields = {}) {
    fields.emplace_back("Accept-Encoding", "gzip");
    return get(range, fields);
  }
  // A parent may have the bytes of the uncoded form.
  void expect_coded_or_of_parent(const Response& response, const std::string& range) const {
    const bool plain = way().neighbour && response.field("Content-Encoding").empty();
    if (plain) return expect_part(response, span_of("bytes=" + range));
    expect_coded(response, range);
  }
  void expect_coded(const Response& response, const std::string& range) const {
    EXPECT_EQ(response.status, 206);
    EXPECT_TRUE(response.whole);
    EXPECT_EQ(response.field("Content-Encoding"), "gzip");
    EXPECT_EQ(response.field("Content-Range"), content_range(span_of("bytes=" + range)));
    EXPECT_EQ(response.body, coded("bytes=" + range));
  }
};
INSTANTIATE_TEST_SUITE_P(By, CodedPart, kAllWays,
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(CodedPart, IsPassedOnAsItCame) {
  for (const std::string range : {"0-99999", "0-99999", "50000-299999", "0-700000"}) {
    expect_coded(get_coded(range), range);
  }
}

// Once the length is known, more than the client wants may be asked for.
TEST_P(CodedPart, IsAskedForAgainIfTheClientsBytesCannotBeCutOutOfIt) {
  expect_part(get("0-99999"), {0, 99'999});
  for (const std::string range : {"300000-399999", "500000-700000"}) {
    expect_coded_or_of_parent(get_coded(range), range);
  }
  // The rest of a stored part is asked for in the coding of that part.
  expect_part(get_coded("50000-299999"), {50'000, 299'999});
  const std::string again = "300000-399999";
  expect_coded_or_of_parent(get_coded(again, {{"If-Range", etag}}), again);
}

class PartCalled200 : public RangeScene {
 protected:
  PartCalled200() {
    origin.otherwise([this](const Request& request) {
      const auto range = request.field("Range");
      return range.empty() || !wrong ? answer(request) : part(span_of(range), 200);
    });
  }
  void expect_passed_on(const Response& response, const Span& span) const {
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Range"), content_range(span));
    EXPECT_TRUE(response.body == pattern(span.first, span.second - span.first + 1));
    EXPECT_FALSE(contains(nearest_cache_status(response), "; stored"));
  }
  bool wrong = true;
};
INSTANTIATE_TEST_SUITE_P(By, PartCalled200, kAllWays,
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(PartCalled200, IsNeverTheWhole) {
  expect_passed_on(get("0-99999"), {0, 99'999});
  expect_whole(get());
  path = "/b";
  expect_passed_on(get("5-9"), {5, 9});
  expect_passed_on(get("-100000"), {size - 100'000, size - 1});
  expect_passed_on(get("0-"), {0, size - 1});
  expect_whole(get());
}

TEST_P(PartCalled200, IsNotTheRestOfAStoredPart) {
  wrong = false;
  expect_part(get("0-99999"), {0, 99'999});
  wrong = true;
  expect_passed_on(get("50000-299999"), {50'000, 299'999});
  expect_whole(get());
}

TEST_P(PartCalled200, IsNotThatOfAnotherRange) {
  wrong = false;
  expect_part(get("0-99999"), {0, 99'999});
  wrong = true;
  expect_passed_on(get("300000-499999"), {300'000, 499'999});
  expect_whole(get());
}

}  // namespace
}  // namespace scenario
