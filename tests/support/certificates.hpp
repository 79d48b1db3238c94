// A certificate authority for a test, and TLS servers with its certificates.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

namespace support {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

class Authority {
 public:
  Authority();

  // The authority's certificate, for a trust store.
  [[nodiscard]] std::string pem() const;

  // A server's context with a certificate for a subjectAltName such as "DNS:origin.test" or
  // "IP:127.0.0.1". The certificate is valid for `lifetime_seconds` from an hour ago, so with less
  // than 3600 it has expired.
  [[nodiscard]] boost::asio::ssl::context server(const std::string& alternative_name,
                                                 long lifetime_seconds = 86'400) const;

 private:
  Key key_;
  Certificate certificate_;
};

}  // namespace support
