// What a person reads on each card of the dashboard, signed in and not, with 2, 8 and 20 neighbours, in a wide
// and a narrow window, in both colour schemes.
//   node cards_test.mjs HEARSAY CHROMIUM FOLDER
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { kLongUrl, kSample, realOf, siteOf } from './given.mjs';
import { emptyShares, faintTexts, faultsOfLayout, Reader, textOf } from './reader.mjs';
import { freePorts, Origin, Proxy, until } from './site.mjs';

const [program, chromium, folder] = process.argv.slice(2);

let reader;
let proxy;
let real;

before(async () => {
  const origin = await Origin.start();
  const [port, nobody] = await freePorts(2);
  proxy = new Proxy('cache-a', port, { peers: [{ name: 'b', url: `http://127.0.0.1:${nobody}` }] });
  await proxy.start(program);
  await proxy.get(origin.url('/a'));
  const waiting = proxy.get(origin.url('/silent'));
  real = await realOf(proxy);
  origin.silent.end();
  await waiting;
  origin.stop();
  reader = await Reader.start(chromium, folder, proxy);
});
afterEach(() => assert.deepEqual(reader.faults.splice(0), [], 'the browser complains of nothing'));
after(async () => {
  await reader?.stop();
  await proxy?.stop();
});

const open = async (number, { admin = true, site = siteOf(number, real, { admin }) } = {}) => {
  const shown = await reader.open({ timezoneId: 'UTC' }, '/hearsay/', site);
  await shown.waitForSelector('#figure-requests .note:has-text("741 k")');  // the history is there
  if (!admin) return shown;
  await shown.click('#contents-form button');  // so large a cache is not searched unasked
  await shown.waitForSelector('#contents-tables tbody tr');
  return shown;
};

