// Patterns of paths in which digests may stand, such as "/pool/**" or "/blobs/{sha256}". Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::mirrors {

// Compared with a path part by part, a part being what lies between two slashes:
// - `**` as a part of its own stands for any number of parts, also none;
// - `*` within a part stands for one or more bytes of the part;
// - `{sha256}` and `{sha512}` stand for a digest of the response's bytes in hexadecimal, in a part;
// - `{hex}` with a number behind it, such as `{hex40}`, stands for as many hexadecimal digits;
// - `{num}` stands for one or more decimal digits, all that follow one another;
// - `?*` at the end lets the path have a query. Without it, a path with a query does not match.
// Every other byte stands for itself. Immutable.
class PathPattern {
 public:
  // Nothing unless the text begins with "/", has at most 256 bytes, and each `{` begins one of the
  // words above.
  static std::optional<PathPattern> parse(std::string_view text);

  struct Match {
    std::string content;  // "sha256:HEX" in lower case, or "sha512:HEX"; empty: no digest
  };
  // Matches the path, with its query. Takes a time that grows with the size of the pattern times
  // that of the path.
  [[nodiscard]] std::optional<Match> match(std::string_view path) const;

 private:
  PathPattern() = default;

  std::vector<std::string> parts_;
  bool may_have_query_ = false;
};

}  // namespace proxy::mirrors
