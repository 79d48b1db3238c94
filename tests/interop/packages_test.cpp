// apt and dnf install a package of an https repository through two neighbours.
#include "tests/interop/file_tree.hpp"

namespace interop {
namespace {

constexpr std::size_t kPayload = 5'000'000;
constexpr std::uint64_t kIndexes = 20'000;  // all lists of a repository of one package take less

std::string only_file_below(const std::filesystem::path& folder, const std::string& ending) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) return read_file(entry.path());
  }
  return {};
}

// Of the suite "stable", made by reprepro and signed.
struct AptRepository : ::testing::Test {
  AptRepository() {
    std::filesystem::create_directories(own / "keys");
    std::filesystem::permissions(own / "keys", std::filesystem::perms::owner_all);
    gpg({"--passphrase", "", "--quick-generate-key", "packages@example.org", "ed25519", "sign"});
    write_file(own / "key.asc", gpg({"--armor", "--export"}).output);
    build_package();
    const auto tree = files.path() / "linux/debian";
    std::filesystem::create_directories(tree / "conf");
    write_file(tree / "conf/distributions",
               "Codename: stable\nComponents: main\nArchitectures: amd64\nSignWith: default\n");
    run_client({{"/usr/bin/reprepro", "--silent", "-b", tree, "includedeb", "stable",
                 own / "sample_1.0_all.deb"},
                {"GNUPGHOME=" + (own / "keys").string()}});
  }
  ~AptRepository() override {
    run_to_end({{"/usr/bin/gpgconf", "--homedir", own / "keys", "--kill", "all"}});
  }

  Outcome gpg(std::vector<std::string> more) const {
    more.insert(more.begin(), {"/usr/bin/gpg", "--homedir", own / "keys", "--batch", "--quiet"});
    return run_client({more});
  }
  void build_package() const {
    const auto root = own / "package";
    std::filesystem::create_directories(root / "DEBIAN");
    write_file(root / "DEBIAN/control",
               "Package: sample\nVersion: 1.0\nArchitecture: all\nSection: misc\n"
               "Priority: optional\nMaintainer: Nobody <nobody@example.org>\n"
               "Description: bytes to be carried\n");
    write_file(root / "payload", noise(kPayload, 1));
    run_client({{"/usr/bin/dpkg-deb", "--build", "-Znone", "--root-owner-group", root,
                 own / "sample_1.0_all.deb"}});
  }
  // What apt, with nothing of its own, downloads after an update. `by_proxy`: a URL.
  std::string download(const Place& place, const std::string& by_proxy = {}) const {
    for (const char* part : {"lists/partial", "cache/archives/partial", "sources", "downloads"})
      std::filesystem::create_directories(place.folder / part);
    write_file(
        place.folder / "sources/files.sources",
        client_lines("apt-mirror", {{"cache.example:3128", place.proxy.address()},
                                    {"files.example.com", files.origin.front.authority()},
                                    {"/etc/apt/keyrings/files.asc", (own / "key.asc").string()}}));
    write_file(place.folder / "status", "");
    write_file(place.folder / "apt.conf",
               "Dir::Etc::SourceList \"/dev/null\";\nDir::Etc::SourceParts \"" +
                   (place.folder / "sources").string() + "\";\nDir::Etc::Parts \"/dev/null\";\n" +
                   "Dir::State \"" + place.folder.string() + "\";\nDir::State::Status \"" +
                   (place.folder / "status").string() + "\";\nDir::Cache \"" +
                   (place.folder / "cache").string() + "\";\nAcquire::http::Proxy \"" + by_proxy +
                   "\";\nAPT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n");
    for (const auto& words : {std::vector<std::string>{"update", "--error-on=any"},
                              std::vector<std::string>{"download", "sample"}}) {
      Command apt{{"/usr/bin/apt-get", "--quiet"},
                  {"APT_CONFIG=" + (place.folder / "apt.conf").string()}};
      apt.arguments.insert(apt.arguments.end(), words.begin(), words.end());
      apt.directory = place.folder / "downloads";
      run_client(apt);
    }
    return scenario::sha256_of(only_file_below(place.folder / "downloads", ".deb"));
  }

  TemporaryDirectory own;
  FileTree files;
};

