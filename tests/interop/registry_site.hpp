// Debian's docker-registry behind a server that wants a token, and a storage that it redirects to
// by signed URLs. The storage answers a request for several ranges by 501, as some do.
#pragma once

#include "tests/interop/four_fetches.hpp"

namespace interop {

class DockerRegistry {
 public:
  DockerRegistry() {
    write_file(directory_ / "settings.yml",
               "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
               "storage: {filesystem: {rootdirectory: " +
                   (directory_ / "files").string() +
                   "}}\n"
                   "http: {addr: " +
                   address() + ", secret: x}\n");
    process_ = std::make_unique<ChildProcess>(
        Command{{"/usr/bin/docker-registry", "serve", directory_ / "settings.yml"}});
    if (!await([this] { return accepts_connections(port_.port()); }))
      throw TimedOut("docker-registry: " + process_->errors());
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_.port()); }

  Response ask(const std::string& method, const std::string& path, const Fields& fields) const {
    Client client(port_.port());
    client.send(origin_form_text(address(), method, path, fields));
    return client.read(method);
  }

 private:
  TemporaryDirectory directory_;
  ReservedPort port_;
  std::unique_ptr<ChildProcess> process_;
};

// An address of loopback of our own: names of images can have no port in their path.
class OwnAddress {
 public:
  std::string text() const {
    return "127.77." + std::to_string(number_.port() / 256) + '.' +
           std::to_string(number_.port() % 256);
  }

 private:
  ReservedPort number_;
};

class RegistrySite {
 public:
  RegistrySite()
      : front_(authority_, "IP:" + name(), plain.port(), Listener(name(), 443)),
        storage_front_(authority_, "IP:127.0.0.1", storage.port()) {
    plain.otherwise([this](const Request& request) { return answer(request); });
    storage.otherwise([this](const Request& request) { return give(request); });
    write_file(directory_ / "ca.pem", authority_.pem());
  }

  // HOST of "HOST/team/app:v1".
  std::string name() const { return address_.text(); }
  json settings() const {
    const auto ca = directory_ / "ca.pem";
    return {{"mirrors",
             {{"recipes", {"oci"}},
              {"hosts", {name(), storage_front_.authority()}},
              {"registry", name()},
              {"ca", {{name(), ca}, {"127.0.0.1", ca}}}}}};
  }
  FourFetches fetches() {
    return {settings(), {&plain, &storage}, [this] { leave(); }};
  }

  DockerRegistry registry;
  ScriptedOrigin plain;
  ScriptedOrigin storage;
  std::uint64_t storage_rate = 0;  // bytes per second and response; 0: as fast as it can

 private:
  void leave() {
    front_.stop();
    storage_front_.stop();
  }

  static Reply pass_on(const Response& response) {
    Reply reply(response.status);
    for (const auto& [field, value] : response.fields) {
      if (field != "Content-Length" && field != "Date") reply.with(field, value);
    }
    const Head head = response;
    return response.body.empty() && head.has("Content-Length")
               ? reply.with("Content-Length", head.field("Content-Length"))
               : reply.body(response.body);
  }

  Reply answer(const Request& request) {
    if (request.path.starts_with("/token?")) {
      return cacheable(R"({"token":"open-sesame","expires_in":300})", "no-store");
    }
    if (request.field("Authorization") != "Bearer open-sesame") {
      return Reply(401, {{"WWW-Authenticate",
                          "Bearer realm=\"https://" + name() + "/token\",service=\"registry\""}});
    }
    if (request.method == "GET" && contains(request.path, "/blobs/")) {
      const auto signature = "?signature=" + std::to_string(++signed_);
      return Reply(307, {{"Location", storage_front_.url(request.path + signature)}});
    }
    return pass_on(
        registry.ask(request.method, request.path, {{"Accept", request.field("Accept")}}));
  }

  Reply give(const Request& request) {
    const bool is_signed = request.method == "GET" && contains(request.path, "?signature=");
    if (!is_signed || request.has("Authorization")) return Reply(403);
    const auto range = request.field("Range");
    if (contains(range, ",")) return Reply(501);
    Fields fields;
    if (!range.empty()) fields.emplace_back("Range", range);
    const auto path = request.path.substr(0, request.path.find('?'));
    return pass_on(registry.ask("GET", path, fields)).slow({}, storage_rate);
  }

  OwnAddress address_;
  TemporaryDirectory directory_;
  Authority authority_;
  TlsFront front_;
  TlsFront storage_front_;
  std::atomic<int> signed_ = 0;
};

}  // namespace interop
