// Explains a request without carrying it out: what this proxy would do with it now, and why, as
// plain values.
#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/networks.hpp"
#include "proxy/client/client.hpp"
#include "proxy/fetching/lookup.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::explain {

// Whether a neighbour would be asked.
enum class Asks : std::uint8_t {
  yes,
  on_trial,  // at once, beside the next source
  if_origin_fails,
  no,
};

// A neighbour, and what becomes of its claim.
struct PeerFacts {
  std::string name;
  std::string state;           // as in /digest
  std::optional<bool> claims;  // nothing: it has no digest that may be used
  Asks asks = Asks::no;
  std::string why;  // for a person; empty if it is simply asked
};

// One stored response.
struct StoredResponse {
  cache::Ref<const cache::Entry> entry;
  inspect::EntryFacts facts;
  bool selected = false;  // a look-up for this request finds it
  // The lifetime by the response alone, if a rule of the settings changes it.
  std::optional<cache::seconds> told_lifetime;
};

// The servers that are asked if no neighbour answers.
struct OriginFacts {
  std::vector<std::string> parents;  // in the order in which they are asked
  std::vector<std::string> servers;  // "http://127.0.0.1:8000"; empty: parents alone are asked
  std::optional<std::chrono::microseconds> takes;  // to the first byte
};

struct Explanation {
  struct Asked {
    std::string url;  // canonical
    std::string method;
    std::string client;    // its address
    std::string user;      // who signs in; empty: nobody
    std::string rule;      // the word of the site's rule; empty: none applies
    bool reverse = false;  // the settings choose the origin, not the client
    // More about the rule: its recipe, its class, the digest that the URL has of the response, what
    // the tag of an image names, and the other URL under which the body is stored that has the
    // digest, each with its name; empty: none.
    std::vector<std::pair<std::string, std::string>> of_rule{
        {"recipe", ""}, {"class", ""}, {"content", ""}, {"tag", ""}, {"body", ""}};
  };
  struct Refused {
    std::string reason;  // empty: it is not
    unsigned status = 0;
  };
  struct Cached {
    std::string key;  // in hex
    std::string stored_as;
    bool for_neighbours = false;  // whether they may be asked for it, and told of it
    std::vector<StoredResponse> stored;
    bool more_on_disk = false;  // perhaps: other variants
    std::string disk_fault;     // why the disk was not looked at; empty: it was, or there is none
    cache::Verdict verdict{cache::Action::fetch, http::Forward::uri_miss};
    bool fetching = false;  // another request fetches it, and this one would wait for that
  };
  struct Sources {
    std::string no_neighbours;  // why none would be asked; empty: some may be
    std::vector<PeerFacts> peers;
    std::string owner;  // the neighbour that is asked about what none claims; empty: none
    OriginFacts origin;
  };

  Asked asked;
  Refused refused;
  bool own_page = false;  // the request is for a page of this proxy, and nothing below counts
  bool tunnel = false;    // CONNECT: nothing is stored, and neighbours are not asked
  Cached cached;
  bool offline = false;
  Sources sources;
  cache::Time now;
  std::chrono::milliseconds ahead{0};  // wall time less `now`
};

// Says what would happen, in one sentence for a person. Pure.
std::string sentence(const Explanation& explanation);

// One more sentence: what it is about ("client", "neighbour"), and its text.
struct Said {
  std::string_view about;  // a literal; empty: the same as of the sentence before
  std::string text;
};

// The facts behind sentence(), each as a sentence for a person. Facts that are unknown or do not
// count are left out. Pure.
std::vector<Said> sentences(const Explanation& explanation);

// The page /admin/explain. Pure.
std::string explanation_json(const Explanation& explanation);

// A request whose only field is Host. If `reverse` maps the host by a name, or if nobody may use
// this program as a proxy, the request takes it for the server of the URL; else for a proxy.
struct Hypothesis {
  std::string url;          // for CONNECT also HOST:PORT
  std::string method = {};  // empty: GET, but CONNECT for an https URL, since clients tunnel those
  config::Address client;
  std::string client_text;
  std::string user = {};  // who signs in where a rule asks for a user; empty: nobody
};

// Why there is no such request: what is wrong with the URL, the method or the user.
struct NoRequest {
  std::string why;
};
using Explained = boost::system::result<Explanation, NoRequest>;

// Asks the rules that answer() asks, in its order, and looks at what is stored, at the neighbours'
// digests and at the routes. Counts nothing, stores nothing, asks nobody. What a name leads to, and
// so whether access.deny_to allows it, is not known before it is connected to. `asker`: the client
// of the page; the estimates of its thread are used. The disk may be waited for.
net::Task<Explained> explain(client::Client& asker, Hypothesis asked);

}  // namespace proxy::explain
