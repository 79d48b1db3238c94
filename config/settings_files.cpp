#include "config/settings_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "config/environment.hpp"
#include "config/section.hpp"
#include "config/text.hpp"

namespace config {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInclude = "include";

// Whether to open it might wait for ever: a pipe, a terminal.
bool may_wait(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Names the same file by the same text.
std::string identity_of(const std::string& path) {
  std::error_code error;
  const auto real = fs::weakly_canonical(path, error);
  return error ? path : real.native();
}

void set_file(Value& value, std::size_t file) {
  value.at.file = file;
  if (auto* const items = std::get_if<Array>(&value.content)) {
    for (Value& item : *items) set_file(item, file);
  } else if (auto* const members = std::get_if<Object>(&value.content)) {
    for (Member& member : *members) {
      member.at.file = file;
      set_file(member.value, file);
    }
  }
}

bool has_objects_alone(const Array& items) {
  return !items.empty() && std::all_of(items.begin(), items.end(), [](const Value& item) {
    return std::holds_alternative<Object>(item.content);
  });
}

// Adds to `first` what only `second` says.
void merge(Value& first, Value second) {
  auto* const members = std::get_if<Object>(&first.content);
  auto* const more_members = std::get_if<Object>(&second.content);
  if (members && more_members) {
    for (Member& more : *more_members) {
      const auto same = std::find_if(members->begin(), members->end(),
                                     [&](const Member& one) { return one.key == more.key; });
      if (same == members->end()) {
        members->push_back(std::move(more));
      } else {
        merge(same->value, std::move(more.value));
      }
    }
    return;
  }
  auto* const items = std::get_if<Array>(&first.content);
  auto* const more_items = std::get_if<Array>(&second.content);
  if (!items || !more_items || !has_objects_alone(*items) || !has_objects_alone(*more_items))
    return;
  std::move(more_items->begin(), more_items->end(), std::back_inserter(*items));
}

class FileReader {
 public:
  FileReader(std::vector<std::string>& files, Faults& faults) : files_(files), faults_(faults) {}

  // The settings of the file and of all files that it includes; nothing if there is a fault.
  std::optional<Value> read_all(const std::string& path, std::string_view text) {
    Value all = read(path, text);
    return is_whole_ ? std::optional(std::move(all)) : std::nullopt;
  }

 private:
  Value read(const std::string& path, std::string_view text) {
    const std::size_t number = files_.size();
    files_.push_back(path);
    chain_.push_back(identity_of(path));
    done_.push_back(chain_.back());
    const std::size_t known = faults_.size();
    auto document = parse_document(text, faults_);
    for (std::size_t i = known; i < faults_.size(); ++i) faults_[i].at.file = number;
    is_whole_ = is_whole_ && document;
    if (document) {
      set_file(*document, number);
      is_whole_ = insert_environment(*document, faults_) && is_whole_;
      include(*document, fs::path(path).parent_path());
    }
    chain_.pop_back();
    return document ? std::move(*document) : Value{{}, Object{}};
  }

  // Completes the document by what it includes.
  void include(Value& document, const fs::path& folder) {
    const std::size_t known = faults_.size();
    Section in({&document, ""}, faults_);
    const auto items = in.items(kInclude, "paths of files, such as \"peers.json\"");
    Value included{document.at, Object{}};
    if (items) {
      for (const LocatedValue& item : *items) {
        auto later = read_item(in, item, folder);
        merge(later, std::move(included));
        included = std::move(later);
      }
    }
    is_whole_ = is_whole_ && faults_.size() == known;
    auto* const members = std::get_if<Object>(&document.content);
    if (!members) return;
    std::erase_if(*members, [](const Member& member) { return member.key == kInclude; });
    merge(document, std::move(included));
  }

  Value read_item(Section& in, const LocatedValue& item, const fs::path& folder) {
    Value nothing{item.value->at, Object{}};
    const auto named = in.parsed(item, "the path of a file, such as \"peers.json\"", plain_text);
    if (!named) return nothing;
    const std::string path = (folder / *named).native();
    const std::string identity = identity_of(path);
    if (std::find(chain_.begin(), chain_.end(), identity) != chain_.end()) {
      in.fault(item, printable(path, 200) + " leads back to itself by what it includes");
      return nothing;
    }
    if (std::find(done_.begin(), done_.end(), identity) != done_.end()) return nothing;
    if (chain_.size() == kDeepestFiles || files_.size() == kMostFiles) {
      in.fault(item, "is one file too many: at most " + std::to_string(kMostFiles) + ", and " +
                         std::to_string(kDeepestFiles) + " that include each other");
      return nothing;
    }
    std::string why;
    const auto text = read_text(path, why);
    if (!text) {
      in.fault(item, printable(path, 200) + ' ' + why);
      return nothing;
    }
    return read(path, *text);
  }

  std::vector<std::string>& files_;
  Faults& faults_;
  std::vector<std::string> chain_;  // the files from the first one to the one being read
  std::vector<std::string> done_;   // of all files that were read
  bool is_whole_ = true;
};

}  // namespace

std::optional<std::string> read_text(const std::string& path, std::string& why) {
  if (may_wait(path)) {
    why = "is no regular file";
    return std::nullopt;
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestSettings + 1, '\0');  // parse_document() refuses one that fills it
  if (file.is_open()) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    why = "cannot be read: " + std::generic_category().message(errno);
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::optional<Value> read_files(const std::string& path, std::string_view text,
                                std::vector<std::string>& files, Faults& faults) {
  return FileReader(files, faults).read_all(path, text);
}

}  // namespace config
