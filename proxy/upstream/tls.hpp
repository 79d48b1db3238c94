// TLS to origins: the trust store, and the verified handshake.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "peers/threads/mutex.hpp"
#include "proxy/net/stream.hpp"

namespace proxy::upstream {

// The setting mirrors.ca: for some hosts, a file has certificates that are trusted beside those
// of the system. Immutable.
class HostTrust {
 public:
  // Reads the files, and the system's store for each. Throws std::runtime_error with the place in
  // the settings. Blocks.
  explicit HostTrust(std::span<const config::HostCertificates> files);

  // Finds the certificates that are trusted for this host. Null: the system's alone. `host` is
  // spelled as http::Target does.
  [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> find(std::string_view host) const;

 private:
  // "*.example.com" is ".example.com" here.
  std::map<std::string, std::shared_ptr<boost::asio::ssl::context>, std::less<>> contexts_;
};

// The TLS of connections to servers. All threads share one: reading the trust store takes longer
// than a handshake.
class TlsClient {
 public:
  // Trusts the system's store (honours SSL_CERT_FILE and SSL_CERT_DIR) and, if named, the
  // certificates of one more PEM file. Throws boost::system::system_error if that file cannot be
  // read.
  explicit TlsClient(std::string extra_ca_file = {});

  // Reads the certificates again, for handshakes that begin later. Returns false, and changes
  // nothing, if the file has no certificates any more, or cannot be read. If it throws, as the
  // constructor does, nothing changes either. Blocks. Any thread.
  bool reload();

  // Handshakes that begin later trust these certificates, too. Any thread.
  void follow(std::shared_ptr<const HostTrust> trust);

  // TLS 1.2 or later, ALPN http/1.1, SNI for names. The certificate must be valid now and for
  // `host` (a name or an IP address without brackets). Takes at most `timeout`.
  net::Task<net::Result<std::unique_ptr<net::Stream>>> handshake(net::Socket socket,
                                                                 std::string host,
                                                                 net::Deadlines& deadlines,
                                                                 std::chrono::milliseconds timeout);

 private:
  using Context = boost::asio::ssl::context;

  [[nodiscard]] std::shared_ptr<Context> context(std::string_view host) const;

  const std::string extra_ca_file_;
  mutable threads::Mutex mutex_;
  std::shared_ptr<Context> context_ GUARDED_BY(mutex_);
  std::shared_ptr<const HostTrust> trust_ GUARDED_BY(mutex_);  // null: none
};

}  // namespace proxy::upstream
