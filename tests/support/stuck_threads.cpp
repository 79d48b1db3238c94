// Preloaded into the program: keeps a thread busy for ever while a file of that name exists in the
// directory HEARSAY_STUCK_THREADS: `control` the one that polls neighbours, `serving` one that
// accepts a connection.
#include <curl/curl.h>
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

bool is_told(const char* thread) {
  const char* const directory = std::getenv("HEARSAY_STUCK_THREADS");
  return directory && ::access((std::string(directory) + '/' + thread).c_str(), F_OK) == 0;
}

void hang_while(const char* thread) {
  while (is_told(thread)) ::usleep(5'000);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

CURLMsg* curl_multi_info_read(CURLM* multi, int* queued) {
  hang_while("control");
  return next<decltype(::curl_multi_info_read)>("curl_multi_info_read")(multi, queued);
}

int accept(int socket, sockaddr* address, socklen_t* size) {
  hang_while("serving");
  return next<decltype(::accept)>("accept")(socket, address, size);
}

int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
  hang_while("serving");
  return next<decltype(::accept4)>("accept4")(socket, address, size, flags);
}
}
