#include "digest/key.hpp"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

namespace digest {
namespace {

struct Free {
  void operator()(EVP_MD* md) const { EVP_MD_free(md); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetched once: looking an algorithm up by name costs more than hashing a URL.
const EVP_MD* md5() {
  static const std::unique_ptr<EVP_MD, Free> algorithm(EVP_MD_fetch(nullptr, "MD5", nullptr));
  return algorithm.get();
}

EVP_MD_CTX* context() {
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> one(EVP_MD_CTX_new());
  return one.get();
}

}  // namespace

Key key_of(Method method, std::string_view canonical_url) {
  Key key;
  EVP_MD_CTX* const hash = context();
  const EVP_MD* const algorithm = md5();
  if (algorithm == nullptr || hash == nullptr || EVP_DigestInit_ex(hash, algorithm, nullptr) != 1 ||
      EVP_DigestUpdate(hash, &method, sizeof method) != 1 ||
      EVP_DigestUpdate(hash, canonical_url.data(), canonical_url.size()) != 1 ||
      EVP_DigestFinal_ex(hash, key.bytes.data(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL cannot compute MD5, which names cache entries");
  }
  return key;
}

std::string to_hex(const Key& key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * key.bytes.size());
  for (const std::uint8_t byte : key.bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace digest
