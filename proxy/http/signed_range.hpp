// Requests whose signature covers their Range: the origin refuses the request with another range.
#pragma once

#include "proxy/http/head.hpp"

namespace proxy::http {

// Whether the request is signed and its Range may be a part of what is signed: its URL has a
// signature (the parameter X-Amz-Signature, X-Goog-Signature or Signature), or its Authorization,
// Signature (RFC 9421) or Signature-Input names `range`, as the SignedHeaders of AWS do. Pure.
bool signs_range(const RequestHead& request);

}  // namespace proxy::http
