#include "proxy/command/digest/any_digest.hpp"

#include <fmt/format.h>

#include <utility>

#include "digest/mapped_filter.hpp"
#include "proxy/command/digest/digest_file.hpp"

namespace proxy::command {
namespace {

using Bytes = std::span<const std::uint8_t>;
using digest::FilterKind;

// In bytes. A short snapshot may announce a large empty filter; none larger is sent between
// peers.
constexpr std::size_t kMaxNativeFilter = std::size_t{64} << 20;

}  // namespace

template <class T, class E>
Result<AnyDigest> AnyDigest::wrapped(boost::system::result<T, E> loaded, std::string_view kind,
                                     std::uint64_t bytes, const std::string& place) {
  if (loaded) return AnyDigest(kind, bytes, Filter(std::move(*loaded)));
  return unusable_digest(place, kind, to_string(loaded.error()));
}

Result<AnyDigest> AnyDigest::open(const std::string& path) {
  const auto file = read_digest_file(path);
  if (!file) return file.error();
  if (digest::kind_of(file->bytes) != FilterKind::mapped) return decode(file->bytes, path);
  auto mapped = digest::MappedFilter::open(path, digest::Access::read);
  if (!mapped) return Trouble{fmt::format("{}: {}", path, to_string(mapped.error()))};
  return AnyDigest("mapped", file->size, mapped->copy());
}

Result<AnyDigest> AnyDigest::decode(Bytes bytes, const std::string& place) {
  const std::uint64_t size = bytes.size();
  const FileForm form = form_of(bytes);
  if (form == FileForm::native) {
    return wrapped(digest::decode_native(bytes, nullptr, kMaxNativeFilter), "native", size, place);
  }
  if (form == FileForm::text) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return wrapped(digest::BloomFilter::from_text(text), "bloom", size, place);
  }
  const auto kind = digest::kind_of(bytes);
  if (!kind) {
    auto squid = wrapped(digest::decode(bytes), "squid", size, place);
    if (squid) return squid;
    return Trouble{fmt::format("{}: begins as no digest of ours, and as one of Squid's: {}", place,
                               to_string(digest::decode(bytes).error()))};
  }
  switch (*kind) {
    case FilterKind::bloom:
      return wrapped(digest::BloomFilter::load(bytes), "bloom", size, place);
    case FilterKind::counting:
      return wrapped(digest::CountingFilter::load(bytes), "counting", size, place);
    case FilterKind::scalable:
      return wrapped(digest::ScalableFilter::load(bytes), "scalable", size, place);
    case FilterKind::blocked:
      return wrapped(digest::BlockedFilter::load(bytes), "blocked", size, place);
    case FilterKind::quotient:
      return wrapped(digest::QuotientFilter::load(bytes), "quotient", size, place);
    case FilterKind::mapped:
      return Trouble{place + ": a mapped filter, which can be read from a file alone"};
  }
  return Trouble{place + ": a filter of a kind that this program does not know"};
}

}  // namespace proxy::command
