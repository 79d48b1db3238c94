#include "proxy/cache/entry.hpp"

#include <algorithm>
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

// Which fields of a response are only for the client that asked.
class AskersOwn {
 public:
  explicit AskersOwn(const http::CacheControl& control)
      : control_(control),
        any_named_(!control.private_fields.empty() || !control.no_cache_fields.empty()) {}

  bool has(const http::Field& line) const {
    if (line.id == field::unknown && http::same_word(line.name, "Cache-Status")) return true;
    if (line.id == field::proxy_authenticate) return true;
    if (line.id == field::proxy_authentication_info) return true;
    return any_named_ && is_named(line);
  }
  // False for nearly all responses that have none.
  bool may_be_in(const http::Fields& fields) const {
    return any_named_ || fields.may_have(field::unknown) ||
           fields.may_have(field::proxy_authenticate) ||
           fields.may_have(field::proxy_authentication_info);
  }

 private:
  bool is_named(const http::Field& line) const {
    return names(control_.private_fields, line) || names(control_.no_cache_fields, line);
  }
  static bool names(const http::CacheControl::Names& listed, const http::Field& line) {
    return std::any_of(listed.begin(), listed.end(),
                       [&](std::string_view name) { return http::same_word(name, line.name); });
  }

  const http::CacheControl& control_;
  const bool any_named_;  // seldom
};

// Also sets the places of the quotes.
std::string head_of(const Received& received, const http::CacheControl& control,
                    QuotePlaces& quotes) {
  const http::ResponseHead& response = received.response;
  const AskersOwn askers_own(control);
  const http::HopByHop hop_by_hop(response.fields);
  const bool is_part = range_of(response).has_value();
  std::string head;
  http::PieceWriter text(head);
  http::write_status_line(text, response);
  bool has_date = false;
  bool all_noted = true;
  for (const http::Field& line : response.fields) {
    if (!is_kept(line) || askers_own.has(line) || hop_by_hop.ends_here(line)) continue;
    if (is_part && line.id == field::content_range) continue;
    has_date = has_date || line.id == field::date;
    const auto value_at = text.size() + line.name.size() + 2;
    all_noted = quotes.note(line.id, value_at, line.value.size()) && all_noted;
    http::write_field(text, line.name, line.value);
  }
  // RFC 9110 6.6.1: a missing Date is added, an existing one never changed.
  if (!has_date) {
    http::write_field(text, "Date", http::format_date(floor<seconds>(received.times.arrived())));
  }
  http::write_via(text, response.minor, received.our_name);
  text.flush();
  if (!all_noted) quotes = QuotePlaces(head);
  return head;
}

FreshnessBounds bounds_of(const Received& received) {
  FreshnessBounds bounds = received.bounds;
  if (!received.giver.guest) return bounds;
  const auto age = floor<seconds>(initial_age(received.response.fields, received.times));
  bounds.most = std::min(bounds.most, age + kGuestFresh);
  return bounds;
}

http::Variant variant_of(const Received& received) {
  if (received.passed_on) return {};
  return {received.response.fields, received.request};
}

// The room behind an entry.
std::size_t room_for(std::string_view url, std::string_view head, const EntryMemory* memory) {
  return url.size() + head.size() + (memory ? sizeof memory : 0);
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

Freshness lifetime_of(const Received& received, const http::CacheControl& control) {
  if (received.passed_on) return {};
  return freshness_of(received.response, control, received.times.arrived(), bounds_of(received));
}

}  // namespace

const Extras Entry::kNoExtras;

std::chrono::sys_seconds date_of(const http::Fields& fields, const Times& times) {
  return date_of(fields.value(field::date), times);
}

std::chrono::sys_seconds date_of(std::string_view date, const Times& times) {
  const auto arrived = floor<seconds>(times.arrived());
  return http::parse_date(date, arrived).value_or(arrived);
}

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
  const AskersOwn askers_own(control);
  std::string lines;
  if (!askers_own.may_be_in(fields)) return lines;
  std::optional<http::HopByHop> hop_by_hop;
  for (const http::Field& line : fields) {
    if (!askers_own.has(line)) continue;
    if (!hop_by_hop) hop_by_hop.emplace(fields);
    if (!hop_by_hop->ends_here(line)) http::append_field(lines, line.name, line.value);
  }
  return lines;
}