TEST_F(AptRepository, IsReadByApt) {
  // Else a package that may be replaced in its place is validated, and not shared with neighbours.
  auto settings = files.settings("apt");
  settings["rules"] = json::array({{{"name", "packages"},
                                    {"host", files.origin.front.authority()},
                                    {"pattern", "/**/pool/**"},
                                    {"class", "immutable"}}});
  FourFetches four(settings, {&files.origin.plain}, [this] { files.origin.front.stop(); });
  const auto content = scenario::sha256_of(read_file(own / "sample_1.0_all.deb"));
  const auto sent =
      four.run("apt", content, [this](const Place& place) { return download(place); });
  EXPECT_GT(sent[0].bytes, kPayload);
  EXPECT_LT(sent[0].bytes, kPayload + kIndexes);
  EXPECT_LT(sent[1].bytes, 1'000U) << "what is the same has no body";
  EXPECT_LT(sent[2].bytes, kIndexes);
  EXPECT_EQ(sent[3], Sent());
  const TemporaryDirectory folder;
  const auto& both = four.second();  // the machine's mirror, and the proxy of all its requests
  EXPECT_TRUE(download({both, folder.path()}, both.url()) == content);
}

// With metadata in the form of which dnf asks for parts.
struct DnfRepository : ::testing::Test {
  DnfRepository() {
    write_file(own / "payload", noise(kPayload, 2));
    write_file(own / "sample.spec",
               "Name: sample\nVersion: 1\nRelease: 1\nSummary: bytes to be carried\n"
               "License: none\nBuildArch: noarch\n%description\nBytes.\n%install\n"
               "install -D " +
                   (own / "payload").string() +
                   " %{buildroot}/srv/payload\n%files\n/srv/payload\n");
    run_client(
        {{"/usr/bin/rpmbuild", "--quiet", "-bb", "--define", "_topdir " + (own / "build").string(),
          "--define", "_binary_payload w0.gzdio", own / "sample.spec"}});
    std::filesystem::create_directories(files.path() / "1/x86_64");
    std::filesystem::copy(own / "build/RPMS/noarch/sample-1-1.noarch.rpm",
                          files.path() / "1/x86_64");
    run_client({{"/usr/bin/createrepo_c", "--quiet", "--zck", files.path() / "1/x86_64"}});
  }

  // What dnf, with nothing of its own, downloads.
  std::string download(const Place& place) const {
    std::filesystem::create_directories(place.folder / "repositories");
    write_file(place.folder / "repositories/files.repo",
               client_lines("dnf-mirror", {{"cache.example:3128", place.proxy.address()},
                                           {"files.example.com", files.origin.front.authority()}}));
    write_file(place.folder / "dnf.conf",
               "[main]\nplugins=0\nzchunk=1\nreposdir=" + (place.folder / "repositories").string() +
                   "\ncachedir=" + (place.folder / "cache").string() +
                   "\nlogdir=" + place.folder.string() + "\n");
    run_client({{"/usr/bin/dnf", "--quiet", "--assumeyes", "--nogpgcheck", "--releasever=1",
                 "--forcearch=x86_64", "--config=" + (place.folder / "dnf.conf").string(),
                 "--installroot=" + (place.folder / "root").string(), "--downloadonly",
                 "--downloaddir=" + (place.folder / "downloads").string(), "install", "sample"}});
    return scenario::sha256_of(only_file_below(place.folder / "downloads", ".rpm"));
  }

  TemporaryDirectory own;
  FileTree files;
};

TEST_F(DnfRepository, IsReadByDnf) {
  FourFetches four(files.settings("dnf"), {&files.origin.plain},
                   [this] { files.origin.front.stop(); });
  const auto content = scenario::sha256_of(only_file_below(files.path(), ".rpm"));
  const auto sent =
      four.run("dnf", content, [this](const Place& place) { return download(place); });
  EXPECT_GT(sent[0].bytes, kPayload);
  EXPECT_LT(sent[0].bytes, kPayload + kIndexes);
  EXPECT_LT(sent[1].bytes, 1'000U);
  EXPECT_LT(sent[2].bytes, kIndexes);
  EXPECT_EQ(sent[3], Sent());
}

}  // namespace
}  // namespace interop
