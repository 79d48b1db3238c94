// What became of a request, as a sentence for a person.
#pragma once

#include <string>

#include "proxy/observe/request_record.hpp"

namespace proxy::observe {

// For instance "asked cache-b: its digest claimed this; it was right" or "fetched from the origin:
// nobody claimed it; stored for 300 s". Tells the facts that Cache-Status and the access log have.
// A word of Cache-Status that has no sentence is told as it is. Pure.
std::string sentence_of(const RequestRecord& record);

}  // namespace proxy::observe
