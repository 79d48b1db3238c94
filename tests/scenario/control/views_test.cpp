// `hearsay peers`, `origins`, `top` and `purge` on a running proxy.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/scenario/control/steered.hpp"

namespace scenario {
namespace {

TEST(PeersCommand, ListsEachNeighbour) {
  const Steered other;
  const Steered scene(with_peer("b", other.proxy.port()));
  EXPECT_TRUE(await([&] { return contains(scene.steer("peers").output, "usable"); }));
  const Outcome outcome = scene.steer("peers");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.output.starts_with("PEER  ROLE ")) << outcome.output;
  EXPECT_EQ(json::parse(scene.steer("peers", {"--json"}).output).at("peers").size(), 1U);
}

TEST(OriginsCommand, ListsOriginsAndTheRequestsThatWait) {
  Steered scene;
  ScriptedOrigin origin;
  Gate gate;
  origin.on("/quick", Reply().body("12345"));
  origin.on("/silent", Reply().wait(gate));
  Client client(scene.proxy.port());
  client.get(origin.url("/quick"));
  client.send(request_text("GET", origin.url("/silent")));
  EXPECT_TRUE(await(
      [&] { return contains(scene.steer("origins").output, "GET " + origin.url("/silent")); }));
  const auto name = "http://127.0.0.1:" + std::to_string(origin.port());
  const json page = json::parse(scene.steer("origins", {"--json"}).output);
  EXPECT_EQ(page.at("waiting"), 1);
  EXPECT_EQ(page.at("under_way").at(0).at("waits_for"), "first-byte");
  EXPECT_EQ(page.at("under_way").at(0).at("server"), name);
  EXPECT_EQ(page.at("origins").at(0).at("origin"), name);
  EXPECT_EQ(page.at("origins").at(0).at("requests"), 2);
  EXPECT_EQ(page.at("origins").at(0).at("bytes"), 5);
  gate.open();
  EXPECT_EQ(client.read("GET").status, 200);
  EXPECT_EQ(json::parse(scene.steer("origins", {"--json"}).output).at("waiting"), 0);
  const Outcome own = scene.steer("origins", {"--url", "http://127.0.0.1:1"});
  EXPECT_EQ(own.exit_code, 2) << "one place alone";
}

TEST(TopCommand, ShowsOneSecondWhereStdoutIsNoTerminal) {
  const Steered scene;
  const Outcome outcome = scene.steer("top");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with("requests ")) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "\x1b")) << "a pipe gets no codes for a terminal";
  const Outcome once = scene.steer("top", {"--once", "--json"});
  const json second = json::parse(once.output);
  EXPECT_EQ(second.at("requests_per_second"), 0) << "but its own";
  EXPECT_EQ(second.at("to_clients_bytes_per_second"), 0) << "but its own";
}

TEST(TopCommand, GoesOnAsJsonUntilItIsInterrupted) {
  const Steered scene;
  ChildProcess top({{hearsay_program(), "top", "--json", "--socket", scene.socket().string()}});
  ASSERT_TRUE(await([&] {
    const auto said = top.output();
    return std::count(said.begin(), said.end(), '\n') >= 2;
  }));
  top.signal(SIGINT);
  EXPECT_EQ(top.wait(), 0);
}

TEST(PurgeCommand, DropsAUrlAPrefixOrAHost) {
  Steered scene;
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("a"); });
  Client client(scene.proxy.port());
  const auto ask = [&](const std::string& path) { return client.get(origin.url(path)); };
  ask("/a");
  EXPECT_TRUE(is_hit(ask("/a")));
  EXPECT_EQ(scene.steer("purge", {origin.url("/a")}).output, "dropped 1 response\n");
  EXPECT_EQ(scene.steer("purge", {origin.url("/a")}).exit_code, 1) << "nothing is left";
  EXPECT_FALSE(is_hit(ask("/a")));
  EXPECT_EQ(scene.steer("purge", {"--prefix", origin.url("/")}).exit_code, 0);
  EXPECT_FALSE(is_hit(ask("/a")));
  EXPECT_EQ(scene.steer("purge", {"--host", "127.0.0.1"}).exit_code, 0);
  EXPECT_FALSE(is_hit(ask("/a")));
  const Outcome wrong = scene.steer("purge", {"--prefix", "nonsense"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.errors, "expected a URL")) << wrong.errors;
  EXPECT_EQ(scene.steer("purge").exit_code, 2);
  EXPECT_EQ(scene.steer("purge", {"--host", "a", "--prefix", "b"}).exit_code, 2);
}

}  // namespace
}  // namespace scenario
