#include "tests/bench/virtual_mesh/mesh.hpp"

#include <algorithm>

#include "peers/poll.hpp"
#include "proxy/http/date.hpp"

namespace bench {
namespace {

// The members have polled each other by then.
constexpr auto kKnown = 5s;

Time::duration of(double milliseconds) {
  return std::chrono::duration_cast<Time::duration>(
      std::chrono::duration<double, std::milli>(milliseconds));
}

double ms_of(Time::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::uint64_t fingerprint(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t all = 14695981039346656037U;
  for (const auto byte : bytes) all = (all ^ byte) * 1099511628211U;
  return all;
}

}  // namespace

Mesh::Mesh(const Shape& shape)
    : shape_(shape), zipf_(shape.urls, shape.alpha), processors_(shape.processors, kStart) {
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
  add(kStart, {.does = Event::Does::tick});
}

Counts Mesh::run() {
  request_next();
  play_until(Time::max());
  return counts_;
}

AtOnce Mesh::ask_at_once(std::uint32_t objects) {
  play_until(clock_.now + kKnown);
  const auto before = counts_.origin;
  times_ms_.clear();
  const auto now = clock_.now;
  std::vector<std::size_t> order(objects * members_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random_);
  for (const auto i : order)
    add(now, {.does = Event::Does::request,
              .at = &members_[i % members_.size()],
              .url = objects_ + i / members_.size()});
  objects_ += objects;
  while (times_ms_.size() < order.size()) play_until(clock_.now + 1s);
  std::sort(times_ms_.begin(), times_ms_.end());
  return {static_cast<double>(counts_.origin - before) / objects, times_ms_[order.size() / 2]};
}

void Mesh::print_members() const {
  for (const auto& member : members_) {
    fmt::print("p{}: {} entries, {} evicted, {} of them as kept elsewhere; digest {:016x}\n",
               member.number, member.store.entries(), member.store.totals().evicted.load(),
               member.store.totals().duplicates.load(),
               fingerprint(member.publisher.native(0, 0)->body));
  }
}

void Mesh::play_until(Time end) {
  while (!events_.empty() && events_.top().at <= end) {
    const auto next = events_.top();
    events_.pop();
    clock_.now = next.at;
    if (!waits_for_processor(next)) carry_out(next.event);
  }
  if (end != Time::max()) clock_.now = end;
}

// Messages and timers are handled in the order of their arrival, each by the first processor that
// is free.
bool Mesh::waits_for_processor(const Timed& next) {
  const auto does = next.event.does;
  const bool is_prompt =
      does == Event::Does::tick || (does == Event::Does::wait_ends && shape_.late_timers == 0);
  if (shape_.work == 0 || next.event.is_handled || is_prompt) return false;
  auto& free = *std::min_element(processors_.begin(), processors_.end());
  free = std::max(free, next.at) + of(shape_.work);
  auto event = next.event;
  event.is_handled = true;
  add(free, std::move(event));
  return true;
}

void Mesh::carry_out(const Event& event) {
  switch (event.does) {
    case Event::Does::request:
      return request(event);
    case Event::Does::tick:
      return tick();
    case Event::Does::peer_hears:
      return hear_question(event);
    case Event::Does::heartbeat:
      return heartbeat(event);
    case Event::Does::peer_answers:
      return hear_peer(event);
    case Event::Does::origin_hears:
      return add(clock_.now + of(shape_.origin),
                 {.does = Event::Does::origin_answers, .fetch = event.fetch});
    case Event::Does::origin_answers:
      return hear_origin(event.fetch);
    case Event::Does::wait_ends: {
      const auto* const fetch = find(event.fetch);
      if (fetch && fetch->turns == event.turn) go_on(event.fetch);
    }
  }
}

Mesh::Fetch* Mesh::find(std::size_t number) {
  const auto found = fetches_.find(number);
  return found == fetches_.end() ? nullptr : &found->second;
}

void Mesh::request_next() {
  const auto at = kStart + of(1000 * static_cast<double>(counts_.requests) / shape_.rate);
  auto& member = members_[random_() % shape_.proxies];
  add(at, {.does = Event::Does::request, .at = &member, .url = zipf_(random_), .turn = 1});
}

// `turn` of the event: whether another one follows.
void Mesh::request(const Event& event) {
  auto& member = *event.at;
  const auto url = event.url;
  ++counts_.requests;
  if (event.turn > 0 && counts_.requests < shape_.requests)
    request_next();
  else
    is_over_ = event.turn > 0;
  member.placement.record_asked(resources_[url].key);
  if (held(member, url)) {
    ++counts_.local;
    times_ms_.push_back(0);
    return;
  }
  const auto under_way = member.fetches.find(url);
  if (under_way == member.fetches.end()) return begin(member, url, clock_.now);
  ++counts_.joined;
  fetches_.at(under_way->second).clients.push_back(clock_.now);
}

cache::Ref<const cache::Entry> Mesh::held(Member& member, std::size_t url) const {
  const auto& resource = resources_[url];
  auto entry = member.store.find(resource.key, resource.url, request_.head.fields).entry;
  return entry && entry->fresh(wall(clock_.now)) ? entry : nullptr;
}

cache::Ref<const cache::Entry> Mesh::stale(Member& member, std::size_t url) const {
  const auto& resource = resources_[url];
  auto entry = member.store.find(resource.key, resource.url, request_.head.fields).entry;
  return entry && !entry->fresh(wall(clock_.now)) ? entry : nullptr;
}

void Mesh::begin(Member& member, std::size_t url, Time asked) {
  const auto number = ++last_fetch_;
  const auto budget = sources::budget_against(member.origin_takes, config::Prefer::origin_load);
  sources::ChoicePlan plan({.candidates = candidates_for(member, url),
                            .budget = budget,
                            .origin_takes = member.origin_takes,
                            .route = upstream::Route()},
                           member.hedges);
  fetches_.emplace(number, Fetch{member, url, std::move(plan), {asked}});
  member.fetches.emplace(url, number);
  if (const auto old = stale(member, url))
    fetches_.at(number).least_freshness =
        sources::least_freshness(old->freshness().lifetime, old->ttl(wall(clock_.now)));
  auto& begun = fetches_.at(number).plan;
  if (!begun.has_choice()) return ask_origin(number);
  begun.begin(clock_.now);
  go_on(number);
}

sources::Unclaimed Mesh::unclaimed(Member& member, std::size_t url) const {
  const auto prefer = config::Prefer::origin_load;
  const bool is_known =
      stale(member, url) || member.placement.was_asked_before(resources_[url].key);
  return {.key = resources_[url].key,
          .directory = member.directory,
          .fetches = member.site_fetches,
          .ours = member.publisher.epoch(),
          .origin_takes = member.origin_takes,
          .budget = sources::budget_against(member.origin_takes, prefer),
          .prefer = prefer,
          .held = is_known ? sources::Held::stale : sources::Held::nothing,
          .luck = member.luck};
}

sources::Candidates Mesh::candidates_for(Member& member, std::size_t url) {
  const auto asked = unclaimed(member, url);
  auto claimants = member.directory.claimants(asked.key, clock_.now);
  if (claimants.empty()) return sources::Candidates(sources::member_to_ask(asked, {}, clock_.now));
  return {std::move(claimants), asked.budget, clock_.now,
          [this] { return static_cast<std::uint32_t>(random_()); }};
}

void Mesh::go_on(std::size_t number) {
  using Plan = sources::ChoicePlan;
  for (;;) {
    auto& fetch = fetches_.at(number);
    if (fetch.origin_asked != Time()) return;
    auto action = fetch.plan.next(clock_.now);
    if (const auto* const question = std::get_if<Plan::Ask>(&action)) {
      if (!question->question.peer) return ask_origin(number);
      ask(number, question->question);
    } else if (const auto* const next = std::get_if<Plan::AskNextOwner>(&action)) {
      give_up(fetch, next->given_up);
    } else if (const auto* const wait = std::get_if<Plan::Wait>(&action)) {
      ++fetch.turns;
      if (wait->until != Time::max())
        add(wait->until, {.does = Event::Does::wait_ends, .fetch = number, .turn = fetch.turns});
      return;
    } else {
      return ask_origin(number);
    }
  }
}

void Mesh::ask(std::size_t number, const sources::ChoicePlan::Question& question) {
  auto& fetch = fetches_.at(number);
  fetch.asked.push_back(
      {question, Time::max(), false,
       std::make_shared<peers::Asking>(question.peer->accuracy, peers::Trial::no)});
  fetch.awaited = 0;
  auto& member = member_of(fetch.member, question.peer);
  add(clock_.now + of(shape_.neighbour / 2), {.does = Event::Does::peer_hears,
                                              .at = &member,
                                              .fetch = number,
                                              .url = fetch.url,
                                              .question = question});
}

void Mesh::give_up(Fetch& fetch, const peers::PeerRef& member) {
  const auto epoch = fetch.member.directory.epoch_of(member);
  if (epoch && fetch.given_up.size() < peers::SiteQuestion::kMostGivenUp)
    fetch.given_up.push_back(*epoch);
  const auto asked = unclaimed(fetch.member, fetch.url);
  fetch.plan.owner_is(sources::member_to_ask(asked, fetch.given_up, clock_.now));
}

// Nothing else is asked from now on, but a neighbour that was asked before may be faster.
void Mesh::ask_origin(std::size_t number) {
  ++counts_.origin;
  auto& fetch = fetches_.at(number);
  fetch.origin_asked = clock_.now;
  fetch.awaited = 0;
  ++fetch.turns;
  add(clock_.now, {.does = Event::Does::origin_hears, .fetch = number});
}

Member& Mesh::member_of(const Member& asker, const peers::PeerRef& peer) {
  return members_[peer->id < asker.number ? peer->id : peer->id + 1];
}

void Mesh::hear_origin(std::size_t number) {
  auto* const fetch = find(number);
  if (!fetch) return;  // a neighbour was first
  auto& takes = fetch->member.origin_takes;
  takes = takes.with(std::chrono::duration_cast<Micros>(clock_.now - fetch->origin_asked));
  const Aged anew{std::chrono::floor<std::chrono::seconds>(wall(clock_.now))};
  end(number, response_to(*fetch, anew), true);
}

void Mesh::end(std::size_t number, const cache::Ref<const cache::Entry>& response, bool stores) {
  leave_questions(fetches_.at(number));
  auto node = fetches_.extract(number);
  auto& fetch = node.mapped();
  auto& member = fetch.member;
  member.fetches.erase(fetch.url);
  const auto& resource = resources_[fetch.url];
  if (stores) member.store.put(resource.key, {response}, wall(clock_.now));
  for (const auto asked : fetch.clients) times_ms_.push_back(ms_of(clock_.now - asked));
  for (const auto& [waiting, question] : fetch.neighbours)
    send({.does = Event::Does::peer_answers, .fetch = waiting, .question = question},
         {.says = Word::Says::holds, .held = {response->date(), response->age(wall(clock_.now))}});
}

cache::Ref<const cache::Entry> Mesh::response_to(const Fetch& fetch, const Aged& says) {
  auto& budget = fetch.member.budget;
  const cache::Response response(fmt::format("Date: {}\r\nAge: {}\r\nCache-Control: max-age={}\r\n",
                                             http::format_date(says.date), says.age.count(),
                                             shape_.max_age));
  const cache::Times at{wall(clock_.now), wall(clock_.now)};
  const auto entry = cache::Entry::make(
      budget, {resources_[fetch.url].url, request_.head.fields, response.head, at, "virtual"});
  const auto size = shape_.body;
  entry->body = {{{cache::Block::make(budget, size), size}}, size};
  return entry;
}

// Each proxy closes a generation, and polls all others.
void Mesh::tick() {
  for (auto& member : members_) member.publisher.tick(wall(clock_.now));
  for (auto& member : members_) {
    for (const auto& peer : member.directory.peers()) poll(member, peer);
    member.directory.record_use(clock_.now);
  }
  if (!is_over_) add(clock_.now + 1s, {.does = Event::Does::tick});
}

void Mesh::poll(Member& member, const peers::PeerRef& peer) {
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

}  // namespace bench
