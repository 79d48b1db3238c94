#include "config/reference.hpp"

#include <algorithm>

#include "config/document.hpp"
#include "config/text.hpp"

namespace config {
namespace {

// Follows the lines of the file: comments, members, and the ends of sections.
// The file is read line by line, not as a document: what a person reads there, comments and
// examples that are commented out, is what a parser passes over.
class ReferenceReader {
 public:
  std::vector<SettingText> read(std::string_view text) {
    while (!text.empty()) read_line(trimmed(take_until(text, '\n')));
    return std::move(all_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with("//")) return read_comment(trimmed(line.substr(2)));
    if (line.empty()) return comment_.clear();
    if (in_list_) {
      in_list_ = !line.starts_with(']');
    } else if (line.starts_with('}')) {
      if (!sections_.empty()) sections_.pop_back();
    } else if (line.starts_with('"')) {
      read_member(line);
    } else {
      comment_.clear();  // what stands above all settings
    }
  }

  // A comment is a setting, an example in a list, or a text.
  void read_comment(std::string_view text) {
    std::string_view member = text.starts_with(',') ? trimmed(text.substr(1)) : text;
    while (member.ends_with(',')) member.remove_suffix(1);
    Faults faults;
    const auto whole = member.starts_with('"')
                           ? parse_document('{' + std::string(member) + '}', faults)
                           : std::nullopt;
    if (in_list_) {
      all_.back().lines.emplace_back(text);
    } else if (whole && faults.empty()) {
      for (const Member& each : std::get<Object>(whole->content)) {
        const bool alone = std::get<Object>(whole->content).size() == 1;
        add(each.key, alone ? trimmed(member.substr(member.find(':') + 1)) : "", true);
      }
      comment_.clear();
    } else {
      comment_.emplace_back(text);
    }
  }

  void read_member(std::string_view line) {
    const auto colon = line.find(':');
    const auto key = line.substr(1, line.find('"', 1) - 1);
    auto value = trimmed(line.substr(std::min(colon + 1, line.size())));
    if (value.ends_with(',')) value.remove_suffix(1);
    const bool is_section = value == "{";
    in_list_ = value == "[";
    add(key, is_section ? "" : in_list_ ? "[]" : value, false);
    comment_.clear();
    if (is_section) sections_.emplace_back(key);
  }

  void add(std::string_view key, std::string_view value, bool is_example) {
    std::string path;
    for (const std::string& section : sections_) path += section + '.';
    all_.push_back({path + std::string(key), std::string(value), is_example, comment_});
  }

  std::vector<SettingText> all_;
  std::vector<std::string> sections_;
  std::vector<std::string> comment_;
  bool in_list_ = false;
};

bool is_or_below(std::string_view path, std::string_view name) {
  return path == name || (path.starts_with(name) && path.substr(name.size()).starts_with('.'));
}

std::string heading(const SettingText& setting) {
  if (setting.value.empty()) return setting.path;
  return setting.path + (setting.is_example ? ", such as " : " = ") + setting.value;
}

// Text that troff takes as it is.
// groff_char(7): a bare hyphen may be shown as another character, and a backslash escapes.
std::string plain(std::string_view text) {
  std::string safe = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '"') {
      safe += "\\(dq";  // a macro would take it for the quote of an argument
    } else {
      safe += c;
    }
  }
  return safe;
}

// Whether a line begins an item, such as `"role": ...`, or is an example.
bool begins_item(std::string_view line) {
  return line.starts_with('"') || line.starts_with('{');
}

}  // namespace

std::vector<SettingText> read_reference(std::string_view text) {
  return ReferenceReader().read(text);
}

std::string describe_setting(const std::vector<SettingText>& all, std::string_view name) {
  std::string text;
  for (const SettingText& setting : all) {
    if (name.empty()) {
      text += setting.path + '\n';
    } else if (is_or_below(setting.path, name)) {
      if (!text.empty()) text += '\n';
      text += heading(setting) + '\n';
      for (const std::string& line : setting.lines) text += "    " + line + '\n';
    }
  }
  return text;
}

std::string settings_page(const std::vector<SettingText>& all, std::string_view version) {
  std::string page = ".TH HEARSAY.JSON 5 \"\" \"" + plain(version) + "\"\n.SH NAME\n";
  page += "hearsay.json \\- the settings of hearsay(1)\n.SH DESCRIPTION\n";
  page +=
      "The settings are one JSON file that may hold comments. A setting that is left out keeps "
      "its\n";
  page +=
      "default, the value below. Sizes are written \"64KiB\", \"20GiB\"; times \"250ms\", \"5s\", "
      "\"1h\".\n";
  page += "cache.memory is the member memory of the object cache.\n";
  page += ".B hearsay check\nnames the errors in a file.\n.SH SETTINGS\n";
  for (const SettingText& setting : all) {
    page += ".TP\n.B " + plain(heading(setting)) + "\n";
    for (const std::string& line : setting.lines) {
      if (begins_item(line)) page += ".br\n";
      page += plain(line) + "\n";
    }
  }
  page += ".SH FILES\n.TP\n.I /etc/hearsay/hearsay.json\nThe settings of the service.\n";
  page += ".SH EXAMPLES\n.nf\n{\n  \"name\": \"cache\\-a\",\n";
  page += "  \"listen\": [\"127.0.0.1:3128\", \"10.0.0.1:3128\"],\n";
  page += "  \"peers\": [{ \"url\": \"http://10.0.0.2:3128\", \"name\": \"cache\\-b\" }]\n}\n.fi\n";
  page += ".SH SEE ALSO\n.BR hearsay (1)\n";
  return page;
}

}  // namespace config
