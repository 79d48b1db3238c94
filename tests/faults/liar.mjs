// A scripted neighbour, a Squid by its digest, that has what it claims, until it is told to `lie`: it has nothing;
// or to `forge`: its bodies are not the origin's.
import { createHash } from 'node:crypto';
import http from 'node:http';

// What each URL of the origins has: fresh for an hour, and unchanged for long.
export const kBody = Buffer.alloc(20_000, 'hearsay ');
export const kLarge = Buffer.alloc(200_000, 'hearsay ');
const kFields = { 'Cache-Control': 'max-age=3600', 'Content-Type': 'text/plain', ETag: '"1"',
  'Last-Modified': 'Wed, 21 Oct 2015 07:28:00 GMT' };

export function send(response, body) {
  response.writeHead(200, { ...kFields, 'Content-Length': body.length });
  response.end(body);
}

const kClaims = 4000;
const kBits = 64 * kClaims;

// A digest as Squid serves it (src/CacheDigest.h): a head of 128 bytes, then the bits.
function digestOf(urls) {
  const message = Buffer.alloc(128 + kBits / 8);
  message.writeUInt16BE(5, 0);
  message.writeUInt16BE(3, 2);
  message.writeUInt32BE(8 * kClaims, 4);
  message.writeUInt32BE(urls.length, 8);
  message.writeUInt32BE(kBits / 8, 16);
  message.writeUInt8(8, 20);
  message.writeUInt8(4, 21);
  for (const url of urls) {
    const key = createHash('md5').update(Buffer.from([1])).update(url).digest();
    for (let i = 0; i < 4; i += 1) {
      const bit = key.readUInt32BE(4 * i) % kBits;
      message[128 + (bit >> 3)] |= 1 << (bit & 7);
    }
  }
  return message;
}

export class Liar {
  constructor(host, origins) {
    Object.assign(this, { host, does: 'serve', asked: 0 });
    this.urls = Array.from({ length: kClaims }, (_, i) => origins[i % origins.length].url(`/claimed/${i}`));
  }

  start() {
    const digest = digestOf(this.urls);
    this.server = http.createServer((request, response) => {
      response.setHeader('Server', 'squid/5.7');
      response.setHeader('X-Cache', 'HIT from liar');
      if (request.url.endsWith('/squid-internal-periodic/store_digest')) {
        response.writeHead(200, { 'Content-Type': 'application/cache-digest' });
        response.end(digest);
      } else if (this.does === 'lie') {
        response.writeHead(504, { 'Content-Length': 0 });
        response.end();
      } else {
        send(response, this.does === 'forge' ? Buffer.alloc(10_000, 'forged ') : kBody);
      }
    });
    return new Promise((resolve) => this.server.listen(3128, this.host, resolve));
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  nextUrl() {
    this.asked += 1;
    return this.urls[this.asked % kClaims];
  }
}
