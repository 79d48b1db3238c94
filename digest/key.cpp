#include "digest/key.hpp"

#include <boost/algorithm/hex.hpp>
#include <iterator>

// OpenSSL 3 deprecates these functions in favour of EVP. EVP allocates and frees memory for each
// hash, and every request computes one.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>

namespace digest {

Key key_of(Method method, std::string_view canonical_url) {
  Key key;
  MD5_CTX hash;
  MD5_Init(&hash);
  MD5_Update(&hash, &method, sizeof method);
  MD5_Update(&hash, canonical_url.data(), canonical_url.size());
  MD5_Final(key.bytes.data(), &hash);
  return key;
}

std::string to_hex(const Key& key) {
  std::string hex;
  boost::algorithm::hex_lower(key.bytes.begin(), key.bytes.end(), std::back_inserter(hex));
  return hex;
}

}  // namespace digest
