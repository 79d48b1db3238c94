#include "proxy/cache/disk/contents.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "digest/crc32c.hpp"
#include "proxy/cache/disk/scan.hpp"

namespace proxy::cache::disk {

Result<Contents::Unknown> Contents::open(const std::filesystem::path& path) {
  auto directory = Directory::open(path, Access::read);
  if (!directory) return directory.error();
  const auto items = directory->segments();
  if (!items) return items.error();
  Unknown unknown;
  Learner learner(index_, segments_, rules_);
  std::optional<std::uint16_t> purges;  // their number in the segments read so far
  for (const auto& item : *items) {
    if (!item.is_file) continue;
    auto file = directory->open_segment(item.segment);
    // Without a descriptor all further segments would seem unreadable, and the list would lack
    // them.
    if (!file && file.error() == Error::no_descriptors) return file.error();
    const auto scanned = file ? scan(*file, item.segment) : file.error();
    if (!scanned) {
      unknown.unreadable += 1;
      continue;
    }
    unknown.other_version += scanned->other_version ? 1 : 0;
    unknown.damaged += scanned->damaged || scanned->cut ? 1 : 0;
    // As a start does: what `hearsay cache` shows is what the proxy would find.
    if (lost_a_purge(purges, *scanned)) learner.forget_all();
    if (scanned->purges) purges = scanned->purges;
    segments_.add(std::make_shared<const Segment>(item.segment, std::move(*file)));
    learner.learn(scanned->records, item.segment);
  }
  learner.finish();
  directory_ = std::move(*directory);
  return unknown;
}

void Contents::each(const std::function<bool(const Seen&)>& visit,
                    const std::function<bool(const Location&)>& wanted) const {
  // The log gives the order, and the index says which record of a key counts.
  for (auto segment = segments_.oldest(); segment; segment = segments_.after(segment->number)) {
    const auto scanned = scan(segment->file, segment->number);
    if (!scanned) continue;  // open() could read the segment, but now the disk fails
    for (const Listed& listed : scanned->records) {
      const Position at{segment->number, listed.offset};
      const auto place = index_.find(listed.key);
      if (!place || place->at != at || (wanted && !wanted(*place))) continue;
      const auto stored = StoredRecord::open(segments_, listed.key, *place, Wait::yes);
      if (stored && rules_.purged(stored->url(), at, stored->header().giver())) continue;
      if (!visit({listed.key, *place, stored})) return;
    }
  }
}

namespace {

// In the order of Fault.
constexpr std::string_view kFaultTexts[] = {
    "cannot be read",
    "the segment's header is damaged",
    "of another version of the format",
    "longer than a segment can be",
    "no record where one should begin",
    "the checksum of a record's head does not fit",
    "the checksum of a record's body does not fit",
    "the footer is damaged",
    "a record behind damage of unknown length",
};
static_assert(std::size(kFaultTexts) == static_cast<std::size_t>(Fault::unsure) + 1);

class Verification {
 public:
  Verification(const File& file, std::uint32_t segment,
               const std::function<void(const Damage&)>& report)
      : file_(file), segment_(segment), report_(report) {}

  Verified run() {
    const auto size = file_.size();
    if (!size) {
      damaged(Fault::unreadable, 0, 0);
      return verified_;
    }
    verified_.bytes = *size;
    if (*size > kMaxSegmentBytes) {
      damaged(Fault::too_long, 0, *size);
    } else if (*size > 0 && check_header(*size)) {
      check_records(*size);
    }
    return verified_;
  }

 private:
  void damaged(Fault fault, std::uint64_t offset, std::uint64_t lost, std::string_view url = {}) {
    verified_.damages += 1;
    report_({fault, segment_, offset, lost, url});
  }

  // Returns whether to continue behind the header.
  bool check_header(std::uint64_t size) {
    std::array<std::uint8_t, kSegmentHeaderBytes> bytes{};
    if (!file_.read_some(bytes, 0, Wait::yes)) {
      damaged(Fault::unreadable, 0, size);
      return false;
    }
    const auto header = check_segment_header(bytes, segment_);
    if (header == SegmentHeader::other_version) {
      damaged(Fault::other_version, 0, size);
      return false;
    }
    const bool too_short = size < kSegmentHeaderBytes;
    if (header == SegmentHeader::damaged) {
      damaged(Fault::segment_header, 0, too_short ? size : 0);
    }
    return !too_short;
  }

