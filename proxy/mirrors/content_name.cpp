#include "proxy/mirrors/content_name.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <boost/algorithm/hex.hpp>
#include <iterator>
#include <new>
#include <span>
#include <vector>

#include "digest/base64.hpp"
#include "proxy/http/structured_fields.hpp"
#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

struct Algorithm {
  std::string_view word;
  std::size_t size;  // bytes
  const EVP_MD* (*hash)();
};
// In the order of the enumerators.
constexpr std::array kAlgorithms{Algorithm{"sha256", 32, EVP_sha256},
                                 Algorithm{"sha512", 64, EVP_sha512},
                                 Algorithm{"git-blob-sha1", 20, EVP_sha1}};

const Algorithm& of(DigestAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::optional<ContentName> name_of(DigestAlgorithm algorithm, std::span<const std::uint8_t> bytes) {
  if (bytes.size() != of(algorithm).size) return std::nullopt;
  ContentName name{algorithm};
  std::ranges::copy(bytes, name.bytes.begin());
  return name;
}

std::string hex_of(const ContentName& name) {
  std::string hex;
  const auto end = name.bytes.begin() + static_cast<std::ptrdiff_t>(of(name.algorithm).size);
  boost::algorithm::hex_lower(name.bytes.begin(), end, std::back_inserter(hex));
  return hex;
}

}  // namespace

std::optional<ContentName> ContentName::parse(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto word = text.substr(0, colon);
  const auto known = std::ranges::find(kAlgorithms, word, &Algorithm::word);
  if (known == kAlgorithms.end() || text.size() != colon + 1 + 2 * known->size) {
    return std::nullopt;
  }
  const auto digits = text.substr(colon + 1);
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  boost::algorithm::unhex(digits.begin(), digits.end(), std::back_inserter(bytes));
  return name_of(static_cast<DigestAlgorithm>(known - kAlgorithms.begin()), bytes);
}

std::optional<ContentName> ContentName::said_by(const http::Fields& answer) {
  if (answer.has(http::field::content_encoding)) return std::nullopt;
  std::optional<ContentName> sha256;
  std::optional<ContentName> sha512;
  for (const auto& line : answer) {
    if (line.id != http::field::unknown || !http::same_word(line.name, "Repr-Digest")) continue;
    http::StructuredReader members(line.value, http::Structure::dictionary);
    while (const auto member = members.next()) {
      const bool is_256 = member->key == "sha-256";
      if (!is_256 && member->key != "sha-512") continue;
      const bool is_digest = member->item.type == http::BareItem::Type::bytes;
      const auto bytes = is_digest ? digest::from_base64(member->item.text) : std::nullopt;
      if (!bytes) return std::nullopt;
      // A digest of another length is none.
      if (is_256) {
        sha256 = name_of(DigestAlgorithm::sha256, *bytes);
      } else {
        sha512 = name_of(DigestAlgorithm::sha512, *bytes);
      }
    }
    if (members.failed()) return std::nullopt;
  }
  return sha512 ? sha512 : sha256;
}

std::string ContentName::to_text() const {
  return std::string(of(algorithm).word).append(":").append(hex_of(*this));
}

void ContentCheck::Free::operator()(EVP_MD_CTX* hash) const {
  EVP_MD_CTX_free(hash);
}

// libcrypto fails only where it finds no memory, or may not hash by this algorithm (FIPS).
ContentCheck::ContentCheck(const ContentName& name, std::uint64_t length)
    : name_(name), hash_(EVP_MD_CTX_new()) {
  if (!hash_ || EVP_DigestInit_ex(hash_.get(), of(name.algorithm).hash(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  if (name.algorithm != DigestAlgorithm::git_blob_sha1) return;
  const auto front = "blob " + std::to_string(length);
  add({front.c_str(), front.size() + 1});  // with the zero at its end
}

void ContentCheck::add(std::string_view bytes) {
  (void)EVP_DigestUpdate(hash_.get(), bytes.data(), bytes.size());
}

ContentCheck::ContentCheck(const ContentCheck& other)
    : name_(other.name_), hash_(EVP_MD_CTX_new()) {
  if (!hash_ || EVP_MD_CTX_copy_ex(hash_.get(), other.hash_.get()) != 1) throw std::bad_alloc();
}

ContentName ContentCheck::so_far() const {
  ContentCheck ended(*this);
  ContentName found{name_.algorithm};
  const bool is_made = EVP_DigestFinal_ex(ended.hash_.get(), found.bytes.data(), nullptr) == 1;
  if (!is_made) throw std::bad_alloc();
  return found;
}

}  // namespace proxy::mirrors