Judged::Judged(const Received& received)
    : own_control_(received.control ? std::nullopt
                                    : std::optional(http::response_cache_control(
                                          received.response.fields, received.targets))),
      control(received.control ? *received.control : *own_control_),
      url(received.passed_on ? std::string_view() : received.url),
      freshness(lifetime_of(received, control)),
      head(head_of(received, control, quotes)) {}

Ref<Entry> Entry::make(Budget& budget, const Received& received, const EntryMemory* memory) {
  const Judged judged(received);
  const auto room = room_for(judged.url, judged.head, memory);
  return new (room, memory) Entry(budget, received, judged, memory);
}

Ref<Entry> Entry::make(Budget& budget, Saved saved) {
  const auto room = room_for(saved.url, saved.head, nullptr);
  return new (room, nullptr) Entry(budget, std::move(saved));
}

void* Entry::operator new(std::size_t bytes, std::size_t room, const EntryMemory* memory) {
  return memory ? memory->take(bytes + room) : ::operator new(bytes + room);
}

void Entry::operator delete(void* place, std::size_t room, const EntryMemory* memory) {
  memory ? memory->give_back(place, sizeof(Entry) + room) : ::operator delete(place);
}

void Entry::operator delete(Entry* entry, std::destroying_delete_t /*destroys*/) {
  const std::size_t bytes = entry->allocated();
  const EntryMemory* memory = nullptr;
  if (entry->has_memory_) {
    std::memcpy(&memory, entry->text() + entry->url_bytes_ + entry->head_bytes_, sizeof memory);
  }
  entry->~Entry();
  operator delete(entry, bytes - sizeof(Entry), memory);
}

void Entry::put_behind(std::string_view url, std::string_view head, const EntryMemory* memory) {
  char* const place = reinterpret_cast<char*>(this + 1);
  char* const end = std::copy(head.begin(), head.end(), std::copy(url.begin(), url.end(), place));
  if (memory) std::memcpy(end, &memory, sizeof memory);
}

Time Entry::as_told_until(const Received& received, const http::CacheControl& control) const {
  if (received.by_rule_alone) return Time::min();
  if (received.bounds.least == seconds(0)) return Time::max();
  const auto told = freshness_of(received.response, control, received.times.arrived());
  return response_time_ + (told.lifetime - initial_age());
}

std::unique_ptr<const Extras> Entry::extras_of(const Received& received,
                                               const http::CacheControl& control) const {
  Extras extras{
      .variant = variant_of(received),
      .range = range_of(received.response),
      .object = received.object,
      .stale_while_revalidate = in_short(control.stale_while_revalidate.value_or(seconds(0))),
      .stale_if_error = in_short(control.stale_if_error.value_or(seconds(0)))};
  const Time told = as_told_until(received, control);
  if (told < fresh_until()) extras.told_until = told;
  if (received.by_rule_alone || told < fresh_until()) extras.rule = received.rule;
  return extras.any() ? std::make_unique<const Extras>(std::move(extras)) : nullptr;
}

std::unique_ptr<const Extras> Entry::extras_of(Saved& saved) const {
  Extras extras{.variant = std::move(saved.variant),
                .range = saved.range,
                .object = saved.object,
                .stale_while_revalidate = in_short(saved.stale_while_revalidate),
                .stale_if_error = in_short(saved.stale_if_error),
                .rule = saved.rule};
  // The record of an entry that no neighbour may have does not tell.
  const bool is_told = saved.rule != 0 || answers_neighbours(extras.variant);
  if (is_told && saved.claimable_until < fresh_until()) extras.told_until = saved.claimable_until;
  return extras.any() ? std::make_unique<const Extras>(std::move(extras)) : nullptr;
}

