#include "proxy/sources/examination.hpp"

#include <algorithm>
#include <string_view>

#include "proxy/http/validators.hpp"
#include "proxy/sources/contradiction.hpp"

namespace proxy {

using http::field;

namespace {

constexpr int kGrowth = 5;

std::string version_of(const http::ResponseHead& origin, std::optional<std::uint64_t> length) {
  const auto& fields = origin.fields;
  if (origin.status != 200 || !http::agrees_on_validators(fields)) return {};
  std::string version(fields.value(field::etag));
  version.append("\n").append(fields.value(field::last_modified)).append("\n");
  return length ? version + std::to_string(*length) : version;
}

}  // namespace

Testimony testimony_of(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                       const cache::Entry& given, std::optional<std::uint64_t> length) {
  return {contradicts(origin, origin_length, given, length), version_of(origin, origin_length)};
}

Ruling ruling_on(std::span<const Testimony> answers) {
  const auto& last = answers.back();
  if (last.version.empty()) return Ruling::nothing;
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
