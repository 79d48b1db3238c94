// Compiles of Beast what knows names of fields and reasons. It needs nothing of Asio, so a program
// that only decides is linked without Asio. net/asio.cpp compiles the rest.
#define BOOST_BEAST_SOURCE
#include <boost/beast/core/detail/config.hpp>
#include <boost/beast/http/impl/field.ipp>
#include <boost/beast/http/impl/status.ipp>
