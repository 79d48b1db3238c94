// A mesh in virtual time, of the real parts that decide: store and its eviction, placement, digests
// and their deltas, directories, and the plan whom to ask. Without I/O and without threads. The
// same seed plays the same requests, to the last byte of the output.
#include <fmt/core.h>

#include <deque>
#include <queue>
#include <random>
#include <tuple>

#include "digest/keyed_hash.hpp"
#include "peers/poll.hpp"
#include "tests/bench/arguments.hpp"
#include "tests/bench/virtual_mesh/member.hpp"
#include "tests/bench/zipf.hpp"

namespace bench {
namespace {

class Mesh {
 public:
  explicit Mesh(const Shape& shape) : shape_(shape), zipf_(shape.urls, shape.alpha) {
    for (std::uint32_t i = 0; i < shape.urls; ++i) {
      auto url = fmt::format("http://example.com/{}", i);
      const auto key = cache::key_of(url);
      resources_.push_back({std::move(url), key});
    }
    for (std::uint32_t i = 0; i < shape.proxies; ++i) {
      members_.emplace_back(
          shape, i, clock_,
          [seeded = std::mt19937_64(shape.seed * 1000 + i)]() mutable { return seeded(); });
    }
  }

  Counts run() {
    add(kStart, {.does = Event::Does::tick});
    add(kStart, {.does = Event::Does::request});
    while (!events_.empty()) {
      const auto next = events_.top();
      events_.pop();
      clock_.now = next.at;
      carry_out(next.event);
    }
    return counts_;
  }

  void print_members() const {
    for (const auto& member : members_) {
      fmt::print("p{}: {} entries, {} evicted, {} of them as kept elsewhere; digest {:016x}\n",
                 member.number, member.store.entries(), member.store.totals().evicted.load(),
                 member.store.totals().duplicates.load(),
                 fingerprint(member.publisher.native(0, 0)->body));
    }
  }

 private:
  struct Resource {
    std::string url;
    digest::Key key;
  };

  // A fetch under way: its plan, and how many requests wait for it, of clients and neighbours.
  struct Fetch {
    Member& member;
    std::size_t url;
    sources::ChoicePlan plan;
    std::uint64_t clients = 1;
    std::vector<std::pair<std::size_t, sources::ChoicePlan::Question>> neighbours = {};
    std::uint64_t turns = 0;  // tells a wait that is over
  };

