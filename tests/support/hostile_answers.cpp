#include "tests/support/hostile_messages.hpp"

namespace support {
namespace {

using namespace std::string_literals;

const std::string kFresh = "Cache-Control: max-age=60\r\n";

HostileAnswer line(const char* name, const std::string& text, int status = 502) {
  return {name, text + "\r\n" + kFresh + "Content-Length: 3\r\n\r\nabc", status};
}
HostileAnswer fields(const char* name, const std::string& text, int status = 502) {
  return {name, "HTTP/1.1 200 OK\r\n" + kFresh + text + "Content-Length: 3\r\n\r\nabc", status};
}
HostileAnswer length(const char* name, const std::string& text, int status = 502) {
  return {name, "HTTP/1.1 200 OK\r\n" + kFresh + text + "\r\nabc", status};
}
HostileAnswer coding(const char* name, const std::string& text, int status = 502) {
  return {name, "HTTP/1.1 200 OK\r\n" + kFresh + text + "\r\n3\r\nabc\r\n0\r\n\r\n", status};
}
HostileAnswer chunks(const char* name, const std::string& body, int status = 0) {
  return {name, "HTTP/1.1 200 OK\r\n" + kFresh + "Transfer-Encoding: chunked\r\n\r\n" + body,
          status};
}
// An interim answer, and one that is fine.
HostileAnswer interim(const char* name, const std::string& head, int status = 502) {
  return line(name, head + "\r\n\r\nHTTP/1.1 200 OK", status);
}

std::vector<HostileAnswer> lines() {
  return {
      {"Nothing", ""},
      {"OtherProtocol", "SSH-2.0-OpenSSH_9.2\r\n"},
      {"OnlyABody", "<html>abc</html>\r\n\r\n"},
      line("IcyInLowerCase", "icy 200 OK"),
      line("IcyInterim", "ICY 103 OK"),
      line("StatusOfLetters", "HTTP/1.1 abc OK"),
      line("StatusOfTwoDigits", "HTTP/1.1 99 OK"),
      line("StatusOfFourDigits", "HTTP/1.1 1000 OK"),
      line("StatusOfNought", "HTTP/1.1 000 OK"),
      line("StatusWithSign", "HTTP/1.1 +20 OK"),
      line("StatusHex", "HTTP/1.1 0xC8 OK"),
      line("StatusAndJunk", "HTTP/1.1 200OK"),
      line("StatusMissing", "HTTP/1.1"),
      line("StatusAfterTwoSpaces", "HTTP/1.1  200 OK"),
      line("StatusAfterTab", "HTTP/1.1\t200 OK"),
      line("SpaceFirst", " HTTP/1.1 200 OK"),
      line("EmptyLineFirst", "\r\nHTTP/1.1 200 OK"),
      line("VersionInLowerCase", "http/1.1 200 OK"),
      line("Http20", "HTTP/2.0 200 OK"),
      line("Http09", "HTTP/0.9 200 OK"),
      line("Http110", "HTTP/1.10 200 OK"),
      line("CrInReason", "HTTP/1.1 200 OK\rSet-Cookie: a=b"),
      line("NulInReason", "HTTP/1.1 200 O\0K"s),
      line("CrCrLf", "HTTP/1.1 200 OK\r"),
      line("FoldedLine", "HTTP/1.1 200 OK\r\n folded"),
      {"LfAfterLine", "HTTP/1.1 200 OK\n" + kFresh + "Content-Length: 3\r\n\r\nabc"},
      {"OnlyLf", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc"},
      {"HeadCut", "HTTP/1.1 200 OK\r\n" + kFresh + "Content-Length: 3\r\n"},
      line("NoReason", "HTTP/1.1 200", 200),
      line("Http12", "HTTP/1.2 200 OK", 200),
  };
}

std::vector<HostileAnswer> heads() {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "X: y\r\n";
  return {
      fields("LfInFields", "X: 1\nY: 2\r\n"),
      fields("CrInValue", "X: 1\rY: 2\r\n"),
      fields("NulInValue", "X: \0\r\n"s),
      fields("VerticalTabInValue", "X: 1\v\r\n"),
      fields("SpaceBeforeColon", "X : 1\r\nETag\t: \"e\"\r\n", 200),
      fields("SpaceWithinName", "X Y: 1\r\n"),
      fields("ConnectionSpaceBeforeColon", "Connection : close\r\n"),
      fields("NoColon", "X\r\n"),
      fields("NoName", ": 1\r\n"),
      fields("NameNoToken", "X(Y): 1\r\n"),
      fields("NameWithNul", "X\0: 1\r\n"s),
      fields("LineOfCr", "\r\r\n"),
      fields("ManyFields", many),
      fields("LargeField", "X: " + std::string(70'000, 'y') + "\r\n"),
      fields("Folded", "X: 1\r\n folded\r\n\tagain\r\n", 200),
  };
}

std::vector<HostileAnswer> framings() {
  const std::string kChunked = "Transfer-Encoding: chunked\r\n";
  return {
      length("LengthTwice", "Content-Length: 3\r\nContent-Length: 3\r\n"),
      length("TwoLengths", "Content-Length: 3\r\nContent-Length: 2\r\n"),
      length("ListOfLengths", "Content-Length: 3, 3\r\n"),
      length("LengthPlus", "Content-Length: +3\r\n"),
      length("LengthMinus", "Content-Length: -3\r\n"),
      length("LengthHex", "Content-Length: 0x3\r\n"),
      length("LengthEmpty", "Content-Length:\r\n"),
      length("LengthAndJunk", "Content-Length: 3x\r\n"),
      length("LengthInTwoParts", "Content-Length: 3 3\r\n"),
      length("LengthFoldedInTwo", "Content-Length: 3\r\n 3\r\n"),
      length("LengthHuge", "Content-Length: 99999999999999999999\r\n"),
      length("LengthOfMore", "Content-Length: 30\r\n", 0),
      length("LengthSpaceBeforeColon", "Content-Length : 3\r\n"),
      length("LengthFolded", "Content-Length:\r\n 3\r\n", 200),
      coding("LengthAndCoding", "Content-Length: 3\r\n" + kChunked),
      coding("CodingAndLength", kChunked + "Content-Length: 3\r\n"),
      coding("XChunked", "Transfer-Encoding: xchunked\r\n"),
      coding("Identity", "Transfer-Encoding: identity\r\n"),
      coding("ChunkedTwice", "Transfer-Encoding: chunked, chunked\r\n"),
      coding("ChunkedOnTwoLines", kChunked + kChunked),
      coding("ChunkedNotLast", "Transfer-Encoding: chunked, gzip\r\n"),
      coding("GzipThenChunked", "Transfer-Encoding: gzip, chunked\r\n"),
      coding("CommaLast", "Transfer-Encoding: chunked,\r\n"),
      coding("ChunkedQuoted", "Transfer-Encoding: \"chunked\"\r\n"),
      coding("CodingEmpty", "Transfer-Encoding:\r\n"),
      coding("CodingWithVerticalTab", "Transfer-Encoding: \vchunked\r\n"),
      coding("CodingSpaceBeforeColon", "Transfer-Encoding : chunked\r\n"),
      {"CodingInHttp10", "HTTP/1.0 200 OK\r\n" + kFresh + kChunked + "\r\n3\r\nabc\r\n0\r\n\r\n"},
      coding("CodingFolded", "Transfer-Encoding:\r\n\tchunked\r\n", 200),
  };
}

std::vector<HostileAnswer> bodies() {
  const auto sized = [](const std::string& size) { return size + "\r\nabc\r\n0\r\n\r\n"; };
  return {
      chunks("SizeNegative", sized("-3")),
      chunks("SizeWith0x", sized("0x3")),
      chunks("SizeOverflows", sized("10000000000000003")),
      chunks("SizeEmpty", sized("")),
      chunks("SizeBeforeSpace", sized("3 ")),
      chunks("SizeLf", "3\nabc\r\n0\r\n\r\n"),
      chunks("ExtensionWithCr", sized("3;a\rb")),
      chunks("ExtensionHuge", sized("3;" + std::string(10'000, 'a'))),
      chunks("DataTooLong", "3\r\nabcd\r\n0\r\n\r\n"),
      chunks("DataTooShort", "5\r\nabc\r\n0\r\n\r\n"),
      chunks("DataWithoutEnd", "3\r\nabc0\r\n\r\n"),
      chunks("NoLastChunk", "3\r\nabc\r\n"),
      chunks("LastChunkCut", "3\r\nabc\r\n0\r\n\r"),
      chunks("TrailerLf", "3\r\nabc\r\n0\r\nX: y\n\r\n"),
      chunks("TrailerNoField", "3\r\nabc\r\n0\r\nX\r\n\r\n"),
      chunks("TrailersHuge", "3\r\nabc\r\n0\r\nX: " + std::string(20'000, 'y') + "\r\n\r\n"),
      chunks("Extension", sized("3;a=b"), 200),
      chunks("Trailer", "3\r\nabc\r\n0\r\nContent-Length: 7\r\n\r\n", 200),
      chunks("JunkAfterLastChunk", sized("3") + "HTTP/1.1 200 OK\r\n\r\n", 200),
      {"JunkAfterBody",
       "HTTP/1.1 200 OK\r\n" + kFresh + "Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n", 200},
      {"NotModifiedUnasked", "HTTP/1.1 304 Not Modified\r\n" + kFresh + "\r\n"},
      {"NoContentWithABody",
       "HTTP/1.1 204 No Content\r\n" + kFresh + "Content-Length: 3\r\n\r\nabc", 204},
  };
}

std::vector<HostileAnswer> interims() {
  std::string flood;
  for (int i = 0; i < 200; ++i) flood += "HTTP/1.1 103 X\r\nLink: </a>\r\n\r\n";
  return {
      interim("InterimAndAnswer", "HTTP/1.1 103 Early Hints\r\nLink: </a>", 200),
      interim("InterimFlood", flood + "HTTP/1.1 103 X"),
      interim("InterimWithALength", "HTTP/1.1 103 X\r\nContent-Length: 3", 200),
      interim("InterimWithACoding", "HTTP/1.1 103 X\r\nTransfer-Encoding: chunked", 200),
      interim("InterimWithBoth",
              "HTTP/1.1 103 X\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", 200),
      interim("ContinueWithALength", "HTTP/1.1 100 Continue\r\nContent-Length: 3", 200),
      interim("InterimWithItsBody", "HTTP/1.1 103 X\r\nContent-Length: 3\r\n\r\nabc"),
      interim("InterimMalformed", "HTTP/1.1 103 X\r\nBad Name: 1"),
      interim("SwitchUnasked", "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket"),
      interim("SwitchUnaskedWithALength", "HTTP/1.1 101 X\r\nContent-Length: 3"),
      {"OnlyAnInterim", "HTTP/1.1 100 Continue\r\n\r\n"},
  };
}

}  // namespace

std::vector<HostileAnswer> hostile_answers() {
  auto all = lines();
  for (const auto& more : {heads(), framings(), bodies(), interims()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace support
