#include "proxy/cache/entry.hpp"

#include <cstring>
#include <limits>

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

using http::field;
using std::chrono::floor;

// Whether an entry keeps the field. It omits the fields that the sender of a hit generates anew.
bool is_kept(const http::Field& line) {
  return line.id != field::age && line.id != field::content_length;
}

// Whether the field is only for the client that asked.
bool is_askers_own(const http::CacheControl& control, const http::Field& line) {
  const bool is_proxys = line.id == field::proxy_authenticate ||
                         line.id == field::proxy_authentication_info ||
                         (line.id == field::unknown && http::same_word(line.name, "Cache-Status"));
  return is_proxys || http::has_word(control.private_fields, line.name) ||
         http::has_word(control.no_cache_fields, line.name);
}

// False for nearly all responses that have no such field.
bool may_have_askers_own(const http::CacheControl& control, const http::Fields& fields) {
  return !control.private_fields.empty() || !control.no_cache_fields.empty() ||
         fields.may_have(field::unknown) || fields.may_have(field::proxy_authenticate) ||
         fields.may_have(field::proxy_authentication_info);
}

// Also sets the places of the quotes.
std::string head_of(const Received& received, const http::CacheControl& control,
                    QuotePlaces& quotes) {
  const http::ResponseHead& response = received.response;
  const http::HopByHop hop_by_hop(response.fields);
  const bool is_part = range_of(response).has_value();
  std::string head;
  http::PieceWriter text(head);
  http::write_status_line(text, response);
  bool has_date = false;
  bool all_recorded = true;
  for (const http::Field& line : response.fields) {
    if (!is_kept(line) || is_askers_own(control, line) || hop_by_hop.ends_here(line)) continue;
    // The sender writes it anew, since a part of the part may be asked for.
    if (is_part && line.id == field::content_range) continue;
    has_date = has_date || line.id == field::date;
    const auto value_at = text.size() + line.name.size() + 2;
    all_recorded = quotes.record(line.id, value_at, line.value.size()) && all_recorded;
    http::write_field(text, line.name, line.value);
  }
  // RFC 9110 6.6.1: a missing Date is added, an existing one never changed.
  if (!has_date) {
    http::write_field(text, "Date", http::format_date(floor<seconds>(received.times.arrived())));
  }
  http::write_via(text, response.minor, received.our_name);
  text.flush();
  if (!all_recorded) quotes = QuotePlaces(head);
  return head;
}

FreshnessBounds bounds_of(const Received& received) {
  FreshnessBounds bounds = received.bounds;
  if (!received.giver.guest) return bounds;
  // The lifetime counts from the origin's Date on, and a guest may state any age.
  const auto age = floor<seconds>(initial_age(received.response.fields, received.times));
  bounds.most = std::min(bounds.most, age + kGuestFresh);
  return bounds;
}

// The masks keep the compiler from warning; status and URL fit.
constexpr unsigned kStatusBits = (1U << 10) - 1;
constexpr std::uint32_t kUrlBits = kLongestUrl;
constexpr std::uint64_t kAgeBits = (std::uint64_t{1} << 42) - 1;

std::uint64_t in_milliseconds(std::chrono::milliseconds age) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(age.count(), 0, kAgeBits));
}

constexpr ShortSeconds in_short(seconds duration) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return ShortSeconds(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(duration.count(), 0, kMost)));
}

// How long the request took, in milliseconds.
std::uint32_t took(const Times& times) {
  const auto took = floor<std::chrono::milliseconds>(times.response - times.request).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(took, 0, UINT32_MAX));
}

Time end_of_freshness(const Saved& facts) {
  return facts.times.response + (facts.freshness.lifetime - facts.initial_age);
}

// The end of its freshness without a rule.
Time end_as_told(const Received& received, const http::CacheControl& control,
                 std::chrono::milliseconds its_age) {
  if (received.by_rule_alone) return Time::min();
  const bool is_barred = control.no_cache || control.private_;
  if (received.bounds.by_class && is_barred) return Time::min();
  if (received.bounds.least == seconds(0)) return Time::max();
  const auto told = freshness_of(received.response, control, received.times.arrived());
  return received.times.response + (told.lifetime - its_age);
}

}  // namespace

const Extras Entry::kNoExtras;