async function reshape(shown, colorScheme, width) {
  await shown.emulateMedia({ colorScheme });
  await shown.setViewportSize({ width, height: 900 });
  // The page draws anew for its width within the next frame.
  await shown.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

// The words of a card, whether they stand in a row or one below another.
const wordsOf = async (locator) => (await textOf(locator)).replaceAll('\n', ' ');
const words = (text) => text.replace(/\s+/g, ' ').trim();

const kFigures = `Requests 12.3 k/s 741 k in 1 h  From cache 80 % 80 % in 1 h  Bytes saved 60.9 GiB 50 % of all bytes
  Origin traffic 1023 MiB/s 59.9 GiB in 1 h  Failed in 5 min 0 0 in 1 h  Memory 1023 MiB 988 k responses
  Disk 1024 GiB 123 M records  Connections 1,234 3 of dashboards`;
const kOverTime = `Over time  Time shown Last hour Last day  CSV JSON
  Requests per second  from cache 9,876  others 2,469  10 k 20 k  09:20 09:22 09:25
  Bytes per second, by source  cache 944 MiB  neighbours 95.4 MiB  origins 1023 MiB  2 GiB 4 GiB  09:20 09:22 09:25
  Failed and refused, per second  failed 0  refused 1  0.5 1  09:20 09:22 09:25`;
const kRequests = `Latest requests  Requests shown All Not from cache Failed  Pause  CSV JSON
  ◆ Fetched from the origin: nobody claimed it; stored for 60 minutes
    GET ${kLongUrl} 09:23:23 · 200 · 700 MiB · 12 ms · 10.0.0.77 · Why?
  ● Answered from memory; fresh for another 59 minutes
    GET http://a.example.org/x 09:23:22 · 200 · 2 KiB · 12 ms · neighbour cache-1 (10.0.0.1) · Why?
  ✕ Nobody could answer: the connection was refused
    GET http://broken.example.org/ 09:23:21 · 502 · 2 KiB · 12 ms · 10.0.0.77 · Why?`;
const kSignIn = `For administrators  This page shows administrators more: the latest requests and their clients, the origins, why a URL is answered as it is, and what is stored, with purging.
  To sign this browser in, run sudo hearsay dashboard on the proxy's machine, and open the link that it prints.
  The sign-in lasts for 12 hours, as long as this browser keeps its address and the proxy is not restarted.
  A browser at an address in access.admin needs no sign-in.`;
const kWhy = 'Why?  What this proxy would do with a URL now, and why  Explain';
const kContents = `Contents of the cache  Responses whose URL contains  Search  2 responses of 1 host, 3 KiB
  By host CSV JSON  Host Responses Size Hits Purge  a.example.org 2 3 KiB 7 Purge
  The largest CSV JSON  URL Size Fresh Hits Purge  ${kLongUrl} 700 MiB 59 min 1 Purge`;

const kBusiest = `Busiest in the last hour  Hosts CSV JSON Host Requests Cache Bytes a.example.org 1,234 50 % 3 GiB
  URLs CSV JSON URL Requests Cache Bytes ${kLongUrl} 1 0.0 % 3 GiB
  Clients CSV JSON Client Requests Cache Bytes Connections 10.0.0.1 (neighbour cache-1) 1,234 50 % 3 GiB 2`;
const kOrigins = `Origins http://slow.example.org half of its answers take more than 6.0 s to begin
  Waiting now CSV JSON Request Waits for Since For GET ${kLongUrl} the first byte of http://mirror.example.org 09:24:20 40 s
  Last hour CSV JSON Origin Requests Failed First byte p50 p99 Bytes http://a.example.org 617 2 (timed out 2) 12 ms 6 s 1 GiB`;

const healthOf = (number) => (number < 3 ? 'All is well'
  : 'One thing does not work  Neighbour cache-3 it refuses connections: look whether it runs');

const nodeOf = (i) => (i === 3 ? '✕ cache-3 resting' : `98 % cache-${i} 0.3 s · ${1.5 * i} ms`);

const detailsOf = (i) => `cache-${i} ${i === 2 ? '' : 'its dashboard ↗'}
  ${i === 3 ? 'resting it refuses connections: look whether it runs' : 'usable its claims count'}
  Claims that came true 98 %
  Claims ${100 * i}: ${50 * i} true, ${i} wrong (dropped since ${i}), ${9 * i} not answered in time,
    ${40 * i} not asked (another source came first)
  First byte ${1.5 * i} ms  Traffic 0 B/s now, ${i === 1 ? 500 : i} MiB in all  Digest ${i},000 URLs, 0.3 s old
  Wrong by chance 0.1 % predicted, – seen  Failures ${i === 3 ? '4 requests, 12 polls  Last error connection refused' : '0 requests, 0 polls'}
  It is a ${i === 2 ? 'Squid' : 'Hearsay'}, sibling, trust site  Address http://10.0.0.${i}:3128`;

const rowOf = (i) => `cache-${i} ${i === 3 ? 'resting' : 'usable'} 98 % ${(100 * i).toLocaleString('en')} ${1.5 * i} ms 0 B/s
  ${i === 1 ? 500 : i} MiB ${i < 10 ? `${i},000` : `${i} k`} 0.3 s ${i === 2 ? '–' : 'open ↗'}`;

// The broken one first.
const tableOf = (number) => `All neighbours
  Neighbour State Came true Claims First byte Traffic Saved Holds Digest age Dashboard
  ${[3, 1, 2, ...Array.from({ length: number - 3 }, (_, i) => i + 4)].map(rowOf).join(' ')}`;

// `drawn`: the neighbours in the picture; `told`: those whose details are shown.
const neighbourhoodOf = ({ number, drawn, told }) => `Neighbourhood  CSV JSON
  Rings show how many claims came true. A line is as wide as the traffic.
  ${drawn.length < number ? `Drawn are ${drawn.length} of ${number}: the broken and the busiest.` : ''}
  54.3 k claimed cache-a  ${drawn.map(nodeOf).join(' ')}  ${told.map(detailsOf).join(' ')}
  ${drawn.length < number ? tableOf(number) : ''}`;

const kSites = [
  { number: 2, wide: [1, 2], narrow: [1, 2], told: [1, 2] },
  { number: 8, wide: [1, 2, 3, 4, 5, 6, 7, 8], narrow: [1, 3, 5, 6, 7, 8], told: [3] },
  { number: 20, wide: [1, 3, 15, 16, 17, 18, 19, 20], narrow: [1, 3, 17, 18, 19, 20], told: [3] },
];

const cardOf = (shown, content) => shown.locator(`.card:has(${content})`);

// All that is seen, a text for each part of the page.
async function readAll(shown) {
  const seen = await shown.evaluate(() => [...document.querySelectorAll('header, main > *, footer')]
    .filter((part) => part.checkVisibility()).map((part) => part.innerText));
  return seen.map(words);
}

const kSeen = {
  'signed in': { header: 'Sign out ', cards: [kRequests, kBusiest, kOrigins, kWhy, kContents] },
  'not signed in': { header: '', cards: [kSignIn] },
};

for (const [who, { header, cards }] of Object.entries(kSeen)) for (const { number, wide, narrow, told } of kSites) {
  test(`each card is read as it should be, ${who}, with ${number} neighbours`, async () => {
    const shown = await open(number, { admin: who === 'signed in' });
    for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['dark', 390], ['light', 390]]) {
      const name = `${who.replaceAll(' ', '-')}-${number}-${colorScheme}-${width}`;
      await reshape(shown, colorScheme, width);
      await shown.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
      assert.deepEqual(await readAll(shown), [
        `Hearsay cache-a version 1.2.3, up since 2 Jan 2026, 07:20 ${header}live`, healthOf(number), kFigures, kOverTime,
        neighbourhoodOf({ number, drawn: width === 390 ? narrow : wide, told }), ...cards, 'For programs: digest, metrics, health',
      ].map(words), name);
      assert.deepEqual(await shown.evaluate(faultsOfLayout), [], name);
      assert.deepEqual(await shown.evaluate(faintTexts), [], name);
      const empty = await cardOf(shown, '#neighbourhood').evaluate(emptyShares);
      assert.ok(empty.across < 0.15 && empty.down < 0.15, `${name}: an empty band: ${JSON.stringify(empty)}`);
    }
    await shown.context().close();
  });
}

