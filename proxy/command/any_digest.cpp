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

// In bytes. A short snapshot may announce a large empty filter; none larger is sent between
// peers.
constexpr std::size_t kMaxNativeFilter = std::size_t{64} << 20;
constexpr std::uint64_t kMaxBitBytes = digest::kMaxBits / 8 + 1;
// Allows for the envelope, the shape, numbers and rounding.
constexpr std::uint64_t kFields = 256;
constexpr std::uint64_t kMaxScalable = std::uint64_t{4} << 30;  // all stages together
constexpr std::size_t kHead = 64;
constexpr std::size_t kEnvelopeDigits = digest::kEnvelopeBytes / 3 * 4;

enum class Form : std::uint8_t { filter, text, native, squid };

bool begins_with(Bytes bytes, std::string_view mark) {
  return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
}

// The form that the first bytes indicate. Squid's form has no magic number, so it stands for all
// other beginnings.
Form form_of(Bytes bytes) {
  if (begins_with(bytes, "HSDG")) return Form::native;
  // Base64 of "HSYF" and of any byte that may follow.
  if (begins_with(bytes, "SFNZR")) return Form::text;
  return digest::kind_of(bytes) ? Form::filter : Form::squid;
}

// Empty for a kind that this program does not know.
std::string_view name_of(FilterKind kind) {
  constexpr std::string_view kKinds[] = {"",         "bloom",    "counting", "scalable",
                                         "blocked",  "quotient", "mapped",   "bloomier",
                                         "weighted", "bounds",   "adaptive", "message"};
  const auto number = static_cast<std::size_t>(kind);
  return number < std::size(kKinds) ? kKinds[number] : std::string_view();
}

Trouble unusable(std::string_view place, std::string_view kind, std::string_view why) {
  return {fmt::format("{}: a {} filter or digest that cannot be used: {}", place, kind, why)};
}

constexpr std::uint64_t digits_for(std::uint64_t bytes) {
  return (bytes + 2) / 3 * 4;
}

// The length of a text of so many digits, broken into lines of 16 digits or more.
constexpr std::uint64_t with_blanks(std::uint64_t digits) {
  return digits + digits / 8 + 16;
}

// Decodes the envelope at the beginning of the text; empty if there is none.
std::vector<std::uint8_t> envelope_in(Bytes text) {
  std::string digits;
  for (const std::uint8_t c : text) {
    if (digits.size() < kEnvelopeDigits && c > ' ') digits += static_cast<char>(c);
  }
  return digest::from_base64(digits).value_or(std::vector<std::uint8_t>());
}

std::uint64_t most_bytes(Form form, Bytes head) {
  switch (form) {
    case Form::squid:
      return digest::kSquidControlBytes + digest::kMaxSquidMaskBytes;
    case Form::native:
      return digest::kNativeHeaderBytes + digest::kMaxSquidMaskBytes;
    case Form::text:
      return with_blanks(digits_for(kMaxBitBytes + kFields));
    case Form::filter:
      break;
  }
  const auto kind = digest::kind_of(head);
  // The last two have bytes for each key or position.
  if (kind == FilterKind::scalable || kind == FilterKind::bounds || kind == FilterKind::adaptive) {
    return kMaxScalable;
  }
  return (kind == FilterKind::counting ? 4 : 1) * kMaxBitBytes + kFields;
}

// Checks that a file of `size` bytes that begins with `head` is as long as its envelope says.
digest::Loaded<void> check_length(Form form, Bytes head, std::uint64_t size) {
  if (form == Form::filter) {
    const auto announced = digest::announced_bytes(head);
    if (!announced) return announced.error();
    if (*announced != size) return digest::FileError::wrong_length;
  }
  if (form == Form::text) {
    const auto announced = digest::announced_bytes(envelope_in(head));
    if (!announced) return announced.error();
    const std::uint64_t least = digits_for(std::min(*announced, size));
    if (size < least || size > with_blanks(least)) return digest::FileError::wrong_length;
  }
  return {};
}

