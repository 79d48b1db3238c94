#include "proxy/upstream/tls.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>
#include <utility>

#include "config/networks.hpp"
#include "proxy/http/host_pattern.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {
namespace {

namespace ssl = boost::asio::ssl;

constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};  // RFC 7301

// Sets the name or address that the certificate must have. Returns false if OpenSSL refuses it.
bool expect(SSL* session, std::string host) {
  if (config::parse_address(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
  }
  if (host.ends_with('.')) host.pop_back();  // RFC 6066 section 3: without the final dot
  // A name such as f*.example is allowed by RFC 6125 section 6.4.3 and by no browser.
  SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return !host.empty() && SSL_set1_host(session, host.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

Errc reason_of_failure(const SSL* session) {
  switch (SSL_get_verify_result(session)) {
    case X509_V_OK:
      return Errc::tls_failed;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Errc::tls_wrong_name;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Errc::tls_expired;
    default:
      return Errc::tls_unverified;
  }
}

// Throws boost::system::system_error.
std::shared_ptr<ssl::context> make_context(const std::string& extra_ca_file) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  auto* const native = context->native_handle();
  if (SSL_CTX_set_alpn_protos(native, kHttp11, sizeof kHttp11) != 0) {
    throw boost::system::system_error(make_error_code(Errc::tls_failed));
  }
  net::set_modes(native);
  // RFC 9110 4.3.4: a response of an https origin that is not verified must not pass for the
  // origin's.
  context->set_verify_mode(ssl::verify_peer);
  context->set_default_verify_paths();
  if (!extra_ca_file.empty()) context->load_verify_file(extra_ca_file);
  return context;
}

// Those read from files. OpenSSL reads those of a folder when it needs them.
int certificates_in(ssl::context& context) {
  auto* const store = SSL_CTX_get_cert_store(context.native_handle());
  return sk_X509_OBJECT_num(X509_STORE_get0_objects(store));
}

}  // namespace

HostTrust::HostTrust(std::span<const config::HostCertificates> files) {
  for (const auto& [host, file] : files) {
    try {
      contexts_.emplace(http::canonical_pattern(host), make_context(file));
    } catch (const boost::system::system_error& error) {
      throw std::runtime_error("mirrors.ca[\"" + host + "\"]: " + file +
                               " has no certificates that can be read: " + error.code().message());
    }
  }
}

std::shared_ptr<ssl::context> HostTrust::find(std::string_view host) const {
  auto found = contexts_.find(host);
  const auto pattern = http::one_label_pattern(host);
  if (found == contexts_.end() && !pattern.empty()) found = contexts_.find(pattern);
  return found == contexts_.end() ? nullptr : found->second;
}

TlsClient::TlsClient(std::string extra_ca_file)
    : extra_ca_file_(std::move(extra_ca_file)), context_(make_context(extra_ca_file_)) {}

bool TlsClient::reload() {
  auto next = make_context(extra_ca_file_);
  const threads::MutexLock lock(mutex_);
  // While a package replaces the file it may be empty, and an empty store would refuse every
  // origin.
  if (certificates_in(*next) == 0 && certificates_in(*context_) > 0) return false;
  context_.swap(next);
  return true;
}

void TlsClient::follow(std::shared_ptr<const HostTrust> trust) {
  const threads::MutexLock lock(mutex_);
  trust_ = std::move(trust);
}

std::shared_ptr<ssl::context> TlsClient::context(std::string_view host) const {
  const threads::MutexLock lock(mutex_);
  if (auto of_host = trust_ ? trust_->find(host) : nullptr) return of_host;
  return context_;
}

net::Task<net::Result<std::unique_ptr<net::Stream>>> TlsClient::handshake(
    net::Socket socket, std::string host, net::Deadlines& deadlines,
    std::chrono::milliseconds timeout) {
  const auto trust = context(host);
  net::TlsSession session(SSL_new(trust->native_handle()));
  if (!session || !expect(session.get(), host)) co_return Errc::tls_failed;
  SSL_set_connect_state(session.get());
  net::Opening opening(socket, deadlines, timeout);
  const auto error = co_await opening.shake_hands(session.get());
  if (error == net::asio::error::timed_out) co_return Errc::connect_timed_out;
  if (error) co_return reason_of_failure(session.get());
  co_return std::make_unique<net::Stream>(std::move(socket), deadlines, std::move(session));
}

}  // namespace proxy::upstream
