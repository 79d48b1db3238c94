#include "proxy/sources/examination.hpp"

#include <algorithm>
#include <string_view>

#include "proxy/cache/representation.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using http::field;

namespace {

constexpr int kGrowth = 5;

// Last-Modified and Date may be a little apart in a response that was made while the file changed.
constexpr std::chrono::minutes kWellBefore{1};

// Whether the origin's version is older than the neighbour's copy of it.
bool unchanged_since(const http::Fields& origin, std::chrono::sys_seconds date) {
  const auto modified = http::parse_date(origin.value(field::last_modified), date);
  return modified && *modified + kWellBefore < date;
}

std::string version_of(const http::ResponseHead& origin, std::optional<std::uint64_t> length) {
  const auto& fields = origin.fields;
  if (origin.status != 200 || !http::agrees_on_validators(fields)) return {};
  std::string version(fields.value(field::etag));
  version.append("\n").append(fields.value(field::last_modified)).append("\n");
  return length ? version + std::to_string(*length) : version;
}

}  // namespace

bool contradicts(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                 const cache::Entry& given, std::optional<std::uint64_t> length) {
  // Only two answers of the same kind can be compared: an error, or a part, may differ for its own
  // reasons.
  const bool both_whole = origin.status == 200 && given.has_content();
  if (!both_whole || !http::agrees_on_validators(origin.fields)) return false;
  const bool other_length = length && origin_length && *length != *origin_length &&
                            cache::same_coding(given, origin.fields);
  if (cache::same_version(given, origin.fields)) return other_length;
  if (!unchanged_since(origin.fields, given.date())) return false;
  if (http::weakly_equal(origin.fields.value(field::etag), given.quotes().etag)) return false;
  const bool other_date = origin.fields.value(field::last_modified) != given.quotes().last_modified;
  return other_date || other_length;
}

Testimony testimony_of(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                       const cache::Entry& given, std::optional<std::uint64_t> length) {
  return {contradicts(origin, origin_length, given, length), version_of(origin, origin_length)};
}

Ruling ruling_on(std::span<const Testimony> answers) {
  const auto& last = answers.back();
  if (last.version.empty()) return Ruling::nothing;
  // Each answer must be of one version: an origin that changes meanwhile is no witness.
  const bool agrees = last.contradicts && last.version == answers.front().version;
  if (!agrees) return answers.size() == 1 ? Ruling::nothing : Ruling::origin_varies;
  return answers.size() < kQuestions ? Ruling::ask_again : Ruling::contradicted;
}

std::chrono::milliseconds pause_after(std::size_t answers, std::chrono::milliseconds first) {
  auto pause = first;
  for (std::size_t i = 1; i < answers; ++i) pause *= kGrowth;
  return pause;
}

}  // namespace proxy
