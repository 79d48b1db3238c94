// /admin/cache: what the cache holds, for those who may change it, and whether it is undamaged.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/pages/own_pages.hpp"

namespace proxy {

// Answers Page::cache_list, cache_show or cache_verify by the lines of inspect/live.hpp, as they
// come (send_slices.hpp). One verification at a time runs, a second one is answered 409. Who may
// ask is checked.
net::Task<void> serve_cache_page(Client& client, const Request& request, Page page);

}  // namespace proxy
