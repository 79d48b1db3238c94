// Clients of container images pull one image through two neighbours: the registry sends it once.
#include "tests/interop/image_folder.hpp"
#include "tests/interop/registry_site.hpp"

namespace interop {
namespace {

constexpr std::size_t kLayer = 5'000'000;  // more than 4 MiB are kept in blocks
constexpr std::size_t kSmall = 20'000;     // manifests and configurations take less
const Sent kNothing;

using Files = std::map<std::string, std::string>;

Files files_of(std::uint32_t seed) {
  return {{"first", noise(kLayer / 2, seed)}, {"second", noise(kLayer / 2, seed + 1)}};
}

// All regular files below a folder, in the order of their names.
std::string contents_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::string all;
  for (const auto& file : files) all += file.filename().string() + read_file(file);
  return scenario::sha256_of(all);
}

std::string content_of(const Files& files) {
  std::string all;
  for (const auto& [name, bytes] : files) all += name + bytes;
  return scenario::sha256_of(all);
}

// "team/app:v1" in a registry, with two layers of which clients compare the second.
struct Images : ::testing::Test {
  Images() { push(ImageFolder("v1", {files_of(10), second}), "team/app:v1"); }

  void push(const ImageFolder& image, const std::string& name) {
    Command copy{{"/usr/bin/skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false",
                  image.name(), "docker://" + site.registry.address() + '/' + name}};
    copy.directory = image.folder();
    run_client(copy);
  }
  std::string image(const std::string& name = "team/app:v1") const {
    return site.name() + '/' + name;
  }
  json manifest() const {
    return json::parse(site.registry
                           .ask("GET", "/v2/team/app/manifests/v1",
                                {{"Accept", "application/vnd.oci.image.manifest.v1+json"}})
                           .body);
  }
  std::string second_layer() const { return manifest().at("layers").at(1).at("digest"); }

  // The settings by which podman and skopeo find the proxy.
  std::string mirror_file(const Place& place) const {
    const auto file = place.folder / "registries.conf";
    write_file(file, client_lines("podman", {{"cache.example:3128", place.proxy.address()},
                                             {"registry.example.com", site.name()}}));
    return file;
  }
  // By tag, with what a registry must be asked again about it.
  static void expect_one_download(const std::array<Sent, 4>& sent) {
    EXPECT_GT(sent[0].bytes, 2 * kLayer);
    EXPECT_LT(sent[0].bytes, 2 * kLayer + kSmall);
    EXPECT_EQ(sent[1], kNothing);
    EXPECT_LE(sent[2].requests, 4U);  // the second asks what the tag names
    EXPECT_LT(sent[2].bytes, kSmall);
    EXPECT_EQ(sent[3], kNothing);
  }

  RegistrySite site;
  const Files second = files_of(20);
};

TEST_F(Images, AreCopiedBySkopeo) {
  auto fetches = site.fetches();
  const auto digest = second_layer().substr(7);
  expect_one_download(fetches.run("skopeo", digest, [&](const Place& place) {
    const auto to = place.folder / "image";
    run_client({{"/usr/bin/skopeo", "--insecure-policy", "--registries-conf", mirror_file(place),
                 "copy", "docker://" + image(), "dir:" + to.string()}});
    return scenario::sha256_of(read_file(to / digest));
  }));
}

// podman with nothing of its own.
struct Podman {
  Podman(std::filesystem::path own, const std::string& driver, const std::string& mirrors = {})
      : folder(std::move(own)),
        root(folder / "root"),
        environment{"CONTAINERS_STORAGE_CONF=" + (folder / "storage.conf").string()} {
    // Parts of layers, where an image allows it.
    write_file(folder / "storage.conf",
               "[storage]\ndriver = \"" + driver + "\"\ngraphroot = \"" + root.string() +
                   "\"\nrunroot = \"" + (folder / "run").string() +
                   "\"\n[storage.options]\npull_options = {enable_partial_images = \"true\"}\n");
    if (!mirrors.empty()) environment.push_back("CONTAINERS_REGISTRIES_CONF=" + mirrors);
  }

  Outcome run(const std::vector<std::string>& more) const {
    Command command{{"/usr/bin/podman"}, environment};
    command.directory = folder;
    command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    return run_client(command);
  }

