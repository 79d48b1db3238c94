#include "proxy/mirrors/image_name.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string described(std::string_view path) {
  const auto asked = AskedImage::parse(path);
  if (!asked) return "none";
  return asked->registry + (asked->by_parameter ? " ns " : " ") + asked->part.path() + asked->query;
}

TEST(AskedImage, NamesTheRegistryByParameterOrByTheFirstPartOfItsName) {
  const struct {
    const char* path;
    const char* meaning;
  } cases[] = {
      {"/v2/library/debian/manifests/12", " /v2/library/debian/manifests/12"},
      {"/v2/debian/manifests/12", " /v2/debian/manifests/12"},
      {"/v2/registry.example.com/team/app/manifests/v1",
       "registry.example.com /v2/team/app/manifests/v1"},
      {"/v2/registry.example.com:5000/app/tags/list",
       "registry.example.com:5000 /v2/app/tags/list"},
      {"/v2/localhost/app/tags/list", "localhost /v2/app/tags/list"},
      {"/v2/b.example/tags/list", " /v2/b.example/tags/list"},
      {"/v2/team/registry.example.com/tags/list", " /v2/team/registry.example.com/tags/list"},
      {"/v2/app/tags/list?ns=registry.example.com", "registry.example.com ns /v2/app/tags/list"},
      // What the parameter names, the path does not.
      {"/v2/a.example/app/tags/list?ns=b.example", "b.example ns /v2/a.example/app/tags/list"},
      {"/v2/app/tags/list?ns=registry.example.com%3a5000",
       "registry.example.com:5000 ns /v2/app/tags/list"},
      {"/v2/app/tags/list?n=5&ns=b.example&last=a", "b.example ns /v2/app/tags/list?n=5&last=a"},
      // M2: one registry, one name.
      {"/v2/app/tags/list?ns=Registry.Example.COM.:443",
       "registry.example.com ns /v2/app/tags/list"},
      // Words of the API within a name.
      {"/v2/blobs/manifests/tags/list", " /v2/blobs/manifests/tags/list"},
      {"/v2/Some/Model-1.5B_Q4/manifests/Q4_K_M", " /v2/Some/Model-1.5B_Q4/manifests/Q4_K_M"},
  };
  for (const auto& c : cases) EXPECT_EQ(described(c.path), c.meaning) << c.path;
}

TEST(AskedImage, IsNoneOfWhatNoRegistryHas) {
  const auto blobs = "/v2/a/blobs/";
  const std::string paths[] = {
      "/v2/",
      "/v2",
      "/v1/a/tags/list",
      "/v2/tags/list",
      "/v2//tags/list",
      "/v2/a//b/tags/list",
      "/v2/a/tags/other",
      "/v2/a/tags/list/",
      "/v2/a/manifests/",
      "/v2/_catalog",
      "/v2/a/uploads/1",
      // M4
      "/v2/../a/tags/list",
      "/v2/a/../b/tags/list",
      "/v2/a%2fb/tags/list",
      "/v2/a/manifests/..",
      "/v2/a\\b/tags/list",
      "/v2/a%00/tags/list",
      "/v2/-a/tags/list",
      "/v2/a./tags/list",
      // Digests that are none.
      blobs + std::string("latest"),
      blobs + std::string("sha256:"),
      blobs + kDigest + "0",
      blobs + std::string("sha256:") + std::string(64, 'A'),
      blobs + std::string("sha256:") + std::string(64, 'g'),
      blobs + std::string("sha512:") + std::string(64, 'a'),
      blobs + std::string("md5:") + std::string(32, 'a'),
      "/v2/a/manifests/sha256:12",
      "/v2/a/referrers/v1",
      "/v2/a/manifests/" + std::string(129, 'a'),
      "/v2/" + std::string(256, 'a') + "/tags/list",
      // Registries that are none.
      "/v2/a/tags/list?ns=",
      "/v2/a/tags/list?ns=a/b",
      "/v2/a/tags/list?ns=b.example&ns=c.example",
      "/v2/a/tags/list?ns=user@b.example",
      "/v2/a/tags/list?ns=b.example:0",
      "/v2/a/tags/list?ns=b%00.example",
      "/v2/b.example:x/a/tags/list",
  };
  for (const auto& path : paths) EXPECT_EQ(described(path), "none") << path;
}

TEST(ImagePart, TellsTagsFromDigests) {
  const auto tag = ImagePart::parse("/v2/a/b/manifests/v1?x=1");
  ASSERT_TRUE(tag);
  EXPECT_TRUE(tag->by_tag());
  EXPECT_EQ(tag->name, "a/b");
  EXPECT_EQ(tag->path_of(kDigest), "/v2/a/b/manifests/" + kDigest);
  for (const auto& path :
       {"/v2/a/manifests/" + kDigest, "/v2/a/blobs/" + kDigest, "/v2/a/referrers/" + kDigest,
        std::string("/v2/a/tags/list"), "/v2/a/blobs/sha512:" + std::string(128, '0')}) {
    const auto part = ImagePart::parse(path);
    ASSERT_TRUE(part) << path;
    EXPECT_FALSE(part->by_tag()) << path;
    EXPECT_EQ(part->path(), path);
  }
}

TEST(RegistryPath, IsBelowV2) {
  for (const char* path : {"/v2", "/v2/", "/v2?ns=a", "/v2/?ns=a.example"}) {
    EXPECT_TRUE(is_registry_ping(path) && is_registry_path(path)) << path;
  }
  EXPECT_TRUE(is_registry_path("/v2/a"));
  EXPECT_FALSE(is_registry_ping("/v2/a"));
  for (const char* path : {"/", "/v22", "/v2x/", "/v1/", "", "*"}) {
    EXPECT_FALSE(is_registry_path(path)) << path;
  }
}

TEST(ImagePart, NamesTheBodyOfABlobOrManifestByItsDigest) {
  const std::pair<std::string, bool> cases[] = {{"blobs/" + kDigest, true},
                                                {"manifests/" + kDigest, true},
                                                {"manifests/v1", false},
                                                {"referrers/" + kDigest, false},
                                                {"tags/list", false}};
  for (const auto& [path, names] : cases)
    EXPECT_EQ(ImagePart::parse("/v2/a/" + path)->names_body(), names) << path;
}

}  // namespace
}  // namespace proxy::mirrors
