#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

bool ends_in(const std::string& path, std::string_view program) {
  return path == program || path.ends_with('/' + std::string(program));
}

// Of "basic realm Our proxy": Squid takes the rest of the line.
std::string rest_of(const std::vector<Word>& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += (i > from ? " " : "") + words[i].text;
  return text;
}

}  // namespace

bool read_users(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  std::string file;
  std::string realm;
  const auto tell = [&](const Line& line, Kind kind, std::string what) {
    findings.push_back({line.place, kind, line.text, std::move(what)});
  };
  for (const Line& line : lines) {
    if (line.name != "auth_param" || line.words.size() < 2) continue;
    const std::string& scheme = line.words[0].text;
    const std::string& key = line.words[1].text;
    if (scheme != "basic") {
      tell(line, Kind::left, "users prove themselves by Basic alone");
    } else if (key == "program") {
      const bool ncsa = line.words.size() == 4 && ends_in(line.words[2].text, "basic_ncsa_auth");
      const std::string path = ncsa ? line.words[3].text : "";
      if (path.empty() || line.conditional || config::printable(path, 4'000) != path) {
        tell(line, Kind::left, "users are known from an htpasswd file only (basic_ncsa_auth FILE)");
        continue;
      }
      file = path;
      tell(line, Kind::changed,
           "hashes have to be bcrypt (htpasswd -B) or SHA-512; passwords are asked for over "
           "loopback only; for clients in the network set access.users.cleartext to true");
    } else if (key == "casesensitive" && line.words.size() > 2 && line.words[2].text == "off") {
      tell(line, Kind::left, "the names of users are compared byte for byte");
    } else if (key == "realm") {
      realm = rest_of(line.words, 2);
    } else {
      tell(line, Kind::unneeded, "passwords are checked in the proxy itself, and remembered");
    }
  }
  if (file.empty()) return false;
  Json users;
  users.add("file", Json::text(file));
  const bool usable = !realm.empty() && config::printable(realm, 100) == realm &&
                      realm.find_first_of("\"\\") == realm.npos;
  if (usable) users.add("realm", Json::text(realm));
  into.access.add("users", std::move(users));
  return true;
}

}  // namespace proxy::command::squid