std::optional<http::ContentRange> range_of(const http::ResponseHead& response) {
  if (response.status != 206 || response.fields.count(field::content_range) != 1) return {};
  const std::string_view type = response.fields.value(field::content_type);
  // With several parts, Content-Range is in each part and not in the head (RFC 9110 15.3.7.2).
  if (http::same_word(http::trim(type.substr(0, type.find(';'))), "multipart/byteranges"))
    return {};
  return http::parse_content_range(response.fields.value(field::content_range));
}

std::string asker_fields(const Received& received) {
  const http::Fields& fields = received.response.fields;
  return asker_fields(fields, http::response_cache_control(fields, received.targets));
}

std::string asker_fields(const http::Fields& fields, const http::CacheControl& control) {
  std::string lines;
  // Few responses have such fields, and each miss asks.
  if (!may_have_askers_own(control, fields)) return lines;
  std::optional<http::HopByHop> hop_by_hop;
  for (const http::Field& line : fields) {
    if (!is_askers_own(control, line)) continue;
    if (!hop_by_hop) hop_by_hop.emplace(fields);
    if (!hop_by_hop->ends_here(line)) http::append_field(lines, line.name, line.value);
  }
  return lines;
}

Ref<Entry> Entry::make(Budget& budget, const Received& received, const EntryMemory* memory) {
  const auto& response = received.response;
  const auto own_control =
      received.control
          ? std::nullopt
          : std::optional(http::response_cache_control(response.fields, received.targets));
  const auto& told_control = received.control ? *received.control : *own_control;
  const auto heeded_ones = heeded(told_control, received.bounds);
  const auto& control = heeded_ones ? *heeded_ones : told_control;
  QuotePlaces quotes;
  const std::string head = head_of(received, control, quotes);
  Saved facts{.url = received.passed_on ? std::string_view() : received.url,
              .status = response.status,
              .head = head,
              .source = received.source,
              .giver = received.giver,
              .shared = received.shared,
              .no_cache = control.no_cache,
              .never_stale = forbids_stale(control) || received.giver.guest,
              .times = received.times,
              .initial_age = std::chrono::milliseconds(
                  in_milliseconds(cache::initial_age(response.fields, received.times))),
              .extras = {.range = range_of(response),
                         .object = received.object,
                         .stale_while_revalidate =
                             in_short(control.stale_while_revalidate.value_or(seconds(0))),
                         .stale_if_error = in_short(control.stale_if_error.value_or(seconds(0))),
                         .by_rule_alone = received.by_rule_alone}};
  if (!received.passed_on) {
    facts.freshness =
        freshness_of(response, control, received.times.arrived(), bounds_of(received));
    facts.extras.variant = {response.fields, received.request};
  }
  const Time told = end_as_told(received, told_control, facts.initial_age);
  if (told < end_of_freshness(facts)) facts.extras.told_until = told;
  if (received.by_rule_alone || told < end_of_freshness(facts)) facts.extras.rule = received.rule;
  return make(budget, facts, quotes, memory);
}

Ref<Entry> Entry::make(Budget& budget, Saved saved) {
  const QuotePlaces quotes(saved.head);
  auto& extras = saved.extras;
  // The record of an entry that no neighbour may have does not tell.
  const bool is_for_neighbours = saved.status == 200 && saved.shared && !saved.no_cache &&
                                 !quotes.sets_cookie() && !saved.giver.guest &&
                                 !extras.variant.never_matches();
  const bool is_told = extras.rule != 0 || is_for_neighbours;
  if (!is_told || extras.told_until >= end_of_freshness(saved)) extras.told_until = Time::max();
  return make(budget, saved, quotes, nullptr);
}

Ref<Entry> Entry::make(Budget& budget, Saved& facts, const QuotePlaces& quotes,
                       const EntryMemory* memory) {
  const auto room = facts.url.size() + facts.head.size() + (memory ? sizeof memory : 0);
  return new (room, memory) Entry(budget, facts, quotes, memory);
}

void* Entry::operator new(std::size_t bytes, std::size_t room, const EntryMemory* memory) {
  return memory ? memory->take(bytes + room) : ::operator new(bytes + room);
}

void Entry::operator delete(void* place, std::size_t room, const EntryMemory* memory) {
  memory ? memory->give_back(place, sizeof(Entry) + room) : ::operator delete(place);
}

