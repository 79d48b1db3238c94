#include "digest/file_format.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "digest/crc32c.hpp"
#include "digest/little_endian.hpp"

namespace digest {
namespace {

constexpr std::array<std::uint8_t, 4> kFileMagic = {'H', 'S', 'Y', 'F'};
constexpr std::uint8_t kFileVersion = 1;
constexpr std::size_t kFileVersionAt = 4;
constexpr std::size_t kKindAt = 5;
constexpr std::size_t kLengthAt = 8;
constexpr std::size_t kFileChecksumAt = 16;

// The checksum covers its own envelope, too: a wrong kind or length must not look like damage of
// the content.
std::uint32_t file_checksum_of(std::span<const std::uint8_t> file) {
  return crc32c(file.subspan(kEnvelopeBytes), crc32c(file.first(kFileChecksumAt)));
}

bool begins_as_filter(std::span<const std::uint8_t> file) {
  return file.size() >= kEnvelopeBytes &&
         std::equal(kFileMagic.begin(), kFileMagic.end(), file.begin());
}

}  // namespace

std::string_view to_string(FileError error) {
  static constexpr std::array<std::string_view, 7> kTexts{
      "not a saved filter",
      "saved by a later version",
      "a filter of another kind",
      "the file has another length than it says",
      "the checksum does not fit: the file is damaged",
      "no filter can have this shape",
      "no filter of this shape can have this content"};
  return text_in(kTexts, error);
}

std::optional<FilterKind> kind_of(std::span<const std::uint8_t> file) {
  if (!begins_as_filter(file)) return std::nullopt;
  return static_cast<FilterKind>(file[kKindAt]);
}

Loaded<std::uint64_t> announced_bytes(std::span<const std::uint8_t> head) {
  if (!begins_as_filter(head)) return FileError::not_a_filter;
  if (head[kFileVersionAt] != kFileVersion) return FileError::unknown_version;
  const std::uint64_t payload = load64(&head[kLengthAt]);
  // The length is foreign, and the sum may wrap.
  const std::uint64_t all = payload + kEnvelopeBytes;
  return all < payload ? Loaded<std::uint64_t>(FileError::wrong_length) : all;
}

FileWriter::FileWriter(FilterKind kind, std::size_t expected_payload) {
  file_.reserve(kEnvelopeBytes + expected_payload);
  file_.resize(kEnvelopeBytes);
  std::copy(kFileMagic.begin(), kFileMagic.end(), file_.begin());
  file_[kFileVersionAt] = kFileVersion;
  file_[kKindAt] = static_cast<std::uint8_t>(kind);
}

FileWriter& FileWriter::number(std::uint64_t value) {
  file_.resize(file_.size() + 8);
  store64(&file_[file_.size() - 8], value);
  return *this;
}

FileWriter& FileWriter::bytes(std::span<const std::uint8_t> content) {
  file_.insert(file_.end(), content.begin(), content.end());
  return *this;
}

FileWriter& FileWriter::shape(const Shape& shape) {
  number(shape.bits);
  const auto derivation = static_cast<std::uint64_t>(shape.derivation);
  const auto layout = static_cast<std::uint64_t>(shape.layout);
  number(shape.hashes | derivation << 32 | layout << 40);
  // A shape that is not salted may hold any salt in memory, but equal filters are saved as equal
  // bytes.
  const bool salted = shape.derivation == Derivation::salted;
  return bytes(salted ? shape.salt : Salt{});
}

std::vector<std::uint8_t> FileWriter::finish() && {
  store64(&file_[kLengthAt], file_.size() - kEnvelopeBytes);
  store64(&file_[kFileChecksumAt], file_checksum_of(file_));
  return std::move(file_);
}

Loaded<FileReader> FileReader::open(std::span<const std::uint8_t> file, FilterKind kind) {
  if (!begins_as_filter(file)) return FileError::not_a_filter;
  // Before the checksum: what a later version writes may be checked in another way, and is not
  // damaged.
  if (file[kFileVersionAt] != kFileVersion) return FileError::unknown_version;
  if (file[kKindAt] != static_cast<std::uint8_t>(kind)) return FileError::other_kind;
  const auto payload = file.subspan(kEnvelopeBytes);
  if (load64(&file[kLengthAt]) != payload.size()) return FileError::wrong_length;
  // Compared as 8 bytes: the four after the checksum must be zero.
  if (load64(&file[kFileChecksumAt]) != file_checksum_of(file)) return FileError::damaged;
  return FileReader(payload);
}

std::uint64_t FileReader::number() {
  const auto field = bytes(8);
  return field.empty() ? 0 : load64(field.data());
}

std::span<const std::uint8_t> FileReader::bytes(std::uint64_t count) {
  if (count > payload_.size()) {
    overrun_ = true;
    return {};
  }
  const auto taken = payload_.first(static_cast<std::size_t>(count));
  payload_ = payload_.subspan(taken.size());
  return taken;
}

std::optional<Shape> FileReader::shape() {
  Shape read{.bits = number()};
  const std::uint64_t rest = number();
  const auto derivation = static_cast<std::uint8_t>(rest >> 32);
  // An enumerator that no program of this version writes must not become a value of the enum.
  if (derivation > static_cast<std::uint8_t>(Derivation::salted) || rest >> 41 != 0) return {};
  read.hashes = static_cast<std::uint32_t>(rest);
  read.derivation = static_cast<Derivation>(derivation);
  read.layout = static_cast<Layout>(rest >> 40);
  const auto salt = bytes(read.salt.size());
  std::copy(salt.begin(), salt.end(), read.salt.begin());
  if (read.derivation != Derivation::salted && read.salt != Salt{}) return {};
  return check(read) ? std::optional(read) : std::nullopt;
}

}  // namespace digest
