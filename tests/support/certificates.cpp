#include "tests/support/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <stdexcept>

namespace support {
namespace {

using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr long kHour = 3600;

void need(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

Key new_key() {
  return {EVP_EC_gen("P-256"), &EVP_PKEY_free};
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()), &X509_EXTENSION_free);
  need(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

Certificate new_certificate(EVP_PKEY* key, const char* name, long lifetime_seconds) {
  static long serial = 0;
  Certificate certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), lifetime_seconds - kHour);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return certificate;
}

template <class Write>
std::string pem_of(Write write) {
  const Memory memory(BIO_new(BIO_s_mem()), &BIO_free);
  need(write(memory.get()) == 1, "PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  return pem_of([&](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

std::string pem_of(EVP_PKEY* key) {
  return pem_of([&](BIO* to) {
    return PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace

Authority::Authority()
    : key_(new_key()), certificate_(new_certificate(key_.get(), "Test Authority", 24 * kHour)) {
  X509* const own = certificate_.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  add_extension(own, NID_basic_constraints, "critical,CA:TRUE");
  need(X509_sign(own, key_.get(), EVP_sha256()) > 0, "signature");
}

std::string Authority::pem() const {
  return pem_of(certificate_.get());
}

boost::asio::ssl::context Authority::server(const std::string& alternative_name,
                                            long lifetime_seconds) const {
  const auto key = new_key();
  const auto certificate = new_certificate(key.get(), "Test Server", lifetime_seconds);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  add_extension(certificate.get(), NID_subject_alt_name, alternative_name);
  need(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0, "signature");
  boost::asio::ssl::context context(boost::asio::ssl::context::tls_server);
  context.use_certificate(boost::asio::buffer(pem_of(certificate.get())),
                          boost::asio::ssl::context::pem);
  context.use_private_key(boost::asio::buffer(pem_of(key.get())), boost::asio::ssl::context::pem);
  return context;
}

}  // namespace support
