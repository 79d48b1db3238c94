#include "proxy/cache/disk/format/replay.hpp"

#include <algorithm>
#include <array>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {
namespace {

// Trying all bits takes time: the most attempts in one segment, and the largest head to try.
constexpr int kMostMends = 64;
constexpr std::uint64_t kMostMended = 64 * 1024;

// A sender can make up heads in a body, each of which claims to reach to the end: the most bytes
// looked at in vain in one segment.
constexpr std::uint64_t kMostInVain = std::uint64_t{256} << 20;

bool all_zeros(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// The offset of the zeros at the end of the file.
std::uint64_t end_of_content(Bytes file) {
  const auto last =
      std::find_if(file.rbegin(), file.rend(), [](std::uint8_t byte) { return byte != 0; });
  return static_cast<std::uint64_t>(file.rend() - last);
}

// A response has a URL, and a head or a body. Purges have neither head nor body, searches no URL.
bool has_lengths_of_a_response(const RecordHeader& header) {
  const bool has_content = header.head_bytes > 0 || header.body_bytes > 0;
  return has_content && header.url_bytes > 0;
}

class Replay {
 public:
  Replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges)
      : file_(file), segment_(segment), zeros_(end_of_content(file)) {
    found_.purges = purges;
  }

  Replayed run() {
    while (found_.end < file_.size() && file_.size() <= kMaxSegmentBytes) {
      const auto header = head_at(found_.end);
      if (header && body_intact(*header)) {
        take(*header);
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

  // A record whose header, URL and head are good, and which does not pass the end of the file.
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
  // If true, no more records are found: the rest is damage of unknown length.
  bool gives_up() const { return in_vain_ >= kMostInVain; }
  bool body_intact(const RecordHeader& header) const {
    const auto begin = header.at.offset + header.checked_bytes();
    return digest::crc32c(rest(begin).first(header.body_bytes)) == header.body_checksum;
  }

  // As head_at(), after one flipped bit of the header is repaired.
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

  void list(RecordKind kind, const Key& key, std::uint64_t bytes) {
    found_.records.push_back({.key = key,
                              .offset = static_cast<std::uint32_t>(found_.end),
                              .bytes = static_cast<std::uint32_t>(bytes),
                              .kind = kind});
    found_.end += aligned(bytes);
  }
  void count(const RecordHeader& header) {
    found_.purges = static_cast<std::uint16_t>(header.purges + (is_purge(header.kind) ? 1 : 0));
  }

  void take(const RecordHeader& header) {
    found_.any = true;
    count(header);
    if (believes_ || header.kind == RecordKind::purge || header.kind == RecordKind::purge_prefix) {
      found_.records.push_back(listed(header));
      found_.end += aligned(header.bytes());
    } else {
      const bool searched = header.kind == RecordKind::searched;
      list(searched ? RecordKind::unknown : RecordKind::lost, header.index_key(), header.bytes());
    }
  }

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

  // `cut`: the record passes the end of the file, like a record cut by a crash, which is the last.
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

  bool skip_to(const RecordHeader& next, const Key& key) {
    const bool none_lost = found_.purges == next.purges;
    list(none_lost ? RecordKind::lost : RecordKind::unknown, key, next.at.offset - found_.end);
    found_.purges = next.purges;
    return true;
  }

  // Ends at a record that a crash cut while it was written.
  bool end_cut() {
    found_.cut = true;
    found_.damaged = std::any_of(found_.records.begin(), found_.records.end(),
                                 [](const auto& one) { return one.kind >= RecordKind::lost; });
    return false;
  }

  // Whether the bytes are the footer of the records found, damaged, or the footer's beginning. The
  // footer ends the file, and may list some more records than were found.
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
  std::uint64_t in_vain_ = 0;  // bytes looked at that were neither head nor footer
  Replayed found_;
  bool believes_ = true;
  int mends_left_ = kMostMends;
};

}  // namespace

Replayed replay(Bytes file, std::uint32_t segment, std::optional<std::uint16_t> purges) {
  return Replay(file, segment, purges).run();
}

}  // namespace proxy::cache::disk
