// Sends a stored response whose body was left in its file on the disk.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy {

// Sends the whole response. may_be_sent(body) was true just now, and client.response.sends_files().
// If the file loses the body on the way, the rest is sent from memory; if it is not saved there,
// the response is cut. The caller has added the fields of this response alone to
// client.response.fields().
net::Task<void> send_from_file(Client& client, const cache::Entry& entry,
                               std::shared_ptr<FileBody> body);

}  // namespace proxy
