#include "tests/fuzz/proxy/world.hpp"

#include <array>

#include "proxy/server/accept.hpp"
#include "tests/fuzz/take_line.hpp"

namespace fuzz {
namespace {

namespace net = proxy::net;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kLongestSettling{20};

config::PeerSettings neighbour(const char* name, const char* host) {
  config::PeerSettings peer;
  peer.name = name;
  peer.host = host;
  peer.port = 3128;
  peer.url = "http://" + peer.host + ":3128";
  return peer;
}

config::Reverse reverse(bool share) {
  config::Reverse all;
  all.host = "*";
  all.to = {{false, "192.0.2.1", 80}, {false, "192.0.2.2", 80}};
  all.share = share;
  return all;
}

std::vector<config::RuleSettings> rules() {
  config::RuleSettings aged, kept_out;
  aged.name = "aged";
  aged.host.host = "192.0.2.8";
  aged.min_fresh = seconds(60);
  aged.max_fresh = seconds(600);
  aged.ignore_client_no_cache = true;
  aged.drop_query = {"utm_*", "id"};
  kept_out.name = "kept-out";
  kept_out.host.host = "192.0.2.9";
  kept_out.never_store = true;
  return {aged, kept_out};
}

// Recipes of ours, and two tables whose servers need no TLS: one for paths below /hub/, one of the
// servers that a query may name.
config::MirrorSettings recipes() {
  using Kind = config::ResponseClass;
  const auto row = [](const char* name, const char* pattern, Kind kind) {
    config::RuleSettings rule;
    rule.name = name;
    rule.host.host = "*";
    rule.by_pattern = config::PatternRule{.pattern = pattern, .kind = kind};
    return rule;
  };
  auto tags = row("tags", "/**/tags/*", Kind::fresh);
  tags.min_fresh = seconds(60);
  tags.negative = seconds(10);
  config::RecipeSettings hub{.name = "hub", .prefix = "/hub/", .to = "http://192.0.2.7"};
  hub.hosts = {{"192.0.2.7", std::nullopt}};
  hub.follow = {{"192.0.2.8", std::nullopt}};
  hub.rules = {row("blobs", "/**/blobs/{sha256}", Kind::immutable), tags,
               row("names", "/**/names/**?*", Kind::revalidate)};
  config::RecipeSettings updates{.name = "updates", .hosts = {{"192.0.2.9", std::nullopt}}};
  updates.like = "windows";
  config::MirrorSettings mirrors;
  mirrors.recipes = {"default"};
  mirrors.own_recipes = {hub, updates};
  return mirrors;
}

void choose_cache(const Script& script, const std::filesystem::path& disk,
                  config::CacheSettings& cache) {
  cache.memory = script.has('m') ? config::mebibytes(2) : config::mebibytes(16);
  cache.max_object = config::kibibytes(8);
  cache.offline = script.has('o');
  cache.key_in_status = script.has('2');
  if (disk.empty()) return;
  const auto admit = script.has('2') ? config::Admit::second : config::Admit::first;
  cache.disk = config::DiskSettings{disk, config::mebibytes(32), admit};
}

config::Settings settings_of(const Script& script, const std::filesystem::path& disk) {
  config::Settings settings;
  settings.process.name = kName;
  settings.process.threads = 1;
  choose_cache(script, disk, settings.cache);
  settings.digest.samples.false_miss = 0.25;
  if (script.has('n')) {
    settings.peers = {neighbour("b", kNeighbours[0]), neighbour("c", kNeighbours[1])};
  }
  if (script.has('r')) settings.gateway.reverse = {reverse(script.has('s'))};
  if (script.has('v')) settings.gateway.mirrors = recipes();
  if (script.has('i')) {
    settings.gateway.mirrors.hosts = {{"192.0.2.7", std::nullopt}, {"*.a.test", std::nullopt}};
  }
  if (script.has('t')) settings.rules = rules();
  if (script.has('a')) settings.gateway.forwarded.how = config::Forwarded::append;
  if (script.has('x')) settings.gateway.forwarded.how = config::Forwarded::remove;
  settings.log.access = script.has('j') ? config::LogTarget::file : config::LogTarget::none;
  settings.log.path = "/dev/null";
  settings.log.format = config::LogFormat::json;
  settings.limits.head = config::kibibytes(8);
  settings.limits.fields = 64;
  return settings;
}

// The disk's threads begin to work, in real time, and this one waits for them.
proxy::server::Storage opened(const config::Settings& settings) {
  const System::RealTime real;
  static proxy::machine::Clock clock;
  return proxy::server::Storage(settings, clock);
}

proxy::upstream::TlsClient& tls() {
  static proxy::upstream::TlsClient client;
  return client;
}

// Claims every key, or none. The neighbour proves its answers by this name in Via.
peers::PollReport report(bool all, std::string_view via) {
  const std::uint8_t bits = all ? 0xff : 0;
  peers::PollReport report;
  report.kind = peers::PeerKind::hearsay;
  report.claims.filter = std::make_shared<const digest::BloomFilter>(
      *digest::BloomFilter::around({.bits = 64, .hashes = 1}, std::vector<std::uint8_t>(8, bits)));
  report.identity = peers::Identity({.via = via});
  report.confirmed = steady_clock::now();
  report.usable_until = steady_clock::time_point::max();
  return report;
}

}  // namespace

World::World(const Script& script, const std::filesystem::path& disk)
    : policy_(std::make_shared<const proxy::policy::Policy>(settings_of(script, disk),
                                                            proxy::lists::AccessLists{})),
      listening_{{net::asio::ip::make_address("127.0.0.1"), 3128}},
      storage_(opened(policy_->settings)),
      holdings_(storage_.store),
      publisher_(holdings_, policy_->settings.digest, clock_.now(), digest::unpredictable()),
      shared_({.name = kName,
               .listening = listening_,
               .settings = policy_->settings,
               .threads = 1,
               .storage = storage_,
               .clock = clock_,
               .publisher = publisher_,
               .tls = tls(),
               .aside = aside_.get_executor()}),
      worker_(shared_, 0) {
  worker_.follow(policy_);
  worker_.deadlines.start();
  worker_.crowd.relief.start();
  if (script.has('n')) claim_everything();
}

void World::claim_everything() {
  heard_ = report(true, "1.1 b");
  policy_->directory->update(0, heard_);
  policy_->directory->update(1, report(false, "1.1 c"));
}

// In the order of Server::stop().
World::~World() {
  if (storage_.disk) {
    const System::RealTime real;
    if (storage_.disk->stop() != proxy::cache::DiskTier::Stopped::yes) std::abort();
  }
  worker_.io.end_coroutines();
  aside_.end_coroutines();
  storage_.fills.clear();
  storage_.runs.clear();
}

void World::serve(int near) {
  net::Socket socket(worker_.io.get_executor(), net::tcp::v4(), near);
  net::spawn(worker_.io.get_executor(), proxy::server::serve_client(worker_, std::move(socket)));
}

bool World::run() {
  aside_.restart();
  bool any = worker_.io.poll() + aside_.poll() > 0;
  if (storage_.disk) {
    const System::RealTime real;
    if (!storage_.disk->settle(kLongestSettling)) std::abort();
  }
  return worker_.io.poll() > 0 || any;
}

void World::look_around() {
  publisher_.tick(clock_.now());
  if (storage_.disk) storage_.disk->follow_clock(clock_.ahead());
  storage_.watch.look(clock_.steady());
  policy_->directory->record_use(steady_clock::now());
}

void World::hear_poll(std::string_view text) {
  if (policy_->directory->peers().empty()) return;
  peers::PollResponse response;
  const auto status = take_line(text);
  response.status = status == "304" ? 304 : status == "404" ? 404 : 200;
  response.server = take_line(text);
  response.via = take_line(text);
  response.etag = take_line(text);
  response.body.assign(text.begin(), text.end());
  peers::PollRequest request;
  const bool squid = response.server.starts_with("squid");
  request.form = squid ? peers::DigestForm::squid : peers::DigestForm::native;
  request.known = heard_.kind;
  request.conditional = true;
  request.base = heard_.claims.native;
  request.room = 1 << 16;
  enter(heard_, read_poll(request, response), steady_clock::now());
  policy_->directory->update(0, heard_);
}

}  // namespace fuzz