  void check_records(std::uint64_t size) {
    const auto scanned = scan(file_, segment_);
    if (!scanned) {
      damaged(Fault::unreadable, kSegmentHeaderBytes, size - kSegmentHeaderBytes);
      return;
    }
    for (const Listed& listing : scanned->records) {
      std::string_view url;
      const auto fault = fault_of(listing, url);
      if (!fault) {
        verified_.records += 1;
      } else {
        damaged(*fault, listing.offset, *fault == Fault::footer ? 0 : listing.bytes, url);
      }
    }
    if (!scanned->sealed) check_end(*scanned);
  }

  // Without a footer, only bytes not written yet may follow the last good record.
  void check_end(const Scanned& scanned) {
    const std::uint64_t left = scanned.file_bytes - std::min(scanned.end, scanned.file_bytes);
    if (left == 0 || all_zeros(scanned.end, left)) return;
    if (left == footer_bytes(scanned.records.size())) {
      damaged(Fault::footer, scanned.end, 0);
      return;
    }
    std::string_view url;
    std::array<std::uint8_t, kRecordHeaderBytes> begin{};
    const Position at{segment_, static_cast<std::uint32_t>(scanned.end)};
    const auto got = file_.read_some(begin, scanned.end, Wait::yes);
    const auto header = got ? read_header(begin, at) : std::nullopt;
    const bool whole = header && header->bytes() <= left;
    const auto fault = whole ? fault_of(listed(*header), url) : Fault::no_record;
    damaged(fault.value_or(Fault::no_record), scanned.end, left, url);
  }

  // The fault of a record that the segment lists, if any. `url` is valid until the next call.
  std::optional<Fault> fault_of(const Listed& listing, std::string_view& url) {
    // One buffer for all records, since a segment has thousands.
    record_.resize(std::max<std::size_t>(record_.size(), listing.bytes));
    const auto record = std::span(record_).first(listing.bytes);
    if (!file_.read(record, listing.offset, Wait::yes)) return Fault::unreadable;
    const auto header = read_header(record.first<kRecordHeaderBytes>(), {segment_, listing.offset});
    if (!header || header->bytes() > listing.bytes) return Fault::no_record;
    const auto checked = static_cast<std::size_t>(header->checked_bytes());
    if (!head_intact(record.first(checked))) return Fault::head;
    url = {reinterpret_cast<const char*>(&record_[kRecordHeaderBytes]), header->url_bytes};
    const bool believed = listing.kind < RecordKind::lost;
    if (believed && listed(*header) != listing) return Fault::footer;
    const auto body = record.subspan(checked, header->body_bytes);
    if (digest::crc32c(body) != header->body_checksum) return Fault::body;
    return believed ? std::nullopt : std::optional(Fault::unsure);
  }

  // In parts: a segment may have 256 MiB of reserved space.
  bool all_zeros(std::uint64_t offset, std::uint64_t left) {
    constexpr std::uint64_t kAtOnce = 1 << 20;
    std::vector<std::uint8_t> some(static_cast<std::size_t>(std::min(left, kAtOnce)));
    while (left > 0) {
      const auto part = std::span(some).first(static_cast<std::size_t>(std::min(left, kAtOnce)));
      const auto read = file_.read(part, offset, Wait::yes);
      if (!read || std::ranges::any_of(part, [](auto byte) { return byte != 0; })) {
        return false;
      }
      offset += part.size();
      left -= part.size();
    }
    return true;
  }

  const File& file_;
  const std::uint32_t segment_;
  const std::function<void(const Damage&)>& report_;
  std::vector<std::uint8_t> record_;
  Verified verified_;
};

}  // namespace

std::string_view to_string(Fault fault) {
  return kFaultTexts[static_cast<std::size_t>(fault)];
}

Verified verify(const File& file, std::uint32_t segment,
                const std::function<void(const Damage&)>& report) {
  return Verification(file, segment, report).run();
}

}  // namespace proxy::cache::disk
