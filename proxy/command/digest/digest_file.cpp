#include "proxy/command/digest/digest_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "digest/base64.hpp"
#include "digest/native_digest.hpp"
#include "digest/squid_digest.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {
namespace {

using Bytes = std::span<const std::uint8_t>;
using digest::FilterKind;

constexpr std::uint64_t kMaxBitBytes = digest::kMaxBits / 8 + 1;
// Allows for the envelope, the shape, numbers and rounding.
constexpr std::uint64_t kFields = 256;
constexpr std::uint64_t kMaxScalable = std::uint64_t{4} << 30;  // all stages together
constexpr std::size_t kHead = 64;
constexpr std::size_t kEnvelopeDigits = digest::kEnvelopeBytes / 3 * 4;

bool begins_with(Bytes bytes, std::string_view mark) {
  return bytes.size() >= mark.size() && std::equal(mark.begin(), mark.end(), bytes.begin());
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

std::uint64_t most_bytes(FileForm form, Bytes head) {
  switch (form) {
    case FileForm::squid:
      return digest::kSquidControlBytes + digest::kMaxSquidMaskBytes;
    case FileForm::native:
      return digest::kNativeHeaderBytes + digest::kMaxSquidMaskBytes;
    case FileForm::text:
      return with_blanks(digits_for(kMaxBitBytes + kFields));
    case FileForm::filter:
      break;
  }
  const auto kind = digest::kind_of(head);
  if (kind == FilterKind::scalable) return kMaxScalable;
  return (kind == FilterKind::counting ? 4 : 1) * kMaxBitBytes + kFields;
}

// Checks that a file of `size` bytes that begins with `head` is as long as its envelope says.
digest::Loaded<void> check_length(FileForm form, Bytes head, std::uint64_t size) {
  if (form == FileForm::filter) {
    const auto announced = digest::announced_bytes(head);
    if (!announced) return announced.error();
    if (*announced != size) return digest::FileError::wrong_length;
  }
  if (form == FileForm::text) {
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

// Returns trouble if the file is too large, or not as long as it says, to be read as a whole.
Result<void> may_read(const std::string& path, FileForm form, std::string_view kind, Bytes head,
                      std::uint64_t size) {
  if (auto length = check_length(form, head, size); !length) {
    return unusable_digest(path, kind, to_string(length.error()));
  }
  if (size <= most_bytes(form, head)) return {};
  return Trouble{path + ": is larger than any digest of its kind; is it one?"};
}

}  // namespace

FileForm form_of(Bytes bytes) {
  if (begins_with(bytes, "HSDG")) return FileForm::native;
  if (begins_with(bytes, "SFNZR"))
    return FileForm::text;  // base64 of "HSYF" and of any byte that may follow
  return digest::kind_of(bytes) ? FileForm::filter : FileForm::squid;
}

std::string_view name_of(FilterKind kind) {
  switch (kind) {
    case FilterKind::bloom:
      return "bloom";
    case FilterKind::counting:
      return "counting";
    case FilterKind::scalable:
      return "scalable";
    case FilterKind::blocked:
      return "blocked";
    case FilterKind::quotient:
      return "quotient";
    case FilterKind::mapped:
      return "mapped";
  }
  return {};
}

Trouble unusable_digest(std::string_view place, std::string_view kind, std::string_view why) {
  return {fmt::format("{}: a {} filter or digest that cannot be used: {}", place, kind, why)};
}

Result<DigestFile> read_digest_file(const std::string& path) {
  const auto input = InputFile::open(path, Streams{}, Opening::at_once);
  if (!input) return input.error();
  if (!input->rereadable()) {
    return Trouble{input->name() + ": is no ordinary file; save the digest to a file first"};
  }
  DigestFile file{.size = input->size(), .bytes = {}};
  if (auto head = read_on(*input, file.bytes, kHead); !head) return head.error();
  const FileForm form = form_of(file.bytes);
  const auto kind = digest::kind_of(file.bytes);
  if (kind == FilterKind::mapped || (kind && name_of(*kind).empty())) return file;
  const std::string_view name = kind ? name_of(*kind) : "bloom";
  if (auto allowed = may_read(path, form, name, file.bytes, file.size); !allowed) {
    return allowed.error();
  }
  if (file.size > file.bytes.size()) {
    auto rest = read_on(*input, file.bytes, static_cast<std::size_t>(file.size));
    if (!rest) return rest.error();
  }
  return file;
}

}  // namespace proxy::command
