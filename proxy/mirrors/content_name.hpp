// The name of a body by a digest of its bytes, and the check that bytes have their name. Pure.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::mirrors {

// git_blob_sha1 is the SHA-1 of "blob ", the length in decimal, a zero byte and the body: the name
// of a file in git.
enum class DigestAlgorithm : std::uint8_t { sha256, sha512, git_blob_sha1 };

struct ContentName {
  DigestAlgorithm algorithm = DigestAlgorithm::sha256;
  std::array<std::uint8_t, 64> bytes = {};  // zeros behind a shorter digest

  // From foreign text: "sha256:", "sha512:" or "git-blob-sha1:", and as many hex digits, in any
  // case, as the digest has. Nothing for any other text.
  static std::optional<ContentName> parse(std::string_view text);
  // What Repr-Digest says of an answer without Content-Encoding (RFC 9530 3): the SHA-512, else the
  // SHA-256. Nothing if there is neither, or if a line is not well formed. A coded answer has
  // none, because some servers name the digest of the bytes before they code them.
  static std::optional<ContentName> said_by(const http::Fields& answer);

  // As parse() reads it, in lower case.
  [[nodiscard]] std::string to_text() const;

  bool operator==(const ContentName&) const = default;
};

// Hashes a body as it arrives. A copy continues by itself.
class ContentCheck {
 public:
  // `length`: of the body; only git_blob_sha1 needs it.
  ContentCheck(const ContentName& name, std::uint64_t length);
  ContentCheck(const ContentCheck& other);
  ContentCheck(ContentCheck&&) noexcept = default;

  [[nodiscard]] const ContentName& name() const { return name_; }
  void add(std::string_view bytes);
  // The name of a body that ends here.
  [[nodiscard]] ContentName so_far() const;
  // Whether the bytes have the name. Call it after the last byte.
  [[nodiscard]] bool matches() const { return so_far() == name_; }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* hash) const;
  };

  ContentName name_;
  std::unique_ptr<EVP_MD_CTX, Free> hash_;
};

}  // namespace proxy::mirrors