// Appends to `into` until it has `until` bytes, or the input ends.
Result<void> read_on(const InputFile& input, std::vector<std::uint8_t>& into, std::size_t until) {
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

// Reads the file. Of a mapped filter, and of a filter of no known kind, only the beginning.
Result<std::vector<std::uint8_t>> read_digest_file(const InputFile& input) {
  std::vector<std::uint8_t> bytes;
  if (auto head = read_on(input, bytes, kHead); !head) return head.error();
  const Form form = form_of(bytes);
  const auto kind = digest::kind_of(bytes);
  if (kind == FilterKind::mapped || (kind && name_of(*kind).empty())) return bytes;
  // Before the rest is read, for which a file of another kind could take gigabytes of memory.
  if (auto length = check_length(form, bytes, input.size()); !length) {
    return unusable(input.name(), kind ? name_of(*kind) : "bloom", to_string(length.error()));
  }
  if (input.size() > most_bytes(form, bytes)) {
    return Trouble{input.name() + ": is larger than any digest of its kind; is it one?"};
  }
  if (input.size() > bytes.size()) {
    auto rest = read_on(input, bytes, static_cast<std::size_t>(input.size()));
    if (!rest) return rest.error();
  }
  return bytes;
}

}  // namespace

Result<AnyDigest> AnyDigest::open(const std::string& path) {
  const auto input = InputFile::open(path, Streams{}, Opening::at_once);
  if (!input) return input.error();
  // The length of the file is judged before its bytes are read, and a pipe has none.
  if (!input->rereadable()) {
    return Trouble{input->name() + ": is no ordinary file; save the digest to a file first"};
  }
  const auto bytes = read_digest_file(*input);
  if (!bytes) return bytes.error();
  if (digest::kind_of(*bytes) != FilterKind::mapped) return decode(*bytes, path);
  auto mapped = digest::MappedFilter::open(path, digest::Access::read);
  if (!mapped) return Trouble{fmt::format("{}: {}", path, to_string(mapped.error()))};
  return AnyDigest("mapped", input->size(), mapped->copy());
}

Result<AnyDigest> AnyDigest::decode(Bytes bytes, const std::string& place) {
  const auto wrapped = [&](auto loaded, std::string_view kind) -> Result<AnyDigest> {
    if (loaded) return AnyDigest(kind, bytes.size(), Filter(std::move(*loaded)));
    return unusable(place, kind, to_string(loaded.error()));
  };
  const Form form = form_of(bytes);
  if (form == Form::native) {
    return wrapped(digest::decode_native(bytes, nullptr, kMaxNativeFilter), "native");
  }
  if (form == Form::text) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return wrapped(digest::BloomFilter::from_text(text), "bloom");
  }
  const auto kind = digest::kind_of(bytes);
  if (!kind) {
    auto squids = digest::decode(bytes);
    if (squids) return wrapped(std::move(squids), "squid");
    return Trouble{fmt::format("{}: begins as no digest of ours, and as one of Squid's: {}", place,
                               to_string(squids.error()))};
  }
  const auto name = name_of(*kind);
  switch (*kind) {
    case FilterKind::bloom:
      return wrapped(digest::BloomFilter::load(bytes), name);
    case FilterKind::counting:
      return wrapped(digest::CountingFilter::load(bytes), name);
    case FilterKind::scalable:
      return wrapped(digest::ScalableFilter::load(bytes), name);
    case FilterKind::blocked:
      return wrapped(digest::BlockedFilter::load(bytes), name);
    case FilterKind::quotient:
      return wrapped(digest::QuotientFilter::load(bytes), name);
    case FilterKind::bloomier:
      return wrapped(digest::BloomierFilter::load(bytes), name);
    case FilterKind::weighted:
      return wrapped(digest::WeightedFilter::load(bytes), name);
    case FilterKind::bounds:
      return wrapped(digest::CompactApproximator::load(bytes), name);
    case FilterKind::adaptive:
      return wrapped(digest::AdaptiveFilter::load(bytes), name);
    case FilterKind::message:
      return wrapped(digest::MessageFilter::load(bytes), name);
    case FilterKind::mapped:
      return Trouble{place + ": a mapped filter, which can be read from a file alone"};
  }
  return Trouble{place + ": a filter of a kind that this program does not know"};
}

}  // namespace proxy::command
