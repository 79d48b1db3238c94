#include "proxy/cache/set_cookie.hpp"

namespace proxy::cache {

bool sets_cookie(const http::Fields& response) {
  return response.has(http::field::set_cookie);
}

}  // namespace proxy::cache
