#include "proxy/command/fetch_plan.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

using Kind = FetchStep::Kind;

const std::string kSha = "sha256:" + std::string(64, 'a');
const std::string kOtherSha = "sha256:" + std::string(64, 'b');

TEST(FetchPlan, ReadsUrlsImagesAndRepositories) {
  const struct {
    std::string text;
    Kind kind;
    std::string target;  // empty: it is none of them
  } cases[] = {
      {"https://a.test/x", Kind::url, "https://a.test/x"},
      {"ftp://a.test/x", Kind::url, "ftp://a.test/x"},
      {"docker.io/library/alpine:3", Kind::manifest, "/v2/docker.io/library/alpine/manifests/3"},
      {"registry.example/o/app", Kind::manifest, "/v2/registry.example/o/app/manifests/latest"},
      {"localhost/app", Kind::manifest, "/v2/localhost/app/manifests/latest"},
      {"r.test:5000/app:v1.2_3", Kind::manifest, "/v2/r.test:5000/app/manifests/v1.2_3"},
      {"r.test/a/b@" + kSha, Kind::manifest, "/v2/r.test/a/b/manifests/" + kSha},
      {"r.test/a:v1@" + kSha, Kind::manifest, "/v2/r.test/a/manifests/" + kSha},
      {"hf://o/r", Kind::listing, "/hf/api/models/o/r/tree/main?recursive=true"},
      {"hf://o/r@v1", Kind::listing, "/hf/api/models/o/r/tree/v1?recursive=true"},
      {"hf://datasets/o/r/", Kind::listing, "/hf/api/datasets/o/r/tree/main?recursive=true"},
      {"hf://o/r@refs/a/b.bin", Kind::file, "/hf/o/r/resolve/refs/a/b.bin"},
      {"hf://o/r@refs%2Fpr%2F1", Kind::listing,
       "/hf/api/models/o/r/tree/refs%252Fpr%252F1?recursive=true"},
      {"hf://o/r/a/", Kind::listing, "/hf/api/models/o/r/tree/main/a?recursive=true"},
      {"hf://spaces/o/r/a b.py", Kind::file, "/hf/spaces/o/r/resolve/main/a%20b.py"},
      {"alpine:3", Kind::url, ""},
      {"library/alpine", Kind::url, ""},
      {"r.test/", Kind::url, ""},
      {"r.test/a b", Kind::url, ""},
      {"r.test/a@sha256:12", Kind::url, ""},
      {"r.test/a:", Kind::url, ""},
      {"hf://o", Kind::url, ""},
      {"hf://o/r?x", Kind::url, ""},
      {"", Kind::url, ""},
  };
  for (const auto& c : cases) {
    const auto step = first_step(c.text);
    ASSERT_EQ(step.has_value(), !c.target.empty()) << c.text;
    if (!step) continue;
    EXPECT_EQ(step->target, c.target) << c.text;
    EXPECT_EQ(step->kind, c.kind) << c.text;
  }
}

// The targets that follow, or the trouble.
std::string follows(const std::string& first, const std::string& answer,
                    const std::vector<std::string>& platforms = {}, const std::string& next = {}) {
  const auto steps = steps_after(*first_step(first), answer, platforms, next);
  if (!steps) return steps.error().text;
  std::string all;
  for (const auto& step : *steps) all += step.target + '\n';
  return all;
}

std::string index_of(const std::string& first, const std::string& second) {
  const auto manifest = [](const std::string& digest, const std::string& platform) {
    return R"({"digest":")" + digest + R"(","platform":)" + platform + "}";
  };
  return R"({"manifests":[)" + manifest(kSha, first) + "," + manifest(kOtherSha, second) + "]}";
}

