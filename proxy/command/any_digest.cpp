#include "proxy/command/any_digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "digest/base64.hpp"
#include "digest/mapped_filter.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {
namespace {

using Bytes = std::span<const std::uint8_t>;
using digest::FilterKind;

// As text, too, which is a third more; a counting filter is the largest for its bits.
constexpr std::uint64_t kMaxFile = std::uint64_t{4} << 30;
constexpr std::size_t kEnoughToTell = 24;
constexpr std::uint64_t kMaxSquidFile = digest::kSquidControlBytes + digest::kMaxSquidMaskBytes;
// A few bytes may announce a large empty filter: no larger than what goes over the wire.
constexpr std::size_t kMaxNativeFilter = std::size_t{64} << 20;

bool begins_with(Bytes bytes, std::string_view mark) {
  return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
}

bool is_native(Bytes bytes) {
  return begins_with(bytes, "HSDG");
}

// Base64 of "HSYF" and of what may follow it.
bool is_text(Bytes bytes) {
  return begins_with(bytes, "SFNZR");
}

// As many bytes as `into` has room for, unless there are fewer.
Result<void> read_on(const Input& input, std::vector<std::uint8_t>& into, std::size_t until) {
  std::size_t held = into.size();
  into.resize(until);
  while (held < until) {
    const auto count = input.read(reinterpret_cast<char*>(into.data()) + held, until - held);
    if (!count) return count.error();
    if (*count == 0) break;
    held += *count;
  }
  into.resize(held);
  return {};
}

Result<std::vector<std::uint8_t>> read_bounded(const std::string& path) {
  const auto input = Input::open(path, Streams{});
  if (!input) return input.error();
  if (!input->rereadable()) {
    return Trouble{input->name() + ": is no ordinary file; save the digest to one first"};
  }
  std::vector<std::uint8_t> bytes;
  if (auto start = read_on(*input, bytes, kEnoughToTell); !start) return start.error();
  const bool ours = digest::kind_of(bytes) || is_native(bytes) || is_text(bytes);
  if (input->size() > (ours ? kMaxFile : kMaxSquidFile)) {
    return Trouble{path + ": is larger than any digest of its kind; is it one?"};
  }
  if (input->size() > bytes.size()) {
    auto rest = read_on(*input, bytes, static_cast<std::size_t>(input->size()));
    if (!rest) return rest.error();
  }
  return bytes;
}

}  // namespace

template <class T, class E>
Result<AnyDigest> AnyDigest::made(boost::system::result<T, E> loaded, std::string_view kind,
                                  std::uint64_t bytes, const std::string& place) {
  if (loaded) return AnyDigest(kind, bytes, Filter(std::move(*loaded)));
  return Trouble{fmt::format("{}: a {} filter or digest that cannot be used: {}", place, kind,
                             to_string(loaded.error()))};
}

Result<AnyDigest> AnyDigest::open(const std::string& path) {
  auto bytes = read_bounded(path);
  if (!bytes) return bytes.error();
  if (digest::kind_of(*bytes) != FilterKind::mapped) return decode(*bytes, path);
  const auto size = bytes->size();
  *bytes = {};
  auto mapped = digest::MappedFilter::open(path, digest::Access::read);
  if (!mapped) return Trouble{fmt::format("{}: {}", path, to_string(mapped.error()))};
  return AnyDigest("mapped", size, mapped->copy());
}

Result<AnyDigest> AnyDigest::decode(Bytes bytes, const std::string& place) {
  const std::uint64_t size = bytes.size();
  if (is_native(bytes)) {
    return made(digest::decode_native(bytes, nullptr, kMaxNativeFilter), "native", size, place);
  }
  if (is_text(bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return made(digest::BloomFilter::from_text(text), "bloom", size, place);
  }
  const auto kind = digest::kind_of(bytes);
  if (!kind) {
    auto squid = made(digest::decode(bytes), "squid", size, place);
    if (squid) return squid;
    return Trouble{fmt::format("{}: begins as no digest of ours, and as one of Squid's: {}", place,
                               to_string(digest::decode(bytes).error()))};
  }
  switch (*kind) {
    case FilterKind::bloom:
      return made(digest::BloomFilter::load(bytes), "bloom", size, place);
    case FilterKind::counting:
      return made(digest::CountingFilter::load(bytes), "counting", size, place);
    case FilterKind::scalable:
      return made(digest::ScalableFilter::load(bytes), "scalable", size, place);
    case FilterKind::blocked:
      return made(digest::BlockedFilter::load(bytes), "blocked", size, place);
    case FilterKind::quotient:
      return made(digest::QuotientFilter::load(bytes), "quotient", size, place);
    case FilterKind::mapped:
      return Trouble{place + ": a mapped filter, which can be read from a file alone"};
  }
  return Trouble{place + ": a filter of a kind that this program does not know"};
}

}  // namespace proxy::command
