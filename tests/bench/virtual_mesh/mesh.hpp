// A mesh in virtual time. Without I/O and without threads.
#pragma once

#include <deque>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/bench/virtual_mesh/member.hpp"
#include "tests/bench/zipf.hpp"

namespace bench {

// What became of new objects that all proxies were asked for at once.
struct AtOnce {
  double each = 0;    // fetches from the origin for each object
  double p50_ms = 0;  // of the requests
};

class Mesh {
 public:
  explicit Mesh(const Shape& shape);

  // Plays all requests of the shape.
  Counts run();
  // Asks all proxies for so many objects at the same time. The objects are those that follow the
  // ones asked for before.
  AtOnce ask_at_once(std::uint32_t objects);
  void print_members() const;

 private:
  struct Resource {
    std::string url;
    digest::Key key;
  };
  struct Asked {
    sources::ChoicePlan::Question question;
    Time next_word_by = Time::max();  // a member that waits itself says so again by then
    bool waits_itself = false;
    std::shared_ptr<peers::Asking> asking = {};  // while it is under way
  };
  // A neighbour that waits for our fetch.
  struct Waiting {
    std::size_t fetch;
    sources::ChoicePlan::Question question;
  };
  // A fetch under way: its plan, the clients that wait for it, and the neighbours.
  struct Fetch {
    Member& member;
    std::size_t url;
    sources::ChoicePlan plan;
    std::vector<Time> clients = {};  // the times of their requests
    std::vector<Waiting> neighbours = {};
    std::vector<Asked> asked = {};
    peers::SiteQuestion::GivenUp given_up = {};
    peers::Epoch awaited = 0;  // the member that waits itself, and that this fetch waits for
    std::uint64_t turns = 0;   // tells a wait that is over
    Time origin_asked = {};    // once it is
    std::chrono::seconds least_freshness{0};  // of a neighbour's copy
  };
  // What a response says of its age. Both are whole seconds, so copies of one response cease to be
  // fresh up to a second apart.
  struct Aged {
    std::chrono::sys_seconds date{};
    std::chrono::seconds age{0};
  };
  // What a neighbour says to a question.
  struct Word {
    enum class Says { holds, waits, has_not } says = Says::has_not;
    peers::Epoch fetcher = 0;  // 0: it names none
    Aged held = {};            // what it holds
  };
  struct Event {
    enum class Does {
      request,
      tick,
      peer_hears,
      heartbeat,
      peer_answers,
      origin_hears,
      origin_answers,
      wait_ends
    } does;
    Member* at = nullptr;  // where it happens
    std::size_t fetch = 0;
    std::size_t url = 0;
    sources::ChoicePlan::Question question = {};
    std::uint64_t turn = 0;
    Word word = {};
    bool is_handled = false;  // a processor was free for it
  };
  struct Timed {
    Time at;
    std::uint64_t number;  // events of one time are carried out in the order of their making
    Event event;
    bool operator<(const Timed& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  void add(Time at, Event event) { events_.push({at, ++made_, std::move(event)}); }
  void play_until(Time end);
  bool waits_for_processor(const Timed& next);
  void carry_out(const Event& event);
  Fetch* find(std::size_t number);

  void request(const Event& event);
  void request_next();
  void begin(Member& member, std::size_t url, Time asked);
  sources::Unclaimed unclaimed(Member& member, std::size_t url) const;
  sources::Candidates candidates_for(Member& member, std::size_t url);
  void go_on(std::size_t number);
  void ask(std::size_t number, const sources::ChoicePlan::Question& question);
  void give_up(Fetch& fetch, const peers::PeerRef& member);
  void ask_origin(std::size_t number);

  Member& member_of(const Member& asker, const peers::PeerRef& peer);
  cache::Ref<const cache::Entry> held(Member& member, std::size_t url) const;
  cache::Ref<const cache::Entry> stale(Member& member, std::size_t url) const;
  void hear_question(const Event& event);
  void send(const Event& asked, Word word);
  Word refusal(Member& member, const Fetch& asker) const;
  void heartbeat(const Event& event);

  void hear_peer(const Event& event);
  void hear_wait(Fetch& fetch, Asked& asked);
  void hear_no(Fetch& fetch, const sources::ChoicePlan::Question& question, const Word& word);
  void take_from(std::size_t number, const sources::ChoicePlan::Question& question,
                 const Word& word);
  void hear_origin(std::size_t number);
  void leave_questions(Fetch& fetch);
  void end(std::size_t number, const cache::Ref<const cache::Entry>& response, bool stores);
  cache::Ref<const cache::Entry> response_to(const Fetch& fetch, const Aged& says);

  void tick();
  void poll(Member& member, const peers::PeerRef& peer);

  const Shape shape_;
  const Zipf zipf_;
  const cache::Request request_;
  Clock clock_;
  std::vector<Resource> resources_;
  std::deque<Member> members_;
  std::mt19937_64 random_{shape_.seed};
  std::priority_queue<Timed> events_;
  std::uint64_t made_ = 0;
  std::vector<Time> processors_;  // when each is free
  std::unordered_map<std::size_t, Fetch> fetches_;
  std::size_t last_fetch_ = 0;
  std::uint32_t objects_ = 0;  // asked for at once so far
  std::vector<double> times_ms_;
  bool is_over_ = false;
  Counts counts_;
};

}  // namespace bench
