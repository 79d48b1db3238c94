// Responses from the store, or from a fill, to the client; and heads that are passed on.
#pragma once

#include "proxy/blocks/presence.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/freshness.hpp"
#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/head.hpp"
#include "proxy/reply/object_answer.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy::reply {

enum class Delivered {
  sent,        // a response was sent: whole, cut, or a refusal
  begin_anew,  // nothing was sent: the origin has another version of the object, or does not answer
               // for the stored one; the caller asks the origin as if nothing were stored
};

// If the stored object is outdated, deliver() returns Delivered::begin_anew or sends a refusal.
enum class OnOutdated { begin_anew, refuse };

// The head of a response that is passed on, and is not made from an entry: the origin's status line
// and end-to-end fields, with our Via, for ResponseWriter::start(). A missing Date is added (RFC
// 9110 6.6.1). An Age is computed anew from `times`, those of the response (RFC 9111 4.2.3).
std::string passed_head(const client::ServeAccess& access, const http::ResponseHead& head,
                        const cache::Times& times);

// Records the media type, without parameters, for the log.
void record_content_type(client::Client& client, std::string_view content_type);

// Appends Cache-Status to the response's fields as the record tells it (RequestRecord::told), with
// the request's key if cache.key_in_status is set.
void add_cache_status(client::Client& client, const policy::Request& request);

// Records where a response that was fetched comes from, for the log and for Cache-Status. `reason`:
// why the request went forward.
void note_source(client::Client& client, const fill::Provenance& from, http::Forward reason);

// An entry, and its body if that was left in its file.
struct EntryToServe {
  const cache::Entry& entry;
  std::shared_ptr<tiers::FileBody> body = {};
};
// Answers a hit. Sends a 304 if the client's conditions allow it, else the body from its file if
// `held` has one, else the entry as send_stored() does. `detail`: why a stale entry answers, for
// Cache-Status; empty: none. The entry outlives the task.
net::Soon<void> serve(client::Client& client, const policy::Request& request, EntryToServe held,
                      cache::Time now, std::string_view detail = {});

struct ObjectToServe {
  digest::Key key;  // of the URL
  cache::Ref<const cache::Entry> entry;
  blocks::Presence there = blocks::Presence::stored;  // whether the wanted bytes are stored
  bool joins = false;  // waits for blocks even if only stored ones were asked for
};
// Sends an object in blocks. Missing blocks are fetched if the request allows it.
net::Task<Delivered> serve_object(client::Client& client, const policy::Request& request,
                                  ObjectToServe held, cache::Time now,
                                  std::string_view detail = {});

// Sends an entry that was stored before its origin was asked: the entry was validated, or stands in
// for an origin that failed.
net::Task<void> deliver_stored(client::Client& client, const policy::Request& request,
                               const fill::FillHead& head, http::Forward reason);

// What a fill has for this request.
struct ToDeliver {
  const fill::FillHead& head;
  http::Forward reason;  // why this request went forward
  OnOutdated on_outdated = OnOutdated::refuse;
};
// Sends the fill's response while it arrives. If the fill fails under way, the response is aborted.
net::Task<Delivered> deliver(client::Client& client, const policy::Request& request,
                             fill::FillReader& reader, ToDeliver filled);

}  // namespace proxy::reply