test('many neighbours are sorted by a column, and chosen in the table', async () => {
  const shown = await open(20);
  const names = () => shown.locator('#neighbours-table tbody th').allTextContents();
  const head = (name) => shown.locator('#neighbours-table thead button', { hasText: name });
  await head('Saved').click();
  assert.deepEqual((await names()).slice(0, 3), ['cache-1', 'cache-20', 'cache-19']);
  await head('Saved').click();
  assert.deepEqual((await names()).slice(0, 3), ['cache-2', 'cache-3', 'cache-4']);
  assert.equal(await shown.getAttribute('#neighbours-table th[aria-sort]', 'aria-sort'), 'ascending');
  await head('Neighbour').focus();
  await shown.keyboard.press('Enter');
  assert.deepEqual((await names()).slice(8, 11), ['cache-9', 'cache-10', 'cache-11'], 'numbers in names count');
  const row = shown.locator('#neighbours-table button.link', { hasText: 'cache-14' });
  await row.click();
  await shown.waitForSelector('[data-details=cache-14]');
  assert.ok(await row.evaluate((button) => button === document.activeElement), 'the focus stays');
  assert.equal(await shown.getAttribute('[data-details=cache-14] h3 a', 'href'), 'http://10.0.0.14:3128/hearsay/');
  await shown.context().close();
});