  struct Event {
    enum class Does { request, tick, peer_answers, origin_answers, wait_ends } does;
    std::size_t fetch = 0;
    sources::ChoicePlan::Question question = {};
    std::uint64_t turn = 0;
  };
  struct Timed {
    Time at;
    std::uint64_t number;  // events of one time are carried out in the order of their making
    Event event;
    bool operator<(const Timed& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  static std::uint64_t fingerprint(const std::vector<std::uint8_t>& bytes) {
    std::uint64_t all = 14695981039346656037U;
    for (const auto byte : bytes) all = (all ^ byte) * 1099511628211U;
    return all;
  }

  static Time::duration of(double milliseconds) {
    return std::chrono::duration_cast<Time::duration>(
        std::chrono::duration<double, std::milli>(milliseconds));
  }

  void add(Time at, Event event) { events_.push({at, ++made_, std::move(event)}); }

  void carry_out(const Event& event) {
    switch (event.does) {
      case Event::Does::request:
        return request();
      case Event::Does::tick:
        return tick();
      case Event::Does::peer_answers:
        return hear_peer(event.fetch, event.question);
      case Event::Does::origin_answers:
        return hear_origin(event.fetch);
      case Event::Does::wait_ends: {
        const auto found = fetches_.find(event.fetch);
        if (found != fetches_.end() && found->second.turns == event.turn) go_on(event.fetch);
      }
    }
  }

  void request() {
    auto& member = members_[random_() % shape_.proxies];
    const auto url = zipf_(random_);
    if (++counts_.requests < shape_.requests) {
      const auto next = kStart + of(1000 * static_cast<double>(counts_.requests) / shape_.rate);
      add(next, {.does = Event::Does::request});
    } else {
      is_over_ = true;
    }
    member.placement.record_asked(resources_[url].key);
    if (holds(member, url)) {
      ++counts_.local;
      return;
    }
    const auto under_way = member.fetches.find(url);
    if (under_way != member.fetches.end()) {
      ++counts_.joined;
      return;
    }
    begin(member, url);
  }

  bool holds(Member& member, std::size_t url) const {
    const auto& resource = resources_[url];
    return !!member.store.find(resource.key, resource.url, request_.head.fields).entry;
  }

  void begin(Member& member, std::size_t url) {
    const auto number = ++last_fetch_;
    const auto budget = sources::budget_against(member.origin_takes, config::Prefer::origin_load);
    fetches_.emplace(number,
                     Fetch{member, url,
                           sources::ChoicePlan({.candidates = candidates_for(member, url, budget),
                                                .budget = budget,
                                                .origin_takes = member.origin_takes,
                                                .route = upstream::Route()},
                                               member.hedges)});
    member.fetches.emplace(url, number);
    auto& plan = fetches_.at(number).plan;
    if (!plan.has_choice()) return ask_origin(number);
    plan.begin(clock_.now);
    go_on(number);
  }

  // As candidates_for() in sources/claimant_search.cpp.
  sources::Candidates candidates_for(Member& member, std::size_t url,
                                     const sources::Budget& budget) {
    const auto& key = resources_[url].key;
    auto claimants = member.directory.claimants(key, clock_.now);
    if (!claimants.empty()) {
      return {std::move(claimants), budget, clock_.now,
              [this] { return static_cast<std::uint32_t>(random_()); }};
    }
    const auto ours = member.publisher.epoch();
    auto owner = member.directory.owner(key, ours, clock_.now);
    if (!owner) {
      const auto fetcher = member.site_fetches.fetcher_of(key, clock_.now);
      if (fetcher) owner = member.directory.member(*fetcher, clock_.now);
    }
    const bool pays =
        owner && sources::site_pays(member.origin_takes, owner->accuracy.first_byte(),
                                    config::Prefer::origin_load, sources::Held::nothing);
    return sources::Candidates(pays ? std::move(owner) : nullptr);
  }

  void go_on(std::size_t number) {
    for (;;) {
      auto& fetch = fetches_.at(number);
      auto action = fetch.plan.next(clock_.now);
      if (const auto* const ask = std::get_if<sources::ChoicePlan::Ask>(&action)) {
        if (!ask->question.peer) return ask_origin(number);
        add(clock_.now + of(shape_.neighbour),
            {.does = Event::Does::peer_answers, .fetch = number, .question = ask->question});
        continue;
      }
      if (const auto* const wait = std::get_if<sources::ChoicePlan::Wait>(&action)) {
        if (wait->until != Time::max()) {
          add(wait->until,
              {.does = Event::Does::wait_ends, .fetch = number, .turn = ++fetch.turns});
        }
        return;
      }
      return ask_origin(number);
    }
  }

  // Nothing else is asked from now on, but a neighbour that was asked before may be faster.
  void ask_origin(std::size_t number) {
    ++counts_.origin;
    ++fetches_.at(number).turns;
    add(clock_.now + of(shape_.origin), {.does = Event::Does::origin_answers, .fetch = number});
  }

  Member& member_of(const Member& asker, const peers::PeerRef& peer) {
    return members_[peer->id < asker.number ? peer->id : peer->id + 1];
  }

  void hear_peer(std::size_t number, const sources::ChoicePlan::Question& question) {
    const auto found = fetches_.find(number);
    if (found == fetches_.end()) return;  // another source was first
    auto& fetch = found->second;
    auto& sibling = member_of(fetch.member, question.peer);
    if (holds(sibling, fetch.url)) return take_from(number, question);
    const auto fetches = sibling.fetches.find(fetch.url);
    if (fetches != sibling.fetches.end() && fetches_.at(fetches->second).neighbours.size() < 64) {
      fetches_.at(fetches->second).neighbours.emplace_back(number, question);
      fetch.plan.peer_waits_itself(question.number, sources::Repeats::no, clock_.now);
      return go_on(number);
    }
    say_no(fetch, sibling, question);
    go_on(number);
  }

  // The sibling has nothing. A key's owner remembers who asks, and names who asked before.
  void say_no(Fetch& fetch, Member& sibling, const sources::ChoicePlan::Question& question) {
    const auto& key = resources_[fetch.url].key;
    auto& directory = fetch.member.directory;
    const Micros took(static_cast<std::int64_t>(1000 * shape_.neighbour));
    if (fetch.plan.given().candidates.lead() == sources::Lead::claim) {
      ++counts_.false_claims;
      directory.record(question.peer,
                       {peers::ClaimOutcome::false_hit, took, 0, peers::FalseHit::gone},
                       clock_.now);
      directory.record_denial(question.peer, key, question.asked);
    } else {
      directory.record(question.peer, {peers::ClaimOutcome::unclaimed_no, took, 0}, clock_.now);
      const auto ours = fetch.member.publisher.epoch();
      const auto fetcher = sibling.site_fetches.enter(key, ours, clock_.now);
      auto named = fetcher == ours ? nullptr : directory.member(fetcher, clock_.now);
      if (named) fetch.plan.fetcher_named(question.number, std::move(named));
    }
    fetch.plan.peer_has_not(question.number, sources::ChoicePlan::No::said, clock_.now);
  }

  void take_from(std::size_t number, const sources::ChoicePlan::Question& question) {
    auto& fetch = fetches_.at(number);
    auto& member = fetch.member;
    const auto took = std::chrono::duration_cast<Micros>(clock_.now - question.asked);
    const bool claimed = fetch.plan.given().candidates.lead() == sources::Lead::claim;
    member.directory.record(
        question.peer,
        {claimed ? peers::ClaimOutcome::true_hit : peers::ClaimOutcome::unclaimed_hit, took,
         shape_.body},
        clock_.now);
    ++counts_.neighbours;
    const auto& key = resources_[fetch.url].key;
    const tiers::Offer offer{
        .takes = question.peer->accuracy.first_byte(), .took = {}, .length = shape_.body};
    const bool is_left = member.placement.leaves_there(config::Duplicates::second, key, offer);
    end(number, !is_left);
  }

  void hear_origin(std::size_t number) {
    const auto found = fetches_.find(number);
    if (found == fetches_.end()) return;  // a neighbour was first
    auto& takes = found->second.member.origin_takes;
    takes = takes.with(Micros(static_cast<std::int64_t>(1000 * shape_.origin)));
    end(number, true);
  }

  void end(std::size_t number, bool stores) {
    auto node = fetches_.extract(number);
    auto& fetch = node.mapped();
    fetch.member.fetches.erase(fetch.url);
    const auto& resource = resources_[fetch.url];
    if (stores) {
      fetch.member.store.put(resource.key, {response_to(fetch.member.budget, resource)},
                             wall(clock_.now));
    }
    for (const auto& [waiting, question] : fetch.neighbours)
      if (fetches_.contains(waiting)) take_from(waiting, question);
  }

  cache::Ref<const cache::Entry> response_to(cache::Budget& budget, const Resource& resource) {
    const cache::Times at{wall(clock_.now), wall(clock_.now)};
    const auto entry = cache::Entry::make(
        budget, {resource.url, request_.head.fields, response_.head, at, "virtual"});
    const auto size = shape_.body;
    entry->body = {{{cache::Block::make(budget, size), size}}, size};
    return entry;
  }

  // Each proxy closes a generation, and polls all others.
  void tick() {
    for (auto& member : members_) member.publisher.tick(wall(clock_.now));
    for (auto& member : members_) {
      for (const auto& peer : member.directory.peers()) poll(member, peer);
      member.directory.record_use(clock_.now);
    }
    if (!is_over_) add(clock_.now + 1s, {.does = Event::Does::tick});
  }

  void poll(Member& member, const peers::PeerRef& peer) {
    auto report = member.directory.report(peer->id);
    const auto& publisher = member_of(member, peer).publisher;
    const auto base = report.claims.native;
    const auto form = publisher.native(base ? base->epoch : 0, base ? base->generation : 0);
    const bool unchanged = form->etag == report.etag;
    peers::PollRequest request{.known = report.kind,
                               .conditional = !report.etag.empty(),
                               .base = base,
                               .room = std::size_t{1} << 30};
    peers::PollResponse response;
    response.status = unchanged ? 304 : 200;
    response.server = "Hearsay/virtual";
    response.epochs = publisher.epochs();
    response.etag = form->etag;
    if (!unchanged) response.body = form->body;
    ++counts_.polls;
    counts_.polled_bytes += response.body.size();
    const auto result = peers::read_poll(request, response);
    peers::enter(report, result, clock_.now);
    if (result.outcome == peers::Polled::failed) ++counts_.failed_polls;
    member.directory.update(peer->id, std::move(report));
  }

  const Shape shape_;
  const bench::Zipf zipf_;
  const cache::Request request_;
  const cache::Response response_{"Cache-Control: max-age=86400\r\n"};
  Clock clock_;
  std::vector<Resource> resources_;
  std::deque<Member> members_;
  std::mt19937_64 random_{shape_.seed};
  std::priority_queue<Timed> events_;
  std::uint64_t made_ = 0;
  std::unordered_map<std::size_t, Fetch> fetches_;
  std::size_t last_fetch_ = 0;
  bool is_over_ = false;
  Counts counts_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Shape shape;
  const auto exit_code =
      bench::parse(argc, argv, "a mesh in virtual time, of the real parts that decide",
                   {
                       {"--proxies", &shape.proxies, "at most 64"},
                       {"--urls", &shape.urls},
                       {"--requests", &shape.requests, "of all clients"},
                       {"--rate", &shape.rate, "requests per second, all proxies together"},
                       {"--alpha", &shape.alpha, "the exponent of Zipf's law"},
                       {"--seed", &shape.seed},
                       {"--memory", &shape.memory, "MiB of each proxy"},
                       {"--body", &shape.body, "bytes of each response"},
                       {"--origin", &shape.origin, "milliseconds to its first byte"},
                       {"--neighbour", &shape.neighbour, "milliseconds to the first byte of a hit"},
                   });
  if (exit_code) return *exit_code;
  const digest::RandomWords seeded = std::mt19937_64(shape.seed);
  (void)digest::process_salt(&seeded);
  bench::Mesh mesh(shape);
  const auto counts = mesh.run();
  const auto share = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(counts.requests);
  };
  fmt::print("{} requests: origin {:.4f}, local {:.4f}, neighbours {:.4f}, joined {:.4f}\n",
             counts.requests, share(counts.origin), share(counts.local), share(counts.neighbours),
             share(counts.joined));
  fmt::print("{} false claims; {} polls, {} of them failed, {} bytes\n", counts.false_claims,
             counts.polls, counts.failed_polls, counts.polled_bytes);
  mesh.print_members();
  return counts.failed_polls == 0 ? 0 : 1;
}
