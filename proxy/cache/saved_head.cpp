#include "proxy/cache/saved_head.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "digest/little_endian.hpp"

namespace proxy::cache {
namespace {

using digest::load;
using std::chrono::milliseconds;

constexpr std::uint8_t kLayout = 1;
constexpr std::size_t kFixedBytes = 48;
constexpr std::uint32_t kLengthBytes = 8;
constexpr std::uint32_t kRuleBytes = 8;
constexpr std::size_t kSelectorFixedBytes = 32;
constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

enum Bit : std::uint8_t {
  kShared = 1,
  kNoCache = 2,
  kNeverStale = 4,
  kObject = 8,
  kByRule = 16,
  kByRuleAlone = 32
};

// Milliseconds since 1970, up to the year 2109, so that the sums below fit into Time.
constexpr std::int64_t kLatest = std::int64_t{1} << 42;
constexpr milliseconds kOldest = std::chrono::seconds(std::int64_t{1} << 32);

const std::uint8_t* bytes_at(std::string_view text, std::size_t at) {
  return reinterpret_cast<const std::uint8_t*>(text.data()) + at;
}

template <class Number>
void append(std::string& out, Number number) {
  std::uint8_t bytes[sizeof(Number)];
  digest::store(bytes, number);
  out.append(reinterpret_cast<const char*>(bytes), sizeof(Number));
}

// A time that does not fit is cut: 136 years are as good as for ever.
std::uint32_t in_32_bits(seconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 0, kAbsent));
}

std::int64_t since_1970(Time time) {
  const auto since = std::chrono::floor<milliseconds>(time.time_since_epoch()).count();
  return std::clamp<std::int64_t>(since, 0, kLatest);
}

Time time_at(std::int64_t ms) {
  return Time(milliseconds(ms));
}

// Takes the next bytes of a text. Returns nothing if there are not enough.
std::optional<std::string_view> take(std::string_view& rest, std::uint32_t bytes) {
  if (bytes > rest.size()) return std::nullopt;
  const auto taken = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  return taken;
}

std::optional<http::Variant> parse_variant(std::string_view& rest, std::uint32_t count) {
  std::vector<http::Variant::SelectingField> fields;
  for (; count > 0; --count) {
    const auto lengths = take(rest, 8);
    if (!lengths) return std::nullopt;
    const auto name = take(rest, load<std::uint32_t>(bytes_at(*lengths, 0)));
    if (!name) return std::nullopt;
    http::Variant::SelectingField selecting{http::field::unknown, std::string(*name), std::nullopt};
    const auto length = load<std::uint32_t>(bytes_at(*lengths, 4));
    // No field, and an empty one, select different variants (RFC 9111 4.1).
    if (length != kAbsent) {
      const auto value = take(rest, length);
      if (!value) return std::nullopt;
      selecting.value = *value;
    }
    fields.push_back(std::move(selecting));
  }
  return http::Variant::of(std::move(fields));
}

// Whether this is the head of a final response; code that parses it again relies on that.
bool parse_head(std::string_view text, Saved& into) {
  const auto head = http::parse_stored_head(text);
  // Interim responses are never stored.
  if (!head || head->status < 200) return false;
  into.status = head->status;
  into.head = text;
  return true;
}

// Reads the numbers that precede the text.
bool parse_fixed(std::string_view head, Saved& into) {
  const auto byte = [&](std::size_t at) { return *bytes_at(head, at); };
  const auto in_seconds = [&](std::size_t at) {
    return ShortSeconds(load<std::uint32_t>(bytes_at(head, at)));
  };
  // A later version of this program may have written it: then it is a miss.
  if (byte(0) != kLayout || byte(1) > 63 || byte(2) > 2 || byte(3) > 4) return false;
  into.shared = (byte(1) & kShared) != 0;
  into.no_cache = (byte(1) & kNoCache) != 0;
  into.never_stale = (byte(1) & kNeverStale) != 0;
  into.extras.by_rule_alone = (byte(1) & kByRuleAlone) != 0;
  into.source = static_cast<SourceKind>(byte(2));
  into.extras.stale_while_revalidate = in_seconds(8);
  into.extras.stale_if_error = in_seconds(12);
  into.freshness = {static_cast<Freshness::Basis>(byte(3)), in_seconds(16)};
  const auto age = load<std::uint64_t>(bytes_at(head, 24));
  const auto claimable = load<std::uint64_t>(bytes_at(head, 32));
  if (age > std::uint64_t(kOldest.count()) || claimable > std::uint64_t(2 * kLatest) ||
      into.freshness.lifetime > http::kForever) {
    return false;
  }
  into.initial_age = milliseconds(age);
  into.extras.told_until =
      claimable > 0 ? time_at(static_cast<std::int64_t>(claimable)) : Time::min();
  return true;
}

