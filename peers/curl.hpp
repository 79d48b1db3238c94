// Owning pointers to libcurl's objects. Brings libcurl in: for the few .cpp files that use it.
#pragma once

#include <curl/curl.h>

#include <boost/core/noncopyable.hpp>
#include <memory>

namespace peers {

// Keeps libcurl initialized for as long as the object exists.
struct Curl : private boost::noncopyable {
  Curl() { curl_global_init(CURL_GLOBAL_DEFAULT); }
  ~Curl() { curl_global_cleanup(); }
};

template <auto kFree>
struct FreedBy {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using CurlEasy = std::unique_ptr<CURL, FreedBy<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, FreedBy<curl_multi_cleanup>>;
using CurlList = std::unique_ptr<curl_slist, FreedBy<curl_slist_free_all>>;
using CurlText = std::unique_ptr<char, FreedBy<curl_free>>;

}  // namespace peers
