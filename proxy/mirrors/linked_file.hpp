// What a hub's redirect, or the digest in a registry's path, says of a file. The storage that has
// the file knows neither its entity tag nor its revision. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/head.hpp"

namespace proxy::mirrors {

class LinkedFile {
 public:
  // Nothing if the redirect has no X-Linked-Etag with a strong entity tag.
  static std::optional<LinkedFile> told_by(const http::Fields& redirect);

  // The blob or manifest of a registry by its digest (is_image_digest()), which is its entity tag
  // wherever it comes from: two storages name one blob by two tags.
  static LinkedFile named(std::string_view image_digest);

  [[nodiscard]] std::string_view etag() const { return etag_; }
  // Whether the line of the storage's answer says what the hub says otherwise.
  [[nodiscard]] bool replaces(const http::Field& line) const;
  // ETag, Accept-Ranges of an image's file, X-Linked-Etag, X-Linked-Size and X-Repo-Commit; and
  // Repr-Digest, if the tag is a SHA-256, as that of each large file is. The lines refer to this
  // object.
  void append_to(http::Fields& fields) const;

  // What the storage need not be asked for: the 304 to an If-None-Match (`none_match`, or empty)
  // that names the tag, and the 200 to a HEAD. The head refers to this object and the redirect.
  [[nodiscard]] std::optional<http::ResponseHead> answer(const http::ResponseHead& redirect,
                                                         std::string_view method,
                                                         std::string_view none_match) const;

 private:
  LinkedFile() = default;

  std::string etag_;
  std::string size_;    // empty: not told
  std::string digest_;  // the value of Repr-Digest; empty: not known
  std::vector<std::pair<std::string, std::string>> others_;
};

// The value of the first line with the name in the text of a head; empty: there is none.
std::string_view value_of_field(std::string_view head, std::string_view name);
// The head of a request without the conditions that name entity tags and times, which are of the
// version `etag`. Without its Range, too, if If-Range names another version. An If-Match that names
// another version stays: no answer of the storage meets it.
std::string without_conditions(std::string_view head, std::string_view etag);

}  // namespace proxy::mirrors
