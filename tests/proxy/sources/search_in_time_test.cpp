// Searches with connections to real sockets, in virtual time: whom the search asks after how many
// milliseconds, whom it leaves, and whose answer it has.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>

#include "proxy/net/wakeup.hpp"
#include "tests/proxy/sources/search_scene.hpp"
#include "tests/support/socket.hpp"

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;
using ms = std::chrono::milliseconds;

enum class Does { has, has_not, hangs_up, is_silent };

struct Source {
  Does does = Does::is_silent;
  ms after = 1ms;  // the question
};

struct Row {
  const char* claim;
  Source b = {};
  Source c = {};
  std::string expected = {};
  Source origin = {Does::has, 80ms};
  ms origin_known = 80ms;  // its time to the first byte so far
  ms c_known = 10ms;       // more than that of b, which therefore comes first
  config::Prefer prefer = config::Prefer::origin_load;
  bool origin_may_be_asked = true;
  ms abandoned_at = 1h;
  void (*before)(SearchScene&) = [](SearchScene&) {};
};

bool has_input(int descriptor) {
  pollfd asked{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, 0) == 1;
}

// A source on 127.0.0.1, which is asked once.
struct Server {
  std::string name;
  Source source;
  std::string epoch;  // that proves who it is
  support::Listener listener{};
  std::optional<support::Socket> asker{};
  std::optional<peers::SteadyTime> answers_at{};

  void accept(peers::SteadyTime now) {
    asker = listener.accept();
    asker->read_some();
    if (source.does != Does::is_silent) answers_at = now + source.after;
  }
  void answer() {
    answers_at.reset();
    if (source.does == Does::hangs_up) return asker->shut_down();
    const bool has = source.does == Does::has;
    asker->write(std::string("HTTP/1.1 ") + (has ? "200 OK" : "504 No") +
                 "\r\nHearsay-Epoch: " + epoch + "\r\nContent-Length: " + (has ? "2" : "0") +
                 "\r\n\r\n" + (has ? "ok" : ""));
  }
};

class Play {
 public:
  explicit Play(const Row& row) : row_(row) {
    net::Wakeup::follow(scene_.io, scene_.clock);
    scene_.poll(0, true, 0xb);
    scene_.poll(1, true, 0xc);
    scene_.know(0, 2ms);
    scene_.know(1, row.c_known);
    scene_.know_origin(row.origin_known);
    row.before(scene_);
    inquiries_.listed = true;
  }

  // "0 ask b; 10 ask c; 12 c has; b outrun".
  std::string told() {
    auto wanted = scene_.wanted();
    if (row_.origin_may_be_asked) {
      wanted.origin = [this](const upstream::Route& route) {
        const auto& request = *scene_.request;
        auto head = origin_request(request, "us", {cache::Action::fetch, http::Forward::uri_miss});
        return Attempt(scene_.sources, origin_plan(request, std::move(head), route), request);
      };
    }
    ClaimantSearch search(scene_.sources, std::move(wanted), inquiries_);
    net::spawn(scene_.io.get_executor(), find(search));
    for (auto at = 0ms; !found_ && at < 5s; at += 1ms) {
      if (at == row_.abandoned_at) search.abandon();
      while (run() || serve()) {
      }
      if (!found_) pass();
    }
    for (const auto& one : inquiries_.list) tell(one.source + " " + std::string(one.result));
    // The questions that were left end with their connections, before what they refer to.
    servers_ = {};
    while (run()) {
    }
    return told_;
  }

 private:
  static config::Settings settings_of(const std::array<Server, 3>& servers, const Row& row) {
    config::Settings settings;
    settings.access.deny_to.clear();
    settings.access.deny_to_self = false;
    settings.digest.prefer = row.prefer;
    for (const std::size_t i : {0U, 1U})
      settings.peers.push_back(peers::samples::peer(servers[i].name, servers[i].listener.port()));
    return settings;
  }

  void tell(const std::string& what) { told_ += (told_.empty() ? "" : "; ") + what; }
  void tell_now(const std::string& what) {
    const auto at = std::chrono::duration_cast<ms>(scene_.now() - began_);
    tell(std::to_string(at.count()) + " " + what);
  }

  net::Task<void> find(ClaimantSearch& search) {
    const auto answer = co_await search.next();
    const std::string from = !answer ? "nobody" : answer->peer() ? answer->peer()->name : "origin";
    tell_now(from + (!answer ? "" : answer->outcome() ? " has" : " fails"));
    search.settle();
    found_ = true;
  }

