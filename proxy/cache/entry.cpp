#include "proxy/cache/entry.hpp"

#include <algorithm>

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
    switch (line.id) {
      case field::proxy_authenticate:
      case field::proxy_authentication_info:
        return true;
      case field::unknown:
        if (http::same_word(line.name, "Cache-Status")) return true;
        break;
      default:
        break;
    }
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
  http::write_status_line(text, response.status, response.reason);
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
    http::write_field(text, "Date", http::format_date(floor<seconds>(received.times.response)));
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

Freshness lifetime_of(const Received& received, const http::CacheControl& control) {
  if (received.passed_on) return {};
  return freshness_of(received.response, control, received.times.response, bounds_of(received));
}

}  // namespace

std::chrono::sys_seconds date_of(const http::Fields& fields, const Times& times) {
  return date_of(fields.value(field::date), times);
}

std::chrono::sys_seconds date_of(std::string_view date, const Times& times) {
  const auto arrived = floor<seconds>(times.response);
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
  const auto is_askers = [&](const http::Field& line) { return askers_own.has(line); };
  if (!askers_own.may_be_in(fields) || std::none_of(fields.begin(), fields.end(), is_askers)) {
    return lines;
  }
  const http::HopByHop hop_by_hop(fields);
  for (const http::Field& line : fields) {
    if (!askers_own.has(line) || hop_by_hop.ends_here(line)) continue;
    http::append_field(lines, line.name, line.value);
  }
  return lines;
}

Judged::Judged(const Received& received)
    : own_control_(received.control ? std::nullopt
                                    : std::optional(http::response_cache_control(
                                          received.response.fields, received.targets))),
      control(received.control ? *received.control : *own_control_),
      url(received.passed_on ? std::string_view() : received.url),
      head(head_of(received, control, quotes)) {}

std::shared_ptr<Entry> Entry::make(Budget& budget, Saved saved) {
  const WithRoom<Entry> memory(saved.url.size() + saved.head.size());
  return std::allocate_shared<Entry>(memory, InRoom(), budget, std::move(saved));
}

std::string_view Entry::kept_at(std::size_t offset, std::string_view text) {
  char* const place = reinterpret_cast<char*>(this + 1) + offset;
  std::copy(text.begin(), text.end(), place);
  return {place, text.size()};
}

Time Entry::as_told_until(const Received& received, const http::CacheControl& control) const {
  if (received.by_rule_alone) return Time::min();
  if (received.bounds.least == seconds(0)) return fresh_until();
  const auto told = freshness_of(received.response, control, times.response);
  return times.response + (told.lifetime - initial_age);
}

Entry::Entry(InRoom /*room*/, Budget& budget, const Received& received, const Judged& judged)
    : url(kept_at(0, judged.url)),
      head(kept_at(url.size(), judged.head)),
      status(static_cast<std::uint16_t>(received.response.status)),
      source(received.source),
      giver(received.giver),
      shared(received.shared),
      by_rule_alone(received.by_rule_alone),
      no_cache(judged.control.no_cache),
      never_stale(forbids_stale(judged.control) || giver.guest),
      quotes_(judged.quotes),
      stale_while_revalidate(judged.control.stale_while_revalidate.value_or(seconds(0))),
      stale_if_error(judged.control.stale_if_error.value_or(seconds(0))),
      freshness(lifetime_of(received, judged.control)),
      range(range_of(received.response)),
      object(received.object),
      variant(variant_of(received)),
      times(received.times),
      date(date_of(received.response.fields, times)),
      initial_age(cache::initial_age(received.response.fields, received.times)),
      budget_(budget),
      claimed_until_(std::min(fresh_until(), as_told_until(received, judged.control))),
      rule(received.by_rule_alone || claimed_until_ < fresh_until() ? received.rule : 0) {
  budget_.charge(own_bytes());
}

Entry::Entry(InRoom /*room*/, Budget& budget, Saved saved)
    : url(kept_at(0, saved.url)),
      head(kept_at(url.size(), saved.head)),
      status(static_cast<std::uint16_t>(saved.status)),
      source(saved.source),
      giver(saved.giver),
      shared(saved.shared),
      by_rule_alone(saved.by_rule_alone),
      no_cache(saved.no_cache),
      never_stale(saved.never_stale),
      quotes_(head),
      stale_while_revalidate(saved.stale_while_revalidate),
      stale_if_error(saved.stale_if_error),
      freshness(saved.freshness),
      range(saved.range),
      object(saved.object),
      variant(std::move(saved.variant)),
      times(saved.times),
      date(saved.date),
      initial_age(saved.initial_age),
      budget_(budget),
      claimed_until_(saved.claimable_until),
      rule(saved.rule) {
  budget_.charge(own_bytes());
}

Entry::~Entry() {
  budget_.release(own_bytes());
}

std::uint64_t Entry::own_bytes() const {
  return heap_bytes(WithRoom<Entry>::kBesides + sizeof(Entry) + url.size() + head.size()) +
         variant.footprint() + range.footprint() + object.footprint();
}

seconds Entry::age(Time now) const {
  const auto resident = std::max(now - times.response, Time::duration(0));
  return floor<seconds>(initial_age + resident);
}

http::StoredValidators Entry::validators() const {
  const auto told = quotes();
  if (told.last_modified.empty()) return {told.etag, date};
  return {told.etag, http::parse_date(told.last_modified, floor<seconds>(times.response))};
}

bool Entry::answers_neighbours() const {
  return status == 200 && shared && for_neighbours() && !no_cache && !variant.never_matches();
}

Time Entry::claimable_until() const {
  return answers_neighbours() ? claimed_until_ : Time::min();
}

Time Entry::claimable_by_rule_until() const {
  return rule != 0 && answers_neighbours() ? fresh_until() : Time::min();
}

std::uint64_t Entry::footprint() const {
  std::uint64_t bytes = own_bytes();
  for (const Slice& slice : body.slices) bytes += slice.block->charged();
  return bytes;
}

}  // namespace proxy::cache
