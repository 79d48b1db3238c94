// Large objects without their bytes.
#pragma once

#include <memory>
#include <string>

#include "proxy/cache/combine.hpp"
#include "tests/proxy/policy/requests.hpp"

namespace proxy::blocks {

inline cache::Ref<const cache::Entry> object_of(cache::Budget& budget, std::uint64_t length,
                                                const std::string& lines = "ETag: \"v1\"\r\n",
                                                std::uint64_t version = 1) {
  const policy::TextRequest request("");
  const policy::TextAnswer answer(200, "Cache-Control: max-age=60\r\n" + lines);
  const cache::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  const cache::Received received{.url = "http://a.test/x",
                                 .request = (*request).head.fields,
                                 .response = answer.head,
                                 .times = {now, now},
                                 .our_name = "us"};
  return cache::object_entry(budget, received, {version}, length);
}

}  // namespace proxy::blocks