test('a long table is searched', async () => {
  const shown = await open(20);
  const search = shown.locator('#neighbours-table input');
  await search.fill('RESTING');
  assert.deepEqual(await shown.locator('#neighbours-table tbody th').allTextContents(), ['cache-3']);
  await search.fill('no such thing');
  assert.equal(await shown.locator('#neighbours-table .hint').textContent(), 'No row has this.');
  assert.ok(await shown.locator('#busiest input').first().isHidden(), 'a short one is not');
  await shown.context().close();
});

test('each table says when there is nothing yet', async () => {
  const site = siteOf(2, real);
  site['/hearsay/busiest'] = JSON.stringify({ hosts: [], urls: [], clients: [] });
  site['/hearsay/origins'] = JSON.stringify({ notes: [], waiting: 0, under_way: [], origins: [] });
  const shown = await reader.open({}, '/hearsay/', site);
  await until('it is told', async () => await shown.locator('.table').count() > 5 && !(await shown.locator('#origins .table .hint').first().isHidden()));
  assert.equal(await wordsOf(cardOf(shown, '#busiest')), 'Busiest in the last hour Hosts No requests yet. URLs No requests yet. Clients No requests yet.');
  assert.equal(await wordsOf(shown.locator('#origins')), 'Origins Waiting now No request waits. Last hour No origin was asked in the last hour.');
  await shown.context().close();
});

test('the details are those of a neighbour that breaks, unless somebody has picked another', async () => {
  const site = siteOf(8, real, { broken: 0 });
  const breaks = (broken) => Object.assign(site, siteOf(8, real, { broken }));
  const shown = await open(8, { site });
  await shown.waitForSelector('[data-details=cache-1]');
  breaks(3);
  await shown.waitForSelector('[data-details=cache-3]');
  await shown.click('[data-peer=cache-4]');
  breaks(5);
  await shown.waitForSelector('[data-peer=cache-5][data-state=resting]');
  assert.equal(await shown.locator('[data-details]').getAttribute('data-details'), 'cache-4');
  await shown.context().close();
});

test('the latest requests are searched', async () => {
  const shown = await open(2);
  const found = async (text) => {
    await shown.fill('#requests-search', text);
    return shown.locator('#requests [data-id]').evaluateAll((all) => all.map((one) => one.dataset.id));
  };
  assert.deepEqual(await found('NETINST'), ['0-3']);
  assert.deepEqual(await found('neighbour cache-1'), ['0-2']);
  assert.deepEqual(await found('502'), ['0-1']);
  assert.deepEqual(await found('no such thing'), []);
  assert.equal(await shown.textContent('#requests .nothing'), 'None of the latest requests has this.');
  await shown.context().close();
});

for (const width of [1280, 390]) test(`a URL is cut in the middle, and copied as a whole, at ${width} px`, async () => {
  const shown = await open(2);
  await shown.setViewportSize({ width, height: 900 });
  await shown.click('#pause');  // else the list is made anew meanwhile
  for (const card of ['#requests', '#busiest', '#origins', '#contents']) {
    const start = shown.locator(`${card} .start`, { hasText: 'a-folder' }).first();
    assert.ok(await start.evaluate((one) => one.scrollWidth > one.clientWidth), `it is cut in ${card}`);
    const [copied, isEndSeen] = await start.evaluate((one) => {
      const url = one.parentElement;
      getSelection().selectAllChildren(url);
      return [getSelection().toString(), url.lastElementChild.getBoundingClientRect().right <= url.getBoundingClientRect().right + 1];
    });
    assert.equal(copied.replace('GET ', ''), kLongUrl);
    assert.ok(isEndSeen, `its end is seen in ${card}`);
  }
  await shown.context().close();
});