  // Runs what is ready. Returns whether anything was. A connection that is being opened belongs to
  // that: the kernel opens it at once, but a busy machine may be late to say so.
  bool run() {
    scene_.io.restart();
    bool any = scene_.io.poll() > 0;
    const auto opens = [&] {
      const auto waits = scene_.upstream.traffic.waits(9).longest;
      return std::any_of(waits.begin(), waits.end(),
                         [](const auto& one) { return one.what == upstream::Awaited::connection; });
    };
    while (opens()) any = scene_.io.run_one_for(20s) > 0;
    return any;
  }
  // One server does one thing: the search goes on before the next one looks. Returns whether any
  // did.
  bool serve() {
    for (auto& server : servers_) {
      if (!server.asker && has_input(server.listener.descriptor())) {
        server.accept(scene_.now());
        tell_now("ask " + server.name);
        return true;
      }
      if (server.answers_at && *server.answers_at <= scene_.now()) {
        server.answer();
        return scene_.io.run_one_for(20s) > 0;
      }
    }
    return false;
  }
  void pass() {
    scene_.clock.pass(1ms);
    net::Wakeup::look(scene_.io);
    scene_.deadlines.tick();
  }

  const Row& row_;
  std::array<Server, 3> servers_{Server{"b", row_.b, peers::to_text(peers::Epoch{0xb})},
                                 Server{"c", row_.c, peers::to_text(peers::Epoch{0xc})},
                                 Server{"origin", row_.origin, "-"}};
  SearchScene scene_{settings_of(servers_, row_),
                     "http://127.0.0.1:" + std::to_string(servers_[2].listener.port()) + "/x"};
  const peers::SteadyTime began_ = scene_.now();
  observe::Inquiries inquiries_;
  std::string told_;
  bool found_ = false;
};

void play(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.claim);
    EXPECT_EQ(Play(row).told(), row.expected);
  }
}

TEST(SearchInTime, AsksTheNextSourceWhileOneIsSilent) {
  play({
      {.claim = "b has it", .b = {Does::has, 2ms}, .expected = "0 ask b; 2 b has"},
      {.claim = "the next claimant is faster",
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 10 ask c; 12 c has; b outrun"},
      {.claim = "of two that race, the first to answer wins",
       .b = {Does::has, 14ms},
       .c = {Does::has, 8ms},
       .expected = "0 ask b; 10 ask c; 14 b has; c not-awaited"},
      {.claim = "both are silent: the origin is asked",
       .expected = "0 ask b; 10 ask c; 21 ask origin; 101 origin has; b outrun; c outrun"},
      {.claim = "no second question is left: the silent one is left first",
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 10 ask c; 12 c has; b outrun",
       .before =
           [](SearchScene& scene) {
             while (scene.sources.hedges.take()) {
             }
           }},
      {.claim = "b is on probation: one request tries it, and asks c at once",
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 0 ask c; 2 c has; b not-awaited",
       .before =
           [](SearchScene& scene) {
             scene.peer(0)->accuracy.record({peers::ClaimOutcome::broken}, scene.now() - 1h);
           }},
  });
}

TEST(SearchInTime, WaitsForOneThatIsSilentAsLongAsItMay) {
  play({
      {.claim = "the origin is so near that c would be too slow",
       .expected = "0 ask b; 10 ask origin; 12 origin has; b outrun",
       .origin = {Does::has, 2ms},
       .origin_known = 2ms},
      {.claim = "neighbours are preferred: until the time-out for the first byte",
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 1088 ask c; 1090 c has; b slow",
       .prefer = config::Prefer::neighbours},
      {.claim = "the caller has another source, and waits only as long as the budget allows",
       .expected = "0 ask b; 10 ask c; 21 nobody; b outrun; c outrun",
       .origin_may_be_asked = false},
      {.claim = "nobody waits any more",
       .expected = "0 ask b; 5 nobody; b not-awaited",
       .abandoned_at = 5ms},
  });
}

TEST(SearchInTime, GoesOnAtOnceWhenASourceFails) {
  play({
      {.claim = "b says no",
       .b = {Does::has_not, 1ms},
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 1 ask c; 3 c has; b false-hit"},
      {.claim = "b says no while c is asked, too",
       .b = {Does::has_not, 12ms},
       .c = {Does::has, 5ms},
       .expected = "0 ask b; 10 ask c; 12 ask origin; 15 c has; b false-hit; origin not-awaited"},
      {.claim = "b breaks off",
       .b = {Does::hangs_up, 1ms},
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 1 ask c; 3 c has; b broken"},
      {.claim = "the origin fails: one that is too slow is asked after all",
       .b = {Does::has_not, 1ms},
       .c = {Does::has, 2ms},
       .expected = "0 ask b; 1 ask origin; 4 ask c; 6 c has; b false-hit",
       .origin = {Does::hangs_up, 3ms},
       .c_known = 400ms},
      {.claim = "all neighbours fail: the search ends, and its caller asks the origin",
       .b = {Does::has_not, 1ms},
       .c = {Does::hangs_up, 1ms},
       .expected = "0 ask b; 1 ask c; 2 nobody; b false-hit; c broken"},
  });
}

}  // namespace
}  // namespace proxy::sources