  std::filesystem::path folder;
  std::filesystem::path root;
  std::vector<std::string> environment;
};

TEST_F(Images, ArePulledByPodman) {
  auto fetches = site.fetches();
  expect_one_download(fetches.run("podman", content_of(second), [&](const Place& place) {
    const Podman podman(place.folder, "vfs", mirror_file(place));
    podman.run({"pull", "--quiet", image()});
    for (const auto& layer : std::filesystem::directory_iterator(podman.root / "vfs/dir")) {
      if (read_file(layer.path() / "first") == second.at("first")) return contents_of(layer.path());
    }
    return std::string("no layer has the file");
  }));
}

// Two versions of an image, of which every second file is the same, in the form that lets podman
// ask for the others alone, by many ranges at once.
struct ChunkedImages : Images {
  ChunkedImages() {
    for (std::uint32_t version = 1; version <= 2; ++version) {
      for (std::uint32_t i = 0; i < kFiles; ++i) {
        const auto seed = i % 2 == 0 ? 1000 + i : 1000 * (version + 1) + i;
        files["file" + std::to_string(1000 + i)] = noise(40'000, seed);
      }
      const auto tag = "v" + std::to_string(version);
      const ImageFolder made(tag, {files});
      const Podman podman(made.folder(), "vfs");
      auto id = podman.run({"pull", "--quiet", made.name()}).output;
      id.pop_back();
      podman.run({"push", "--quiet", "--tls-verify=false", "--compression-format", "zstd:chunked",
                  id, "docker://" + site.registry.address() + "/team/chunked:" + tag});
    }
  }

  static constexpr std::uint32_t kFiles = 128;
  Files files;  // of the second version
};

TEST_F(ChunkedImages, ArePulledInPartsByPodman) {
  auto fetches = site.fetches();
  const auto content = content_of(files);
  const auto sent =
      fetches.run("podman, zstd:chunked", content, [&](const Place& place) -> std::string {
        const Podman podman(place.folder, "overlay", mirror_file(place));
        for (const char* tag : {"v1", "v2"}) {
          const auto pulled = podman.run(
              {"--log-level", "debug", "pull", image(std::string("team/chunked:") + tag)});
          if (!contains(pulled.errors, "Retrieved partial blob")) return pulled.errors;
        }
        for (const auto& layer : std::filesystem::directory_iterator(podman.root / "overlay")) {
          const auto files_of_layer = layer.path() / "diff";
          if (std::filesystem::exists(files_of_layer) && contents_of(files_of_layer) == content)
            return content;
        }
        return "no layer has the files";
      });
  EXPECT_GT(sent[0].bytes, kFiles * 60'000);
  EXPECT_LT(sent[0].bytes, kFiles * 82'000);
  EXPECT_EQ(sent[1], kNothing);
  EXPECT_LT(sent[2].bytes, kSmall);
  EXPECT_EQ(sent[3], kNothing);
  for (const auto& request : site.storage.requests())
    EXPECT_FALSE(contains(request.field("Range"), ","));
}

// containerd with nothing of its own.
class Containerd {
 public:
  explicit Containerd(const std::filesystem::path& folder) : socket_(folder / "socket") {
    write_file(folder / "settings.toml",
               "version = 2\nroot = \"" + (folder / "root").string() + "\"\nstate = \"" +
                   (folder / "state").string() +
                   "\"\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n");
    process_ = std::make_unique<ChildProcess>(
        Command{{"/usr/bin/containerd", "--config", folder / "settings.toml", "--address", socket_,
                 "--log-level", "error"}});
    const auto serves = [this] { return run_to_end(ctr({"version"})).exit_code == 0; };
    if (!await(serves)) throw TimedOut("containerd: " + process_->errors());
  }

  Outcome run(const std::vector<std::string>& more) const { return run_client(ctr(more)); }

 private:
  Command ctr(const std::vector<std::string>& more) const {
    Command command{{"/usr/bin/ctr", "--address", socket_}};
    command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    return command;
  }

  std::string socket_;
  std::unique_ptr<ChildProcess> process_;
};

TEST_F(Images, AreFetchedByContainerd) {
  auto fetches = site.fetches();
  const auto digest = second_layer();
  const auto content = digest.substr(7);
  expect_one_download(fetches.run("containerd", content, [&](const Place& place) {
    const auto hosts = place.folder / "hosts";
    std::filesystem::create_directories(hosts / "_default");
    write_file(hosts / "_default/hosts.toml",
               client_lines("containerd", {{"cache.example:3128", place.proxy.address()}}));
    const Containerd containerd(place.folder);
    containerd.run({"content", "fetch", "--hosts-dir", hosts, image()});
    return scenario::sha256_of(containerd.run({"content", "get", digest}).output);
  }));
}

// As Ollama does: HEAD, a GET that it leaves after the head, and 16 ranges at once.
TEST_F(Images, AreFetchedInRangesAsByOllama) {
  site.storage_rate = 20'000'000;
  auto fetches = site.fetches();
  const auto layer = manifest().at("layers").at(1);
  const auto size = layer.at("size").get<std::size_t>();
  const auto content = second_layer().substr(7);
  const auto sent = fetches.run("curl as Ollama", content, [&](const Place& place) {
    const auto image = "http://" + place.proxy.address() + "/v2/team/app/";
    const auto blob = image + "blobs/" + second_layer();
    const std::vector<std::string> curl{"/usr/bin/curl", "--silent", "--fail"};
    const auto run = [&](std::vector<std::string> more) {
      more.insert(more.begin(), curl.begin(), curl.end());
      return run_to_end({more}).exit_code;
    };
    EXPECT_EQ(
        run({"-H", "Accept: application/vnd.oci.image.manifest.v1+json", image + "manifests/v1"}),
        0);
    EXPECT_EQ(run({"--head", blob}), 0);
    EXPECT_EQ(run({"--max-filesize", "1", blob}), 63);
    return scenario::sha256_of(curl_in_ranges(blob, size, 16));
  });
  EXPECT_GT(sent[0].bytes, kLayer);
  EXPECT_LT(sent[0].bytes, kLayer + 2'500'000) << "what is left after the head is not fetched";
  EXPECT_EQ(sent[1], kNothing);
  EXPECT_LT(sent[2].bytes, kSmall);
  EXPECT_EQ(sent[3], kNothing);
}

}  // namespace
}  // namespace interop
