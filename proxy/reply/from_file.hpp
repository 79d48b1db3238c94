// Sends a stored response whose body was left in its file on the disk.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy {

// Sends the whole response, or the head alone to a client that asked for no more. may_be_sent(body)
// was true just now, and client.response.sends_files(). If the file loses the body on the way, the
// rest is sent from memory; if it is not saved there, the response is cut. The caller has added the
// fields of this response alone to client.response.fields().
net::Task<void> send_from_file(Client& client, const cache::Entry& entry,
                               std::shared_ptr<FileBody> body);

// Sends the bytes of the body from `sent` up to `end`, of a response that has begun, and adds them
// to `sent`. If the file loses the body on the way, the rest is sent from memory; if it is not
// saved there, fewer bytes are sent. may_be_sent(body) was true just now, and
// client.response.sends_files().
net::Task<net::error_code> send_part_of_file(Client& client, std::shared_ptr<FileBody> body,
                                             std::uint64_t& sent, std::uint64_t end);

}  // namespace proxy
