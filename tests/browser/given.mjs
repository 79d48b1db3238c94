// States of a site that would take long to bring about: the news of a real proxy, with neighbours,
// figures and requests put in their place. What the proxy tells of each has to have all names that
// are set here.
import assert from 'node:assert/strict';
import { until } from './site.mjs';

const kEnd = Date.UTC(2026, 0, 2, 9, 25) / 1000;

// The newest news of the proxy.
async function newsOf(proxy) {
  const stream = new AbortController();
  const answer = await fetch(proxy.url('/hearsay/events'), { signal: stream.signal });
  let text = '';
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const found = text.match(/^data: (.*)\n\n/m);
    if (!found) continue;
    stream.abort();
    return JSON.parse(found[1]);
  }
  throw new Error('no news');
}

// What the proxy tells of itself once it has answered a request, while another one waits.
export async function realOf(proxy) {
  const told = async (page) => JSON.parse(await proxy.page(page));
  await until('a request is counted, and one waits', async () => (await told('/hearsay/busiest')).hosts.length > 0
    && (await told('/hearsay/origins')).under_way.length > 0);
  return { ...await newsOf(proxy), requests: await told('/hearsay/requests'), busiest: await told('/hearsay/busiest'), origins: await told('/hearsay/origins') };
}

function changed(real, values) {
  for (const name of Object.keys(values)) assert.ok(name in real, `the proxy tells ${name}`);
  return { ...real, ...values };
}

// The number `broken` does not work; 1 has given the most, then the others by their numbers; 2 is a Squid.
function neighbour(real, i, broken) {
  const isDown = i === broken;
  return changed(real, {
    name: `cache-${i}`,
    url: `http://10.0.0.${i}:3128`,
    kind: i === 2 ? 'squid' : 'hearsay',
    state: isDown ? 'resting' : 'usable',
    entries: 1000 * i,
    age_seconds: 0.25,
    false_positive_rate: 0.001,
    observed_false_positive_rate: null,
    claims: 100 * i,
    asked: 60 * i,
    true_hits: 50 * i,
    false_hits: i,
    false_hit_causes: { ...real.false_hit_causes, gone: i },
    failures: isDown ? 4 : 0,
    first_byte_ms: 1.5 * i,
    bytes_saved: (i === 1 ? 500 : i) * 2 ** 20,
    polls_failed: isDown ? 12 : 0,
    last_error: isDown ? 'connection refused' : null,
  });
}

export const kLongUrl = `http://mirror.example.org/${'a-folder-with-a-long-name/'.repeat(8)}debian-12.9.0-amd64-netinst.iso`;

function request(real, i, values) {
  return changed(real, { id: `0-${i}`, kind: 'forwarded', time: kEnd - 100 + i, took_ms: 12, client: '10.0.0.77', neighbour: null,
    method: 'GET', url: 'http://a.example.org/x', status: 200, bytes: 2048, result: 'TCP_MISS',
    verdict: 'fetched from the origin: nobody claimed it; stored for 60 minutes', ...values });
}

function requests(real) {
  return [
    request(real, 1, { kind: 'failed', status: 502, url: 'http://broken.example.org/', result: 'TCP_MISS', verdict: 'nobody could answer: the connection was refused' }),
    request(real, 2, { kind: 'hit', client: '10.0.0.1', neighbour: 'cache-1', result: 'TCP_MEM_HIT', verdict: 'answered from memory; fresh for another 59 minutes' }),
    request(real, 3, { url: kLongUrl, bytes: 700 * 2 ** 20 }),
  ];
}

export const kSample = { requests: 12345, hits: 9876, failed: 0, refused: 1, sent_bytes: 2 ** 30, cache_bytes: 9.9e8, neighbour_bytes: 1e8, origin_bytes: 1022.9 * 2 ** 20 };

function busiest(real) {
  const sums = { requests: 1234, hits: 617, bytes: 3 * 2 ** 30 };
  return changed(real, {
    hosts: [changed(real.hosts[0], { name: 'a.example.org', ...sums })],
    urls: [changed(real.urls[0], { name: kLongUrl, ...sums, requests: 1, hits: 0 })],
    clients: [changed(real.clients[0], { name: '10.0.0.1', neighbour: 'cache-1', ...sums, connections: 2 })],
  });
}

function origins(real) {
  return changed(real, {
    notes: [{ origin: 'http://slow.example.org', text: 'half of its answers take more than 6.0 s to begin' }],
    waiting: 1,
    under_way: [changed(real.under_way[0], { method: 'GET', url: kLongUrl, waits_for: 'first-byte', of: 'origin', server: 'http://mirror.example.org', seconds: 40.2, since: kEnd - 40 })],
    origins: [changed(real.origins[0], { origin: 'http://a.example.org', requests: 617, failed: 2, failures: { 'timed-out': 2 },
      first_byte_p50_ms: 12, first_byte_p99_ms: 6000, bytes: 2 ** 30 })],
  });
}

// The answers of the pages that the dashboard reads, by their paths.
export function siteOf(number, real, { admin = true, broken = 3 } = {}) {
  const peers = Array.from({ length: number }, (_, i) => neighbour(real.digest.peers[0], i + 1, broken));
  const reasons = peers.filter(({ state }) => state === 'resting')
    .map(({ name }) => ({ what: 'peer', which: name, text: 'it refuses connections: look whether it runs' }));
  const told = requests(real.requests[0]);
  const news = {
    end: kEnd,
    sample: changed(real.sample, kSample),
    now: { ...changed(real.now, { connections: 1234, watchers: 3, memory_entries: 987654, memory_bytes: 1023.4 * 2 ** 20, memory_limit: 2 ** 30 }),
      disk_records: 123456789, disk_bytes: 1023.9 * 2 ** 30, disk_limit: 2 ** 40 },
    health: changed(real.health, { status: reasons.length > 0 ? 'degraded' : 'ok', reasons }),
    digest: changed(real.digest, { name: 'cache-a', entries: 54321, peers }),
    requests: told,
  };
  const history = { step_seconds: 1, end: kEnd, ...Object.fromEntries(Object.entries(kSample).map(([name, value]) => [name, Array(60).fill(value)])) };
  const sums = [{ host: 'a.example.org', entries: 2, bytes: 3072, hits: 7 }, { url: kLongUrl, kind: 'large', where: 'disk', held_bytes: 700 * 2 ** 20, fresh_seconds: 3540, hits: 1 },
    { hosts: 1, entries: 2, bytes: 3072, hits: 7 }];
  return {
    '/hearsay/about': JSON.stringify({ name: 'cache-a', version: '1.2.3', started: kEnd - 7500, admin, signed_in: admin }),
    '/hearsay/busiest': JSON.stringify(busiest(real.busiest)),
    '/hearsay/origins': JSON.stringify(origins(real.origins)),
    '/hearsay/events': `retry: 100\n\ndata: ${JSON.stringify(news)}\n\n`,
    '/hearsay/requests': JSON.stringify(told),
    '/hearsay/history': JSON.stringify(history),
    '/admin/cache/sums': sums.map((line) => `${JSON.stringify(line)}\n`).join(''),
  };
}