void Entry::operator delete(Entry* entry, std::destroying_delete_t /*destroys*/) {
  // The size is asked before the destructor runs, since it is in the members.
  const std::size_t bytes = entry->allocated();
  const EntryMemory* memory = nullptr;
  if (entry->has_memory_) {
    std::memcpy(&memory, entry->text() + entry->url_bytes_ + entry->head_bytes_, sizeof memory);
  }
  entry->~Entry();
  operator delete(entry, bytes - sizeof(Entry), memory);
}

StoredFacts::StoredFacts(const Saved& saved, Memory memory)
    : initial_age_(in_milliseconds(saved.initial_age) & kAgeBits),
      basis_(saved.freshness.basis),
      status(saved.status & kStatusBits),
      source(saved.source),
      shared(saved.shared),
      no_cache(saved.no_cache),
      never_stale(saved.never_stale),
      by_guest_(saved.giver.guest),
      has_memory_(memory == Memory::supplied),
      lifetime_(in_short(saved.freshness.lifetime)),
      request_took_(took(saved.times)),
      response_time_(saved.times.response) {}

Entry::Entry(Budget& budget, Saved& facts, const QuotePlaces& quotes, const EntryMemory* memory)
    : StoredFacts(facts, memory ? Memory::supplied : Memory::heap),
      url_bytes_(static_cast<std::uint32_t>(facts.url.size()) & kUrlBits),
      giver_tag_(facts.giver.tag),
      head_bytes_(static_cast<std::uint32_t>(facts.head.size())),
      quotes_(quotes),
      extras_(facts.extras.any() ? std::make_unique<const Extras>(std::move(facts.extras))
                                 : nullptr),
      budget_(budget) {
  char* const place = reinterpret_cast<char*>(this + 1);
  char* const end = std::copy(facts.head.begin(), facts.head.end(),
                              std::copy(facts.url.begin(), facts.url.end(), place));
  // A member would cost each entry 8 bytes, and few entries have one. The texts end at any address.
  if (memory) std::memcpy(end, &memory, sizeof memory);
  budget_.charge(own_bytes());
}

Entry::~Entry() {
  budget_.release(own_bytes());
}

std::size_t Entry::allocated() const {
  return sizeof(Entry) + url_bytes_ + head_bytes_ + (has_memory_ ? sizeof(EntryMemory*) : 0);
}

std::uint64_t Entry::own_bytes() const {
  // What the allocator gives, and not what was asked: the sum over millions of entries is exact
  // then.
  const auto own = heap_bytes(allocated());
  return extras_ ? own + heap_bytes(sizeof(Extras)) + variant().footprint() : own;
}

std::chrono::sys_seconds Entry::date() const {
  const auto parsed = http::parse_stored_head(head());
  const auto arrived = floor<seconds>(times().response);
  return parsed ? http::parse_date(parsed->date, arrived).value_or(arrived) : arrived;
}

seconds StoredFacts::age(Time now) const {
  const auto resident = std::max(now - response_time_, Time::duration(0));
  return floor<seconds>(initial_age() + resident);
}

http::StoredValidators Entry::validators() const {
  const auto told = quotes();
  if (told.last_modified.empty()) return {told.etag, date()};
  // A date of RFC 850 has two digits for the year, so that its meaning depends on when it was read.
  return {told.etag, http::parse_date(told.last_modified, floor<seconds>(times().response))};
}

bool Entry::may_cross() const {
  return shared && for_neighbours() && !no_cache && !variant().never_matches();
}

Time Entry::claimable_until() const {
  return status == 200 && may_cross() ? told_until() : Time::min();
}

Time Entry::claimable_by_rule_until() const {
  return rule() != 0 && status == 200 && may_cross() ? fresh_until() : Time::min();
}

// A part that lasts by a rule is not claimed: the mark of parts takes the place of the rule's.
Time Entry::claimable_in_part_until() const {
  const bool is_worth_it = is_part() && rule() == 0 && body.size >= kLeastClaimed;
  return is_worth_it && may_cross() ? told_until() : Time::min();
}

std::uint64_t Entry::footprint() const {
  std::uint64_t bytes = own_bytes();
  for (const SliceView slice : body.slices) bytes += slice.block->charged();
  return bytes;
}

ParsedHead::ParsedHead(const Entry& entry) : text_(std::string(entry.head()) + "\r\n") {
  constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();
  head = http::parse_response_head(text_, {kNoLimit, kNoLimit}).value();  // parsed once before
}

}  // namespace proxy::cache