TEST(FetchPlan, FollowsAnIndexToThePlatformsThatAreWanted) {
  const auto index = index_of(R"({"os":"linux","architecture":"arm64","variant":"v8"})",
                              R"({"os":"linux","architecture":"amd64"})");
  const std::string arm = "/v2/r.test/a/manifests/" + kSha + "\n";
  const std::string amd = "/v2/r.test/a/manifests/" + kOtherSha + "\n";
  EXPECT_EQ(follows("r.test/a", index), arm + amd);
  EXPECT_EQ(follows("r.test/a", index, {"linux/amd64"}), amd);
  EXPECT_EQ(follows("r.test/a", index, {"linux/arm64"}), arm);
  EXPECT_EQ(follows("r.test/a", index, {"linux/arm64/v8", "linux/amd64"}), arm + amd);
  EXPECT_EQ(follows("r.test/a", index, {"linux/arm"}),
            "has no image for linux/arm, but for linux/arm64/v8, linux/amd64");
}

TEST(FetchPlan, FollowsAManifestToItsBlobs) {
  const auto manifest =
      R"({"config":{"digest":")" + kSha + R"("},"layers":[{"digest":")" + kOtherSha + R"("}]})";
  EXPECT_EQ(follows("r.test/a/b:1", manifest),
            "/v2/r.test/a/b/blobs/" + kSha + "\n/v2/r.test/a/b/blobs/" + kOtherSha + "\n");
}

TEST(FetchPlan, FollowsAListingToItsFilesAndItsNextPart) {
  const std::string listing =
      R"([{"type":"directory","path":"a"},{"type":"file","path":"a/b c.bin"},{"path":"d"}])";
  EXPECT_EQ(follows("hf://o/r@v1", listing), "/hf/o/r/resolve/v1/a/b%20c.bin\n");
  EXPECT_EQ(follows("hf://datasets/o/r", listing, {}, "http://us:3128/hf/api/datasets/o/r/x?c=2"),
            "/hf/datasets/o/r/resolve/main/a/b%20c.bin\n/hf/api/datasets/o/r/x?c=2\n");
}

TEST(FetchPlan, TakesNothingElseForAManifestOrAListing) {
  const char* const manifests[] = {"",
                                   "[]",
                                   "{}",
                                   R"({"manifests":{}})",
                                   R"({"manifests":[{}]})",
                                   R"({"manifests":["x"]})",
                                   R"({"layers":7})",
                                   R"({"layers":[]})",
                                   R"({"config":{"digest":"sha256:../x"},"layers":[]})",
                                   R"({"config":[],"layers":[7]})",
                                   "<html>"};
  for (const char* text : manifests) {
    const auto steps = steps_after(*first_step("r.test/a"), text, {});
    EXPECT_FALSE(steps.has_value()) << text;
  }
  for (const char* text : {"", "{}", "7", "[", "<html>"})
    EXPECT_EQ(follows("hf://o/r", text), "is no listing of files") << text;
  EXPECT_EQ(follows("hf://o/r", R"([1,{"type":"file"},{"type":"file","path":3}])"), "");
}

TEST(FetchPlan, EndsAtAnIndexWithinAnIndexOfAnIndex) {
  auto step = *first_step("r.test/a");
  const auto index = index_of("{}", "{}");
  for (int i = 0; i < 2; ++i) {
    const auto steps = steps_after(step, index, {});
    ASSERT_TRUE(steps.has_value());
    step = steps->front();
  }
  EXPECT_FALSE(steps_after(step, index, {}).has_value());
}

TEST(FetchPlan, NamesATagsManifestByItsDigest) {
  EXPECT_EQ(by_digest("/v2/r.test/a/manifests/v1", kSha), "/v2/r.test/a/manifests/" + kSha);
  EXPECT_EQ(by_digest("/v2/r.test/a/manifests/v1", "sha256:1"), "");
  EXPECT_EQ(by_digest("/hf/a/b/resolve/main/c", kSha), "");
}

TEST(NextLink, IsTheOneWithThatRelation) {
  EXPECT_EQ(next_link("<http://a/1>; rel=\"prev\", <http://a/3?c=2>; rel=\"next\""),
            "http://a/3?c=2");
  for (const char* none : {"", "<a>", "<a>; rel=\"prev\"", "<a", "a; rel=\"next\""})
    EXPECT_EQ(next_link(none), "") << none;
}

}  // namespace
}  // namespace proxy::command
