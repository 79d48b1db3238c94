// Shared ownership in 8 bytes.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

namespace proxy::cache {

// Like std::shared_ptr<T>, in half its size: the object counts its references itself, in 4 bytes,
// where std::make_shared() adds 16.
template <class T>
using Ref = boost::intrusive_ptr<T>;

// The base of such an object. Any thread may copy and destroy references to it.
template <class T>
using Counted = boost::intrusive_ref_counter<T, boost::thread_safe_counter>;

}  // namespace proxy::cache
