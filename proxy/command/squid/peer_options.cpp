#include "proxy/command/squid/peer_options.hpp"

#include <algorithm>
#include <array>

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

constexpr std::string_view kIcp = "";
constexpr std::string_view kShare = "parents share the URLs by weight, the same way each time";
constexpr std::array kOptions{
    PeerOption{"no-query", Kind::unneeded, kIcp},
    PeerOption{"background-ping", Kind::unneeded, kIcp},
    PeerOption{"closest-only", Kind::unneeded, kIcp},
    PeerOption{"no-netdb-exchange", Kind::unneeded, kIcp},
    PeerOption{"multicast-responder", Kind::unneeded, kIcp},
    PeerOption{"htcp", Kind::unneeded, kIcp},
    PeerOption{"htcp=", Kind::unneeded, kIcp},
    PeerOption{"no-tproxy", Kind::unneeded, ""},
    PeerOption{"no-delay", Kind::unneeded, ""},
    PeerOption{"allow-miss", Kind::unneeded, ""},
    PeerOption{"connect-fail-limit=", Kind::unneeded, ""},
    PeerOption{"default", Kind::changed,
               "the order of parents is that of the URLs' hashes; it is no last resort"},
    PeerOption{"round-robin", Kind::changed, kShare},
    PeerOption{"weighted-round-robin", Kind::changed, kShare},
    PeerOption{"carp", Kind::changed, kShare},
    PeerOption{"sourcehash", Kind::changed, kShare},
    PeerOption{"userhash", Kind::changed, kShare},
    PeerOption{"basetime=", Kind::unneeded, ""},
    PeerOption{
        "proxy-only", Kind::changed,
        "digest.duplicates says for all siblings whether what they hold is stored here, too"},
    PeerOption{"digest-url=", Kind::left, "a Squid's digest is fetched at its usual path"},
    PeerOption{"connect-timeout=", Kind::left, "timeouts.peer_connect is the same for all peers"},
    PeerOption{"max-conn=", Kind::left, "connections to a peer have no limit of their own"},
    PeerOption{"standby=", Kind::unneeded, ""},
    PeerOption{"ttl=", Kind::unneeded, ""},
    PeerOption{"forceddomain=", Kind::left, "the Host field is that of the URL"},
    PeerOption{"front-end-https", Kind::left, "no such field is sent"},
    PeerOption{"sslcert=", Kind::left, "no client certificate is shown to peers"},
    PeerOption{"sslkey=", Kind::left, "no client certificate is shown to peers"},
    PeerOption{"sslflags=", Kind::left, "a peer's certificate is always verified"},
    PeerOption{"sslcafile=", Kind::left,
               "certificates are verified by the system's store; add the authority there"},
    PeerOption{"sslcapath=", Kind::left,
               "certificates are verified by the system's store; add the authority there"},
    PeerOption{"tls-ca=", Kind::left,
               "certificates are verified by the system's store; add the authority there"},
    PeerOption{"tls-cafile=", Kind::left,
               "certificates are verified by the system's store; add the authority there"}};

constexpr std::string_view kFirst = "the first origin of \"to\" that works is asked";
constexpr std::array kOptionsOfOrigins{
    PeerOption{"round-robin", Kind::changed, kFirst},
    PeerOption{"weighted-round-robin", Kind::changed, kFirst},
    PeerOption{"carp", Kind::changed, kFirst},
    PeerOption{"sourcehash", Kind::changed, kFirst},
    PeerOption{"userhash", Kind::changed, kFirst},
    PeerOption{"weight=", Kind::changed, kFirst},
    PeerOption{"default", Kind::unneeded, ""},
    PeerOption{"no-digest", Kind::unneeded, ""},
    PeerOption{"login=PASS", Kind::unneeded, ""},
    PeerOption{"login=PASSTHRU", Kind::unneeded, ""},
    PeerOption{"login=", Kind::left, "no password is sent to an origin but the client's own"},
    PeerOption{"proxy-only", Kind::left, "write a rule for the site with \"never_store\": true"},
    PeerOption{"connect-timeout=", Kind::left, "timeouts.connect is the same for all origins"}};

template <class Options>
const PeerOption* option_of(const Options& options, std::string_view text) {
  const auto* const found =
      std::find_if(options.begin(), options.end(), [text](const PeerOption& each) {
        return each.name.ends_with('=') ? text.starts_with(each.name) : text == each.name;
      });
  return found == options.end() ? nullptr : found;
}

}  // namespace

const PeerOption* peer_option(std::string_view text, bool of_origin) {
  const PeerOption* const found = of_origin ? option_of(kOptionsOfOrigins, text) : nullptr;
  return found ? found : option_of(kOptions, text);
}

}  // namespace proxy::command::squid
