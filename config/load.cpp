#include "config/load.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "config/sections.hpp"
#include "config/text.hpp"

namespace config {

namespace {

// Values of the environment within the settings.

constexpr std::string_view kBegin = "${";

bool is_name(std::string_view text) {
  constexpr std::string_view kChars =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  return !text.empty() && text.find_first_not_of(kChars) == text.npos &&
         (text.front() < '0' || text.front() > '9');
}

// Puts values in the place of their names. Returns what is wrong; empty: nothing. `bytes`: the
// sum of all inserted bytes so far. A value may be long and occur many times, so only this sum
// bounds the memory.
std::string insert_values(Value& value, std::string& text, std::size_t& bytes) {
  std::string whole;
  std::string_view rest = text;
  for (auto at = rest.find(kBegin); at != rest.npos; at = rest.find(kBegin)) {
    whole += rest.substr(0, at);
    const bool is_escaped = at > 0 && rest[at - 1] == '$';  // in the text, not in a value
    rest.remove_prefix(at + kBegin.size());
    if (is_escaped) {
      whole += '{';
      continue;
    }
    const auto end = rest.find('}');
    const std::string name(rest.substr(0, end));
    if (end == rest.npos || !is_name(name)) {
      return "expected \"${NAME}\", with a name of letters, digits and \"_\"; write \"$${\" for "
             "\"${\" itself";
    }
    const char* const inserted = std::getenv(name.c_str());
    if (!inserted) {
      return printable(name, 60) + " is not set in the environment; set it (for a service, by " +
             "Environment= in its unit), or write its value here";
    }
    whole += inserted;
    bytes += std::string_view(inserted).size();
    if (bytes > kLongestSettings) return "inserts more than settings can have";
    value.from_environment = true;
    rest.remove_prefix(end + 1);
  }
  text = whole.append(rest);
  return {};
}

// Completes all texts below the value.
void complete(Value& value, const std::string& path, std::size_t& bytes, Faults& faults) {
  if (auto* const items = std::get_if<Array>(&value.content)) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      complete((*items)[i], path_of(path, i), bytes, faults);
    }
  } else if (auto* const members = std::get_if<Object>(&value.content)) {
    for (Member& member : *members) {
      complete(member.value, path_of(path, member.key), bytes, faults);
    }
  } else if (auto* const text = std::get_if<std::string>(&value.content)) {
    auto what = insert_values(value, *text, bytes);
    if (!what.empty()) faults.push_back({value.at, path, std::move(what)});
  }
}

// Returns whether all texts are complete.
bool insert_environment(Value& document, Faults& faults) {
  const std::size_t known = faults.size();
  std::size_t bytes = 0;
  complete(document, "", bytes, faults);
  return faults.size() == known;
}

// Files that include others.

namespace fs = std::filesystem;

constexpr std::string_view kInclude = "include";
constexpr std::size_t kMostFiles = 64;    // all included files together, and the first one
constexpr std::size_t kDeepestFiles = 8;  // that include each other

// Names the same file by the same text: a circle may lead through symbolic links, and through paths
// that are relative to other folders.
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

// Adds to `first` what only `second` says. A site sets cache.memory in its own file, and leaves the
// rest of `cache` to a common one: so objects are joined key by key. Lists of texts, such as
// access.clients, mean the whole list: so they are not.
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

std::optional<std::string> read_settings_file(const std::string& path, std::string& why) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return read_file(path, kLongestSettings, why);
  why = "cannot be read: " + std::generic_category().message(EISDIR);
  return std::nullopt;
}

// Reads a settings file, together with the files that it includes, as one document, completed from
// the environment.
class SettingsReader {
 public:
  // `files`: gets the paths of what was read, as TextPosition::file counts them.
  SettingsReader(std::vector<std::string>& files, Faults& faults)
      : files_(files), faults_(faults) {}

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
    for (const LocatedValue& item : items.value_or(std::vector<LocatedValue>())) {
      auto later = read_item(in, item, folder);
      merge(later, std::move(included));
      included = std::move(later);
    }
    is_whole_ = is_whole_ && faults_.size() == known;
    auto* const members = std::get_if<Object>(&document.content);
    if (!members) return;
    // It has been followed, and is no setting.
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
    // Two files may include the same third one, whose peers must not be listed twice.
    if (std::find(done_.begin(), done_.end(), identity) != done_.end()) return nothing;
    if (chain_.size() == kDeepestFiles || files_.size() == kMostFiles) {
      in.fault(item, "is one file too many: at most " + std::to_string(kMostFiles) + ", and " +
                         std::to_string(kDeepestFiles) + " that include each other");
      return nothing;
    }
    std::string why;
    const auto text = read_settings_file(path, why);
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

SettingsError located(SettingFault fault, std::span<const std::string> files) {
  std::string where = fault.at.file < files.size() ? files[fault.at.file] + ", " : "";
  where += "line " + std::to_string(fault.at.line) + ", column " + std::to_string(fault.at.column);
  if (!fault.path.empty()) where += ", " + fault.path;
  return {std::move(where), std::move(fault.what)};
}

// Sections are read in the order of the program; people mend a file from its top.
SettingsErrors in_order(Faults faults, std::span<const std::string> files) {
  const auto place = [](const SettingFault& fault) { return std::pair(fault.at.file, fault.at); };
  std::stable_sort(faults.begin(), faults.end(), [&](const SettingFault& a, const SettingFault& b) {
    return place(a) < place(b);
  });
  SettingsErrors errors;
  for (SettingFault& fault : faults) errors.push_back(located(std::move(fault), files));
  return errors;
}

}  // namespace

std::string control_path(const Settings& settings) {
  if (settings.process.control) return *settings.process.control;
  // A proxy that somebody starts to try it out has no rights there, and needs no socket.
  const auto folder = fs::path(kDefaultControl).parent_path();
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? kDefaultControl : "";
}

std::optional<std::string> read_file(const std::string& path, std::size_t most, std::string& why) {
  // Opening something else might wait for ever: a pipe, a terminal.
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    why = "is no regular file";
    return std::nullopt;
  }
  // Streams promise no errno; 0 then at least names no wrong reason.
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(most + 1, '\0');
  if (file.is_open()) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    why = "cannot be read: " + std::generic_category().message(errno);
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

boost::system::result<Settings, SettingsErrors> load(std::string_view json_text) {
  Faults faults;
  Settings settings;
  auto document = parse_document(json_text, faults);
  if (document && insert_environment(*document, faults))
    settings = read_settings(*document, faults);
  if (!faults.empty()) return in_order(std::move(faults), {});
  return settings;
}

boost::system::result<Settings, SettingsErrors> load_file(const std::string& path) {
  std::string why;
  const auto text = read_settings_file(path, why);
  if (!text) return SettingsErrors{{path, why}};
  Faults faults;
  Settings settings;
  std::vector<std::string> files;
  const auto document = SettingsReader(files, faults).read_all(path, *text);
  if (document) settings = read_settings(*document, faults);
  if (!faults.empty()) return in_order(std::move(faults), files);
  settings.process.included.assign(files.begin() + 1, files.end());
  return settings;
}

}  // namespace config