test('what is shown is saved as CSV and as JSON', async () => {
  const shown = await open(20);
  const saved = async (button) => {
    const [download] = await Promise.all([shown.waitForEvent('download'), shown.click(button)]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
  };
  const neighbours = await saved('#neighbours-export button:has-text("CSV")');
  assert.equal(neighbours.name, 'cache-a-neighbours.csv');
  const lines = neighbours.text.split('\r\n');
  assert.equal(lines.length, 22);
  assert.match(lines[3], /^cache-3,resting,http:\/\/10\.0\.0\.3:3128,.*,connection refused,27,120$/);
  const [, , third] = JSON.parse((await saved('#neighbours-export button:has-text("JSON")')).text);
  const { claims, true_hits, false_hits, unanswered, unasked } = third;
  assert.deepEqual([claims, true_hits, false_hits, unanswered, unasked], [300, 150, 3, 27, 120]);
  await shown.fill('#requests-search', 'netinst');
  const requests = await saved('#requests-export button:has-text("JSON")');
  assert.equal(requests.name, 'cache-a-requests.json');
  const [request, ...others] = JSON.parse(requests.text);
  assert.deepEqual([request.time, request.url, others], ['2026-01-02T09:23:23.000Z', kLongUrl, []], 'those that are found');
  const history = JSON.parse((await saved('#history-export button:has-text("JSON")')).text);
  assert.equal(history.length, 60);
  assert.deepEqual([history[59].time, history[59].requests], ['2026-01-02T09:24:59.000Z', 12345]);
  const hosts = await saved('#contents-tables .exports button:has-text("CSV")');
  assert.equal(hosts.text, 'host,entries,bytes,hits\r\na.example.org,2,3072,7\r\n');
  for (const [card, what, begin] of [['#busiest', 'hosts', 'name,requests,hits,bytes'], ['#busiest', 'urls', 'name,requests,hits,bytes'],
    ['#busiest', 'clients', 'name,requests,hits,bytes,'], ['#origins', 'waiting', 'method,url,waits_for,of,server,'],
    ['#origins', 'origins', 'origin,requests,failed,failures,first_byte_p50_ms,first_byte_p99_ms,bytes,']]) {
    const { name, text } = await saved(`${card} button[aria-label="Save the ${what} as CSV"]`);
    assert.equal(name, `cache-a-${what}.csv`);
    assert.ok(text.startsWith(begin) && text.split('\r\n').length === 3, text);
    if (what === 'origins') assert.ok(text.includes(',"{""timed-out"":2}",'), text);
  }
  await shown.context().close();
});

test('a text in a CSV file is no formula and breaks no line', async () => {
  const shown = await open(2);
  const text = await shown.evaluate(async () => (await import('/hearsay/export.js')).csv([{ a: '=1+1', b: 'x,"y"\nz' }, { a: -1, c: null }]));
  assert.equal(text, 'a,b,c\r\n\'=1+1,"x,""y""\nz",\r\n-1,,\r\n');
  await shown.context().close();
});

test('the numbers of a second without news are asked for, not guessed', async () => {
  const shown = await open(2);
  const seconds = await shown.evaluate(async (sample) => {
    const { History } = await import('/hearsay/history.js');
    const history = new History();
    await history.reload();
    history.add({ end: history.hour.end + 2, sample });
    return history.hour.failed.length;
  }, kSample);
  assert.equal(seconds, 60);
  await shown.context().close();
});

test('the fates of claims add up to the claims', async () => {
  const shown = await open(2);
  const fates = await shown.evaluate(async () => {
    const { fatesOf } = await import('/hearsay/peer.js');
    const books = [[10, 6, 4, 1], [10, 12, 4, 1], [0, 0, 0, 0], [5, 5, 5, 0], [7, 0, 0, 0]];
    return books.map(([claims, asked, true_hits, false_hits]) => Object.values(fatesOf({ claims, asked, true_hits, false_hits })));
  });
  // true, wrong, not answered, not asked
  assert.deepEqual(fates, [[4, 1, 1, 4], [4, 1, 5, 0], [0, 0, 0, 0], [5, 0, 0, 0], [0, 0, 0, 7]]);
  await shown.context().close();
});
