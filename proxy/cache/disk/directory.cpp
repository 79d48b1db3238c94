#include "proxy/cache/disk/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

namespace proxy::cache::disk {

namespace {

constexpr std::string_view kSuffix = ".segment";
constexpr std::size_t kDigits = 8;
constexpr const char* kLock = "lock";

std::optional<std::uint32_t> number_of(std::string_view name) {
  std::uint32_t segment = 0;
  std::from_chars(name.data(), name.data() + std::min(name.size(), kDigits), segment, 16);
  if (segment == 0 || segment > kLastSegment || name_of(segment) != name) return std::nullopt;
  return segment;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// A file with reserved space takes more of the disk than its size.
std::uint64_t larger_size(const struct stat& status) {
  return std::max(static_cast<std::uint64_t>(status.st_size),
                  static_cast<std::uint64_t>(status.st_blocks) * 512);
}

bool is_of(const File& file, const struct stat& named) {
  const auto held = file.status();
  return held && held->st_dev == named.st_dev && held->st_ino == named.st_ino;
}

// Opens `lock` only if it is a regular file: to open a FIFO, say, may wait for ever.
Result<File> open_lock(const File& directory, Access access) {
  struct stat status {};
  const bool exists = ::fstatat(directory.descriptor(), kLock, &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(status.st_mode)) return Error::no_lock;
  const int how = access == Access::write ? O_RDWR | O_CREAT : O_RDONLY;
  return File::open(directory.descriptor(), kLock, how | O_NOFOLLOW);
}

// flock() belongs to the open file, so it also keeps out another object of this process. A shared
// lock that succeeds shows that no writer refused the exclusive one, but readers.
Result<void> acquire(const File& lock, Access access) {
  const bool writes = access == Access::write;
  if (::flock(lock.descriptor(), (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return {};
  // Somebody has the lock: a writer, or readers. `hearsay cache` ends soon, a proxy does not.
  if (errno != EWOULDBLOCK) return error_of(errno);
  const bool shared = writes && ::flock(lock.descriptor(), LOCK_SH | LOCK_NB) == 0;
  return shared ? Error::being_read : Error::in_use;
}

Result<std::shared_ptr<const Segment>> begun(std::uint32_t number, File file, std::uint16_t purges,
                                             const ClockMark& clock) {
  const auto written = file.write(encode_segment_header(number, purges, clock), 0);
  if (!written) return written.error();
  const SegmentTimes times{.earlier_until = 0, .ahead = clock.ahead};
  return std::make_shared<const Segment>(number, std::move(file), times);
}

}  // namespace

std::string name_of(std::uint32_t segment) {
  std::string name(kDigits, '0');
  for (std::size_t i = kDigits; i-- > 0; segment >>= 4) name[i] = "0123456789abcdef"[segment & 15];
  return name.append(kSuffix);
}

Directory::Directory(std::filesystem::path path, Access access, File self, File lock)
    : path_(std::move(path)), access_(access), self_(std::move(self)), lock_(std::move(lock)) {}

Result<Directory> Directory::open(const std::filesystem::path& path, Access access) {
  if (access == Access::write && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return error_of(errno);
  }
  auto self = File::open(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!self) return self.error();
  auto lock = open_lock(*self, access);
  if (!lock) return lock.error();
  if (const auto taken = acquire(*lock, access); !taken) return taken.error();
  return Directory(path, access, std::move(*self), std::move(*lock));
}

Result<std::vector<Directory::Item>> Directory::segments() const {
  // A descriptor of its own, as closedir() closes it, and as its position moves.
  const int copy = ::openat(self_.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return error_of(errno);
  const std::unique_ptr<DIR, CloseDirectory> listing(::fdopendir(copy));
  if (!listing) return error_of(errno);
  std::vector<Item> found;
  // Only errno tells the end of the list from an error.
  for (const dirent* item = nullptr; errno = 0, item = ::readdir(listing.get());) {
    const auto segment = number_of(item->d_name);
    struct stat status {};
    if (!segment) continue;
    if (::fstatat(self_.descriptor(), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    found.push_back({*segment, larger_size(status), S_ISREG(status.st_mode)});
  }
  if (errno != 0) return error_of(errno);
  std::ranges::sort(found, [](const Item& a, const Item& b) { return a.segment < b.segment; });
  return found;
}

Result<File> Directory::open_segment(std::uint32_t segment, Access access) const {
  // No link is followed: it may lead to a file of somebody else, which would be cut or emptied.
  const int how = access == Access::write ? O_RDWR : O_RDONLY;
  return File::open(self_.descriptor(), name_of(segment).c_str(), how | O_NOFOLLOW);
}

Result<Directory::Made> Directory::create_behind(std::uint32_t segment) const {
  for (struct stat status{}; segment < kLastSegment;) {
    const auto name = name_of(++segment);
    if (::fstatat(self_.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) continue;
    auto file = File::open(self_.descriptor(), name.c_str(), O_RDWR | O_CREAT | O_EXCL);
    if (!file) return file.error();
    return Made{segment, std::move(*file)};
  }
  return Error::no_space;
}

Result<void> Directory::remove(std::uint32_t segment) const {
  if (::unlinkat(self_.descriptor(), name_of(segment).c_str(), 0) != 0) return error_of(errno);
  return {};
}

std::uint64_t Directory::free_bytes() const {
  struct statvfs status {};
  // A file system that tells no size tells no free space either.
  if (::fstatvfs(self_.descriptor(), &status) != 0 || status.f_blocks == 0) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

bool Directory::still_there() const {
  struct stat named {};
  return ::stat(path_.c_str(), &named) == 0 && is_of(self_, named) && leads_to(kLock, lock_);
}

bool Directory::still_there(std::uint32_t segment, const File& file) const {
  return leads_to(name_of(segment).c_str(), file);
}

bool Directory::leads_to(const char* name, const File& file) const {
  struct stat named {};
  return ::fstatat(self_.descriptor(), name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         is_of(file, named);
}

void SegmentFiles::open(Directory directory, const std::vector<Directory::Item>& segments) {
  directory_ = std::move(directory);
  for (const auto& item : segments) account(item.segment, space_of(item.bytes));
}

// last_number_ stays: if the directory is opened again, no number may be used twice.
void SegmentFiles::close() {
  directory_.reset();
  spaces_.clear();
  used_ = most_used_ = 0;
}

Result<void> SegmentFiles::check(const Segment* newest) const {
  const bool there = directory_ && directory_->still_there();
  if (there && (!newest || directory_->still_there(newest->number, newest->file))) return {};
  return Error::no_directory;
}

Result<std::shared_ptr<const Segment>> SegmentFiles::create(std::uint32_t segment_bytes,
                                                            std::uint16_t purges,
                                                            const ClockMark& clock) {
  auto made = directory_->create_behind(last_number_);
  if (!made) return made.error();
  const std::uint32_t number = last_number_ = made->segment;
  const auto reserved = made->file.reserve(segment_bytes);
  Result<std::shared_ptr<const Segment>> segment =
      reserved ? begun(number, std::move(made->file), purges, clock) : reserved.error();
  // A file that could neither be begun nor removed takes space all the same.
  if (segment || !directory_->remove(number)) account(number, space_of(segment_bytes));
  return segment;
}

Result<std::shared_ptr<const Segment>> SegmentFiles::mark(std::uint32_t number,
                                                          std::uint16_t purges,
                                                          const ClockMark& clock) {
  auto file = directory_->open_segment(number);
  if (!file) return file.error();
  return begun(number, std::move(*file), purges, clock);
}

Result<void> SegmentFiles::remove(std::uint32_t number) {
  const auto removed = directory_->remove(number);
  // A file that somebody else removed takes no space.
  if (!removed && removed.error() != Error::no_directory) return removed;
  account(number, 0);
  spaces_.erase(number);
  return {};
}

void SegmentFiles::skip(std::uint32_t number) {
  last_number_ = std::max(last_number_, number);
}

void SegmentFiles::account(std::uint32_t number, std::uint64_t bytes) {
  const auto [space, is_new] = spaces_.try_emplace(number, 0);
  used_ = used_ - space->second + bytes;
  most_used_ = std::max(most_used_, used_);
  space->second = bytes;
}

bool SegmentFiles::lacks_space(std::uint32_t segment_bytes) const {
  return directory_->free_bytes() < space_of(segment_bytes);
}

// One segment less than `bytes` is as much as the files ever take for long.
bool SegmentFiles::is_squeezed(std::uint64_t bytes, std::uint32_t segment_bytes) const {
  const std::uint64_t free = directory_->free_bytes();
  return free < 2 * space_of(segment_bytes) && used_ + free + segment_bytes < bytes;
}

bool SegmentFiles::may_yield(const Segment* newest) const {
  if (spaces_.size() < 2 || used_ <= most_used_ / 2) return false;
  return !newest || newest->number != oldest();
}

}  // namespace proxy::cache::disk