Entry::Entry(Budget& budget, const Received& received, const Judged& judged,
             const EntryMemory* memory)
    : lifetime_(in_short(judged.freshness.lifetime)),
      initial_age_(in_milliseconds(cache::initial_age(received.response.fields, received.times)) &
                   kAgeBits),
      status(received.response.status & kStatusBits),
      basis_(judged.freshness.basis),
      source(received.source),
      shared(received.shared),
      by_rule_alone(received.by_rule_alone),
      no_cache(judged.control.no_cache),
      never_stale(forbids_stale(judged.control) || received.giver.guest),
      by_guest_(received.giver.guest),
      has_memory_(memory != nullptr),
      response_time_(received.times.response),
      url_bytes_(static_cast<std::uint32_t>(judged.url.size()) & kUrlBits),
      giver_tag_(received.giver.tag),
      head_bytes_(static_cast<std::uint32_t>(judged.head.size())),
      request_took_(took(received.times)),
      quotes_(judged.quotes),
      extras_(extras_of(received, judged.control)),
      budget_(budget) {
  put_behind(judged.url, judged.head, memory);
  budget_.charge(own_bytes());
}

Entry::Entry(Budget& budget, Saved saved)
    : lifetime_(in_short(saved.freshness.lifetime)),
      initial_age_(in_milliseconds(saved.initial_age) & kAgeBits),
      status(saved.status & kStatusBits),
      basis_(saved.freshness.basis),
      source(saved.source),
      shared(saved.shared),
      by_rule_alone(saved.by_rule_alone),
      no_cache(saved.no_cache),
      never_stale(saved.never_stale),
      by_guest_(saved.giver.guest),
      has_memory_(false),
      response_time_(saved.times.response),
      url_bytes_(static_cast<std::uint32_t>(saved.url.size()) & kUrlBits),
      giver_tag_(saved.giver.tag),
      head_bytes_(static_cast<std::uint32_t>(saved.head.size())),
      request_took_(took(saved.times)),
      quotes_(saved.head),
      extras_(extras_of(saved)),
      budget_(budget) {
  put_behind(saved.url, saved.head, nullptr);
  budget_.charge(own_bytes());
}

Entry::~Entry() {
  budget_.release(own_bytes());
}

std::size_t Entry::allocated() const {
  return sizeof(Entry) + url_bytes_ + head_bytes_ + (has_memory_ ? sizeof(EntryMemory*) : 0);
}

std::uint64_t Entry::own_bytes() const {
  const auto own = heap_bytes(allocated());
  return extras_ ? own + heap_bytes(sizeof(Extras)) + variant().footprint() : own;
}

std::chrono::sys_seconds Entry::date() const {
  const auto parsed = http::parse_stored_head(head());
  return date_of(parsed ? parsed->date : std::string_view(), times());
}

seconds Entry::age(Time now) const {
  const auto resident = std::max(now - response_time_, Time::duration(0));
  return floor<seconds>(initial_age() + resident);
}

http::StoredValidators Entry::validators() const {
  const auto told = quotes();
  if (told.last_modified.empty()) return {told.etag, date()};
  return {told.etag, http::parse_date(told.last_modified, floor<seconds>(response_time_))};
}

bool Entry::may_cross(const http::Variant& its_variant) const {
  return shared && for_neighbours() && !no_cache && !its_variant.never_matches();
}

bool Entry::answers_neighbours(const http::Variant& its_variant) const {
  return status == 200 && may_cross(its_variant);
}

Time Entry::claimable_until() const {
  return answers_neighbours(variant()) ? told_until() : Time::min();
}

Time Entry::claimable_by_rule_until() const {
  return rule() != 0 && answers_neighbours(variant()) ? fresh_until() : Time::min();
}

Time Entry::claimable_in_part_until() const {
  const bool is_worth_it = is_part() && rule() == 0 && body.size >= kLeastClaimed;
  return is_worth_it && may_cross(variant()) ? told_until() : Time::min();
}

std::uint64_t Entry::footprint() const {
  std::uint64_t bytes = own_bytes();
  for (const SliceView slice : body.slices) bytes += slice.block->charged();
  return bytes;
}

}  // namespace proxy::cache