// Reads what record and head together say about an object.
bool parse_object(std::string_view& rest, const disk::RecordHeader& record, bool is_object,
                  SavedHead& into) {
  if (is_object != (record.kind == disk::RecordKind::object)) return false;
  if (!is_object) return true;
  const auto length = take(rest, kLengthBytes);
  if (!length) return false;
  into.length = load<std::uint64_t>(bytes_at(*length, 0));
  into.entry.extras.object = Object{record.version};
  return into.length > 0 && into.length <= kLargestObject && record.block == blocks_in(into.length);
}

// Only objects may be parts: their entries were stored while the length was not known.
bool parse_part(SavedHead& into) {
  auto& entry = into.entry;
  if (!entry.extras.object) return entry.status != 206;
  if (entry.status != 206) return entry.status == 200;
  entry.extras.range = http::ContentRange{{0, into.length - 1}, std::nullopt};
  return into.length % kBlockBytes == 0;
}

}  // namespace

std::string encode_head(const Entry& entry, std::uint64_t selector) {
  const auto& selectors = entry.variant().selecting_fields();
  std::string out;
  out.reserve(kFixedBytes + entry.head().size());
  out += static_cast<char>(kLayout);
  out += static_cast<char>((entry.shared ? kShared : 0) | (entry.no_cache ? kNoCache : 0) |
                           (entry.never_stale ? kNeverStale : 0) | (entry.object() ? kObject : 0) |
                           (entry.rule() != 0 ? kByRule : 0) |
                           (entry.by_rule_alone() ? kByRuleAlone : 0));
  out += static_cast<char>(entry.source);
  out += static_cast<char>(entry.freshness().basis);
  append(out, static_cast<std::uint32_t>(entry.head().size()));
  append(out, in_32_bits(entry.extras().stale_while_revalidate));
  append(out, in_32_bits(entry.extras().stale_if_error));
  append(out, in_32_bits(entry.freshness().lifetime));
  append(out, static_cast<std::uint32_t>(selectors.size()));
  append(out, static_cast<std::uint64_t>(
                  std::clamp(entry.initial_age(), milliseconds(0), kOldest).count()));
  append(out, static_cast<std::uint64_t>(since_1970(entry.claimable_until())));
  append(out, selector);
  if (entry.object()) append(out, entry.body.size);
  if (entry.rule() != 0) append(out, entry.rule());
  out += entry.head();
  for (const auto& field : selectors) {
    append(out, static_cast<std::uint32_t>(field.name.size()));
    append(out, field.value ? static_cast<std::uint32_t>(field.value->size()) : kAbsent);
    out += field.name;
    if (field.value) out += *field.value;
  }
  return out;
}

