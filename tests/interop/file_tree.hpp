// An https server of the files of a folder.
#pragma once

#include "tests/interop/four_fetches.hpp"

namespace interop {

class FileTree {
 public:
  FileTree() {
    origin.plain.otherwise([this](const Request& request) { return answer(request); });
  }

  json settings(const char* recipe) const {
    auto all = origin.settings();
    all["mirrors"]["recipes"] = json::array({recipe});
    return all;
  }
  const std::filesystem::path& path() const { return folder_.path(); }

  scenario::HttpsOrigin origin;

 private:
  Reply answer(const Request& request) const {
    const auto file = folder_ / request.path.substr(1);
    if (!std::filesystem::is_regular_file(file)) return Reply(404).body("no such file");
    const auto bytes = read_file(file);
    const auto tag = '"' + scenario::sha256_of(bytes).substr(0, 16) + '"';
    const Fields fields{{"ETag", tag},
                        {"Last-Modified", "Sat, 01 Jan 2022 00:00:00 GMT"},
                        {"Content-Type", "application/octet-stream"}};
    if (request.field("If-None-Match") == tag) return Reply(304, fields);
    return Reply(200, fields).body(bytes);
  }

  TemporaryDirectory folder_;
};

}  // namespace interop
