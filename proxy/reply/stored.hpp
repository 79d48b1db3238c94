// Sends a stored response: whole, in parts, or as 304, from memory or from its file on the disk.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy::policy {
struct Request;
}

namespace proxy::reply {

enum class Delivered {
  sent,        // a response was sent: whole, cut, or a refusal
  begin_anew,  // nothing was sent: the origin has another version of the object, or does not answer
               // for the stored one; the caller asks the origin as if nothing were stored
};

// Sends the parts that Range selects or 416, else the whole entry. The caller has sent the 304 if
// one is due (cache::is_unmodified_for). This function, and those below, return `sent` in any
// case. Bodies are written from the store's blocks, without a
// copy. The caller has added the fields of this response alone to client.state.fields.
net::Soon<Delivered> send_stored(client::Client& client, const policy::Request& request,
                                 const cache::Entry& entry, cache::Time now);

// Sends the 304. The entry's body need not be complete yet.
net::Task<Delivered> send_not_modified(client::Client& client, const cache::Entry& entry);

// An unpredictable boundary for multipart/byteranges, so that no body contains it.
std::string random_boundary();

// Sends the whole response, or the head alone to a client that asked for no more. The body was
// found in its file just now, and client.response.sends_files(). If the file loses the body on the
// way, the rest is sent from memory; if it is not saved there, the response is cut. The caller has
// added the fields of this response alone to client.state.fields.
net::Task<Delivered> send_from_file(client::Client& client, const cache::Entry& entry,
                                    std::shared_ptr<tiers::FileBody> body);

// Sends the bytes of the body from `sent` up to `end`, of a response that has begun, and adds them
// to `sent`. If the file loses the body on the way, the rest is sent from memory; if it is not
// saved there, fewer bytes are sent. The body was found in its file just now, and
// client.response.sends_files().
net::Task<net::error_code> send_part_of_file(client::Client& client,
                                             std::shared_ptr<tiers::FileBody> body,
                                             std::uint64_t& sent, std::uint64_t end);

}  // namespace proxy::reply