std::optional<SavedHead> decode_head(std::string_view url, std::string_view head,
                                     const disk::RecordHeader& record) {
  if (head.size() < kFixedBytes || url.size() > kLongestUrl) return std::nullopt;
  if (record.response_time < 0 || record.response_time > kLatest) return std::nullopt;
  SavedHead saved{.entry = {.url = url, .head = {}},
                  .selector = load<std::uint64_t>(bytes_at(head, 40))};
  const Time response = time_at(record.response_time);
  saved.entry.times = {response - milliseconds(record.request_took), response};
  saved.entry.giver = {record.giver()};
  if (!parse_fixed(head, saved.entry)) return std::nullopt;
  std::string_view rest = head.substr(kFixedBytes);
  const bool is_object = (*bytes_at(head, 1) & kObject) != 0;
  if (!parse_object(rest, record, is_object, saved)) return std::nullopt;
  if ((*bytes_at(head, 1) & kByRule) != 0) {
    const auto rule = take(rest, kRuleBytes);
    if (!rule) return std::nullopt;
    saved.entry.extras.rule = load<std::uint64_t>(bytes_at(*rule, 0));
  }
  const auto text = take(rest, load<std::uint32_t>(bytes_at(head, 4)));
  if (!text || !parse_head(*text, saved.entry) || !parse_part(saved)) return std::nullopt;
  auto variant = parse_variant(rest, load<std::uint32_t>(bytes_at(head, 20)));
  if (!variant || !rest.empty()) return std::nullopt;
  // A variant is found by its selector alone, and a selector leads to variants alone.
  if (variant->varies() != (saved.selector != 0)) return std::nullopt;
  saved.entry.extras.variant = std::move(*variant);
  return saved;
}

void write_times(disk::RecordHeader& record, const Times& times) {
  const auto took = std::chrono::floor<milliseconds>(times.response - times.request).count();
  record.response_time = since_1970(times.response);
  constexpr auto kMost = std::numeric_limits<std::uint16_t>::max();
  record.request_took = static_cast<std::uint16_t>(std::clamp<std::int64_t>(took, 0, kMost));
}

void write_claim(disk::RecordHeader& record, const Entry& entry) {
  const bool by_rule = entry.claimable_by_rule_until() != Time::min();
  const Time until = by_rule ? entry.claimable_by_rule_until() : entry.claimable_until();
  record.claimable_until = in_32_bits(std::chrono::floor<seconds>(until.time_since_epoch()));
  record.rule = by_rule ? digest::mark_of(entry.rule()) : digest::RuleMark{0};
}

void note_object(disk::RecordHeader& record, const Entry& entry) {
  record.version = entry.object()->version;
  record.block = blocks_in(entry.body.size);
}

std::string names_of(const http::Variant& variant) {
  std::string names;
  for (const auto& selector : variant.selecting_fields()) {
    if (!names.empty()) names += ", ";
    names += selector.name;
  }
  return names;
}

std::string encode(const Selector& selector) {
  std::string out{static_cast<char>(kLayout)};
  out.resize(8);
  append(out, selector.number);
  out.append(reinterpret_cast<const char*>(selector.claimed.bytes.data()), 16);
  return out += selector.names;
}

std::optional<Selector> decode_selector(std::string_view head) {
  if (head.size() <= kSelectorFixedBytes || head[0] != char{kLayout}) return std::nullopt;
  const bool padded = std::all_of(&head[1], &head[8], [](char byte) { return byte == 0; });
  Selector selector{load<std::uint64_t>(bytes_at(head, 8)),
                    std::string(head.substr(kSelectorFixedBytes))};
  std::copy_n(bytes_at(head, 16), 16, selector.claimed.bytes.begin());
  http::Fields vary;
  vary.append(http::field::vary, "Vary", selector.names);
  const http::Variant variant(vary, {});
  // The names must be spelled as names_of() spells them, or no later variant would have the same.
  const bool as_encoded = variant.varies() && names_of(variant) == selector.names;
  if (!padded || selector.number == 0 || !as_encoded) return std::nullopt;
  return selector;
}

disk::Key variant_key(const disk::Key& url, std::uint64_t number, const http::Variant& variant) {
  std::string text;
  append(text, number);
  text += variant.mark();
  return disk::derived_key(url, disk::bytes_of(text));
}

disk::Key variant_key(const disk::Key& url, const Selector& selector, http::NormalForms& request) {
  http::Fields vary;
  vary.append(http::field::vary, "Vary", selector.names);
  return variant_key(url, selector.number, http::Variant(vary, request));
}

}  // namespace proxy::cache
