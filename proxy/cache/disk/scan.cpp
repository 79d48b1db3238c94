#include "proxy/cache/disk/scan.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {
namespace {

// To mend a header, replay computes the checksum up to once for each bit of it. So it tries at most
// kMostMends headers of one segment, and none whose record has more than kMostMended bytes of
// header, URL and head.
constexpr int kMostMends = 64;
constexpr std::uint64_t kMostMended = 64 * 1024;

// The most bytes of one segment that replay checks in vain. A sender can forge many headers in a
// body, each with a URL and head that reach to the end of the file, and all of that is checked.
constexpr std::uint64_t kMostInVain = std::uint64_t{256} << 20;

bool all_zeros(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

// The offset behind the last byte that is not zero.
std::uint64_t end_of_content(Bytes file) {
  const auto last =
      std::find_if(file.rbegin(), file.rend(), [](std::uint8_t byte) { return byte != 0; });
  return static_cast<std::uint64_t>(file.rend() - last);
}

// Tells the record of a response from a purge. A response has a URL, and a head or a body; a purge
// has neither head nor body; a `searched` record has no URL.
bool has_lengths_of_a_response(const RecordHeader& header) {
  const bool has_content = header.head_bytes > 0 || header.body_bytes > 0;
  return has_content && header.url_bytes > 0;
}

class Replay {
 public:
  Replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges)
      : file_(file), segment_(segment), zeros_(end_of_content(file)) {
    found_.purges = purges;
    found_.end = kSegmentHeaderBytes;
  }

  Scanned run() {
    while (found_.end < file_.size() && file_.size() <= kMaxSegmentBytes) {
      const auto header = head_at(found_.end);
      if (header && body_intact(*header)) {
        accept(*header);
      } else if (!pass_damage(header)) {
        break;
      }
    }
    return std::move(found_);
  }

 private:
  Bytes rest(std::uint64_t from) const { return file_.subspan(static_cast<std::size_t>(from)); }
  Position place(std::uint64_t offset) const {
    return {segment_, static_cast<std::uint32_t>(offset)};
  }

  // The header at this offset, if header, URL and head are good and the record ends in the file.
  std::optional<RecordHeader> head_at(std::uint64_t offset) {
    const Bytes bytes = rest(offset);
    if (bytes.size() < kRecordHeaderBytes || gives_up()) return std::nullopt;
    const auto header = read_header(bytes.first<kRecordHeaderBytes>(), place(offset));
    if (!header || header->bytes() > bytes.size()) return std::nullopt;
    const auto checked = bytes.first(static_cast<std::size_t>(header->checked_bytes()));
    if (head_intact(checked)) return header;
    in_vain_ += checked.size();
    return std::nullopt;
  }
  // From then on head_at() finds nothing, so the rest of the file counts as damaged.
  bool gives_up() const { return in_vain_ >= kMostInVain; }
  bool body_intact(const RecordHeader& header) const {
    const auto begin = header.at.offset + header.checked_bytes();
    return digest::crc32c(rest(begin).first(header.body_bytes)) == header.body_checksum;
  }

  // As head_at() for the header at the begin of `bytes`, with each bit of it flipped in turn: the
  // first one that makes the checksum match.
  std::optional<RecordHeader> mended_head(Bytes bytes) {
    if (mends_left_ == 0) return std::nullopt;
    mends_left_ -= 1;
    std::array<std::uint8_t, kRecordHeaderBytes> mended{};
    std::copy_n(bytes.begin(), mended.size(), mended.begin());
    for (std::size_t bit = 0; bit < 8 * mended.size(); ++bit) {
      const auto turn = [&] { mended[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8); };
      turn();
      const auto header = read_header(mended, place(found_.end));
      if (header && header->bytes() <= bytes.size() && header->checked_bytes() <= kMostMended) {
        const auto checked = bytes.first(static_cast<std::size_t>(header->checked_bytes()));
        if (head_intact(mended, checked.subspan(mended.size()))) return header;
      }
      turn();
    }
    return std::nullopt;
  }

  // Lists damage of this length in place of a record, and moves behind it.
  void list(RecordKind kind, const Key& key, std::uint64_t bytes) {
    found_.records.push_back({.key = key,
                              .offset = static_cast<std::uint32_t>(found_.end),
                              .bytes = static_cast<std::uint32_t>(bytes),
                              .kind = kind});
    found_.end += aligned(bytes);
  }
  // Sets the number of purges up to and with this record.
  void count(const RecordHeader& header) {
    found_.purges = static_cast<std::uint16_t>(header.purges + (is_purge(header.kind) ? 1 : 0));
  }

  void accept(const RecordHeader& header) {
    found_.any = true;
    count(header);
    if (believes_ || header.kind == RecordKind::purge || header.kind == RecordKind::purge_prefix) {
      found_.records.push_back(listed(header));
      found_.end += aligned(header.bytes());
    } else {
      // A forged `searched` record must not end a purge. A real one must not be ignored, as the
      // entries that it lists would be back. So nothing earlier counts.
      const bool searched = header.kind == RecordKind::searched;
      list(searched ? RecordKind::unknown : RecordKind::lost, header.index_key(), header.bytes());
    }
  }

  // Skips the damage at found_.end. `good_head`: the header there, if only the body is damaged.
  // Returns whether to continue behind the damage.
  bool pass_damage(const std::optional<RecordHeader>& good_head) {
    const Bytes bytes = rest(found_.end);
    if (found_.end >= zeros_) return false;
    if (bytes.size() < kRecordHeaderBytes) return end_cut();
    found_.damaged = true;
    const auto sure = good_head ? good_head : mended_head(bytes);
    if (sure) {
      count(*sure);
      list(is_purge(sure->kind) ? sure->kind : RecordKind::lost, sure->index_key(), sure->bytes());
      return true;
    }
    // The header has no good checksum from here on, so its length is only tried.
    const auto header = read_header(bytes.first<kRecordHeaderBytes>(), place(found_.end));
    const bool cut = header && header->bytes() > bytes.size();
    if (cut) return pass_unknown_length(bytes, cut);
    const RecordHeader raw = unchecked_header(bytes.first<kRecordHeaderBytes>());
    if (raw.bytes() <= bytes.size()) {
      const auto end = std::min<std::uint64_t>(found_.end + aligned(raw.bytes()), file_.size());
      if (const auto next = head_at(end)) return skip_to(*next, raw.index_key());
      if (end >= zeros_) {
        list(has_lengths_of_a_response(raw) ? RecordKind::lost : RecordKind::unknown,
             raw.index_key(), raw.bytes());
        return true;
      }
    }
    return pass_unknown_length(bytes, cut);
  }

  // Searches for the next good record, 16 bytes at a time. `cut`: the damaged record is longer than
  // the rest of the file. If no good record follows, a crash cut the file here.
  bool pass_unknown_length(Bytes bytes, bool cut) {
    if (!cut && is_footer(bytes)) return false;
    const std::uint64_t begin = found_.end + kRecordHeaderBytes;
    for (std::uint64_t at = begin; at < file_.size() && !gives_up(); at += kAlignment) {
      const auto next = head_at(at);
      if (!next) continue;
      believes_ = false;
      return skip_to(*next, {});
    }
    if (all_zeros(bytes.first(kRecordHeaderBytes)) || (cut && !gives_up())) return end_cut();
    list(RecordKind::unknown, {}, bytes.size());
    return true;
  }

  // Lists the bytes up to `next` as one damaged record. If purges are missing between the numbers
  // before and behind it, that record stands for a purge of everything.
  bool skip_to(const RecordHeader& next, const Key& key) {
    const bool none_lost = found_.purges == next.purges;
    list(none_lost ? RecordKind::lost : RecordKind::unknown, key, next.at.offset - found_.end);
    found_.purges = next.purges;
    return true;
  }

  // Ends at a record that a crash cut while it was written. Only damage before it counts as damage.
  bool end_cut() {
    found_.cut = true;
    found_.damaged = std::ranges::any_of(
        found_.records, [](const auto& one) { return one.kind >= RecordKind::lost; });
    return false;
  }

  // Whether the bytes are a footer that is damaged or cut: more than three quarters of them equal
  // the footer that the records found so far would have. The footer may be longer than that, since
  // it lists each record that damage hides. It ends the file.
  bool is_footer(Bytes bytes) {
    if (bytes.size() > 2 * footer_bytes(found_.records.size()) || gives_up()) return false;
    const auto footer = encode_footer(segment_, found_.records, found_.purges.value_or(0));
    const std::size_t size = std::min(bytes.size(), footer.size());
    std::size_t differ = 0;
    for (std::size_t i = 0; i < size; ++i) differ += bytes[i] == footer[i] ? 0 : 1;
    if (differ == 0 && bytes.size() < footer.size()) end_cut();
    in_vain_ += footer.size();
    return 4 * differ < size;
  }

  const Bytes file_;
  const std::uint32_t segment_;
  const std::uint64_t zeros_;  // from this offset on, all bytes are 0
  std::uint64_t in_vain_ = 0;  // bytes checked that were neither a head nor a footer
  Scanned found_;
  bool believes_ = true;  // false: a sender may have forged the records that follow
  int mends_left_ = kMostMends;
};

// Reads the records from the footer. Returns whether the footer is there and undamaged.
Result<bool> scan_footer(const File& file, std::uint32_t segment, Scanned& found) {
  if (found.file_bytes < kSegmentHeaderBytes + kTrailerBytes) return false;
  std::array<std::uint8_t, kTrailerBytes> end;
  const auto read_end = file.read(end, found.file_bytes - kTrailerBytes, Wait::yes);
  if (!read_end) return read_end.error();
  const auto trailer = read_trailer(end, segment, found.file_bytes);
  if (!trailer) return false;
  const auto size = static_cast<std::size_t>(footer_bytes(trailer->records));
  const auto footer = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  const auto read = file.read({footer.get(), size}, trailer->footer_offset, Wait::yes);
  if (!read) return read.error();
  auto records = read_footer({footer.get(), size}, *trailer);
  if (!records) return false;
  found.records = std::move(*records);
  found.end = trailer->footer_offset;
  found.purges = trailer->purges;
  found.sealed = true;
  return true;
}

Result<void> scan_records(const File& file, std::uint32_t segment, Scanned& found) {
  if (found.file_bytes > kMaxSegmentBytes) {
    found.damaged = true;
    return {};
  }
  const auto size = static_cast<std::size_t>(found.file_bytes);
  const auto bytes = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  if (const auto read = file.read({bytes.get(), size}, 0, Wait::yes); !read) return read.error();
  auto replayed = replay({bytes.get(), size}, segment, found.purges_before);
  found.end = kSegmentHeaderBytes;
  if (!found.purges_before && !replayed.any) return {};  // nothing shows that the file is ours
  found.records = std::move(replayed.records);
  found.end = replayed.end;
  found.purges = replayed.purges;
  found.damaged = found.damaged || replayed.damaged;
  found.cut = replayed.cut;
  return {};
}

}  // namespace

Scanned replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges) {
  return Replay(file, segment, purges).run();
}

Result<Scanned> scan(const File& file, std::uint32_t segment) {
  Scanned found;
  const auto size = file.size();
  if (!size) return size.error();
  found.file_bytes = *size;
  std::array<std::uint8_t, kSegmentHeaderBytes> begin{};
  const auto got = file.read_some(begin, 0, Wait::yes);
  if (!got) return got.error();
  const auto header = check_segment_header(begin, segment);
  found.other_version = header == SegmentHeader::other_version;
  const bool zeros = std::ranges::all_of(begin, [](auto byte) { return byte == 0; });
  found.cut = *got > 0 && (*got < begin.size() || zeros);
  found.damaged = header == SegmentHeader::damaged && *got == begin.size() && !zeros;
  if (header == SegmentHeader::good) {
    found.purges_before = purges_before(begin);
    found.clock = clock_mark(begin);
  }
  if (found.other_version || *got < begin.size()) return found;
  const auto sealed = scan_footer(file, segment, found);
  if (!sealed) return sealed.error();
  if (*sealed) return found;
  if (const auto read = scan_records(file, segment, found); !read) return read.error();
  return found;
}

}  // namespace proxy::cache::disk
