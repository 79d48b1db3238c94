#include "proxy/explain/stored_elsewhere.hpp"

#include "proxy/policy/content.hpp"

namespace proxy::explain {

using net::Task;

Task<void> find_url_of_body(blocks::FetchAccess& access, const policy::Request& request,
                            std::string& into) {
  const auto name = policy::shared_content_of(request);
  if (!name) co_return;
  const policy::ActingRequest for_record(request, request.target.url(),
                                         policy::stored_under(*name));
  if (!for_record.get()) co_return;
  const auto record = co_await access.cached().peek(*for_record.get());
  if (!record.stored.found.entry) co_return;
  const cache::ParsedHead told(*record.stored.found.entry);
  std::string url(told.head.fields.value(http::field::content_location));
  const policy::ActingRequest for_body(request, url);
  if (!for_body.get() || url == request.target.url()) co_return;
  const auto body = co_await access.cached().peek(*for_body.get());
  if (body.stored.found.entry) into = std::move(url);
}

}  // namespace proxy::explain
