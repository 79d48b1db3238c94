#include "proxy/client/response_writer.hpp"

#include <boost/container/small_vector.hpp>

#include "proxy/net/socket_calls.hpp"

namespace proxy {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

Soon<error_code> ResponseWriter::body(const Pieces& pieces) {
  boost::container::small_vector<asio::const_buffer, 16> buffers;
  for (const auto& piece : pieces) {
    buffers.emplace_back(piece.block->data() + piece.offset, piece.size);
  }
  const std::span<const asio::const_buffer> all(buffers.data(), buffers.size());
  return body(all);
}

Soon<error_code> ResponseWriter::body(asio::const_buffer bytes) {
  const std::span<const asio::const_buffer> all(&bytes, 1);
  return body(all);
}

Task<net::Result<std::size_t>> ResponseWriter::body_of_file(net::FilePart /*part*/) {
  co_return std::size_t{0};
}

}  // namespace proxy
