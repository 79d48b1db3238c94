// Responses from the store, or from a fill, to the client; and heads that are passed on.
#pragma once

#include <optional>

#include "proxy/blocks/presence.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/freshness.hpp"
#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/head.hpp"
#include "proxy/reply/object_answer.hpp"
#include "proxy/reply/stored.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy::reply {

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

// The response of a fill, as far as it concerns this request.
struct ToDeliver {
  const fill::FillHead& head;
  http::Forward reason;  // why this request went forward
  OnOutdated on_outdated = OnOutdated::refuse;
};

// A stored response that answers a request.
struct Hit {
  digest::Key key;                              // of the URL
  const cache::Ref<const cache::Entry>& entry;  // outlives the task that sends it
  std::string_view detail = {};  // for Cache-Status: why a stale entry answers; or empty
  std::shared_ptr<tiers::FileBody> body = {};         // if the body was left in its file
  blocks::Presence there = blocks::Presence::stored;  // of an object: whether its wanted bytes are
  bool joins = false;  // of an object: waits for blocks even if only stored ones were asked for
  std::optional<ToDeliver> filled = {};  // if the entry answers because a fill says so
};
// The one way to send a stored response: a 304 if the client's conditions allow it, an object from
// its blocks, a body from its file, or the entry as send_stored() does. Missing blocks of an object
// are fetched if the request allows it.
net::Soon<Delivered> serve(client::Client& client, const policy::Request& request, Hit hit);

// Serves an entry that was stored before its origin was asked: the entry was validated, or stands
// in for an origin that failed. `filled` is what a fill or a passed request tells of that.
net::Soon<Delivered> serve_filled(client::Client& client, const policy::Request& request,
                                  ToDeliver filled);

// Sends the fill's response while it arrives; serve_filled() sends it if it is stored. If the fill
// fails under way, the response is aborted.
net::Soon<Delivered> deliver(client::Client& client, const policy::Request& request,
                             fill::FillReader& reader, ToDeliver filled);

}  // namespace proxy::reply
