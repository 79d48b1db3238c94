// A hub as Hugging Face is one, with two repositories of one model, and its storage, whose URLs are
// signed for GET alone. Mirrored by the recipe "hf".
#pragma once

#include <atomic>
#include <map>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {

inline const std::string kCommit(40, 'a');
inline const std::string kNextCommit(40, 'b');

class Hub {
 public:
  // `model`: the bytes of model.bin.
  explicit Hub(std::string model)
      : storage_front(origin.authority, "IP:127.0.0.1", storage.port()),
        named_(sha256_of(model)),
        bytes_{{named_, std::move(model)}} {
    origin.plain.otherwise([this](const Request& request) { return answer(request); });
    storage.otherwise([this](const Request& request) { return give(request); });
  }

  json settings() const {
    json all = origin.settings({});
    all["mirrors"]["recipes"] = json::array({{{"name", "hub"},
                                              {"like", "hf"},
                                              {"prefix", "/hf/"},
                                              {"to", origin.url("")},
                                              {"follow", {storage_front.authority()}}}});
    all["digest"]["period"] = "100ms";
    return all;
  }
  void move_main(std::string model) {
    named_ = sha256_of(model);
    bytes_[named_] = std::move(model);
    main_ = kNextCommit;
  }
  void leave() {
    origin.front.stop();
    storage_front.stop();
  }
  std::size_t asked(const std::string& method) const {
    std::size_t count = 0;
    for (const auto& request : origin.plain.requests()) count += request.method == method;
    return count;
  }

  HttpsOrigin origin;
  ScriptedOrigin storage;
  TlsFront storage_front;
  std::string tree =
      R"([{"type":"file","oid":"12","size":1.0e3,"xetHash":"ff","path":"model.bin"}])";
  std::size_t cut_after = 0;  // of the next body of the storage; 0: it is not cut

 private:
  std::string commit_of(const Request& request) const {
    return contains(request.path, "/main/") ? main_ : kCommit;
  }

  Reply answer(const Request& request) {
    const auto& path = request.path;
    if (path.starts_with("/api/")) return listing(request);
    const auto commit = commit_of(request);
    if (path.starts_with("/o/gated/") && request.field("Authorization") != "Bearer theirs")
      return Reply(401, {{"X-Error-Code", "GatedRepo"},
                         {"X-Error-Message", "Access to this model is restricted."},
                         {"WWW-Authenticate", "Bearer realm=\"hub\""}})
          .body("Access to this model is restricted.");
    if (contains(request.field("Accept"), "vnd.xet"))
      return Reply(200, {{"Content-Type", "application/vnd.xet-fileinfo+json"}}).body("{}");
    if (path.ends_with("/model.bin")) {
      const auto to = storage_front.url("/lfs/" + named_ + "?sig=" + std::to_string(++signed_));
      return Reply(302, {{"Location", to},
                         {"Vary", "Origin, Accept"},
                         {"X-Repo-Commit", commit},
                         {"X-Linked-Etag", '"' + named_ + '"'},
                         {"X-Linked-Size", std::to_string(bytes_.at(named_).size())},
                         {"X-Xet-Hash", std::string(64, 'f')},
                         {"Link", "<https://cas.test/token>; rel=\"xet-auth\""}})
          .body("Found. Redirecting to the storage");
    }
    if (path.ends_with("/config.json")) {
      return Reply(307, {{"Location", "/api/resolve-cache/" + commit + "/config.json"},
                         {"X-Repo-Commit", commit},
                         {"X-Linked-Etag", "\"9e26dfeeb6e641a33dae4961196235bdb965b21b\""},
                         {"X-Linked-Size", "2"}})
          .body("");
    }
    return Reply(404, {{"X-Error-Code", "EntryNotFound"}, {"X-Repo-Commit", commit}})
        .body("Entry not found");
  }

  Reply listing(const Request& request) const {
    if (contains(request.path, "resolve-cache"))
      return part_of("{}", request)
          .with("ETag", "\"9e26dfeeb6e641a33dae4961196235bdb965b21b\"")
          .with("Content-Type", "text/plain")
          .with("X-Repo-Commit", commit_of(request));
    if (contains(request.field("Accept-Encoding"), "gzip"))
      return Reply(200, {{"Content-Encoding", "gzip"}, {"Content-Type", "application/json"}})
          .body("coded");
    const Fields fields{{"Content-Type", "application/json; charset=utf-8"},
                        {"ETag", "W/\"2b-tree\""}};
    if (contains(request.path, "cursor=2")) return Reply(200, fields).body("[]");
    const auto next = origin.url("/api/models/o/r/tree/" + kCommit + "?cursor=2");
    return Reply(200, fields).with("Link", "<" + next + ">; rel=\"next\"").body(tree);
  }

  Reply give(const Request& request) {
    if (request.method != "GET") return Reply(403).body("signed for GET");
    const auto& body = bytes_.at(request.path.substr(5, 64));
    const auto cut = std::exchange(cut_after, 0);
    auto reply = part_of(body, request, cut == 0 ? body.size() : cut);
    return reply.with("ETag", "\"of the storage\"").with("Accept-Ranges", "bytes");
  }

  // The range that is asked for, at most `most` bytes of it. A condition is never of the hub's tag,
  // so that the whole is sent in place of the range.
  static Reply part_of(const std::string& body, const Request& request,
                       std::size_t most = 1U << 31) {
    const bool is_whole = !request.has("Range") || request.has("If-Range");
    std::size_t first = 0;
    std::size_t last = body.size() - 1;
    if (!is_whole) {
      const auto range = request.field("Range").substr(6);
      const auto dash = range.find('-');
      first = std::stoul(range.substr(0, dash));
      if (dash + 1 < range.size()) last = std::min(last, std::stoul(range.substr(dash + 1)));
    }
    const auto part = body.substr(first, last - first + 1);
    Reply reply(is_whole ? 200 : 206);
    if (!is_whole) {
      reply.with("Content-Range", "bytes " + std::to_string(first) + '-' + std::to_string(last) +
                                      '/' + std::to_string(body.size()));
    }
    if (most >= part.size()) return reply.body(part);
    return reply.sized(part.size()).send(part.substr(0, most)).cut();
  }

  std::string named_;
  std::map<std::string, std::string> bytes_;
  std::string main_ = kCommit;
  std::atomic<int> signed_ = 0;
};

}  // namespace scenario
