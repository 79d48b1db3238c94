// The dashboard in a real browser, beside three proxies that are neighbours of each other.
//   node dashboard_test.mjs HEARSAY CHROMIUM FOLDER
// FOLDER holds node_modules with playwright-core, and gets the screenshots.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { Reader, textOf } from './reader.mjs';
import { Origin, startSite, until } from './site.mjs';

const [program, chromium, folder] = process.argv.slice(2);

let reader;
let origin;
let a;
let b;
let c;
let page;
const open = (...how) => reader.open(...how);
const exact = (selector) => page.getAttribute(selector, 'title');
// Each thread of the proxy measures the first byte itself.
const withoutTimes = (text) => text.replace(/\d+ (s|minutes)\b/g, 'some time').replace(/until \S+/g, 'until then')
  .replace(/, [\d.]+ ms to the first byte/g, '');
// The first whole number in an exact value such as "1,234 of 2,000"; none in "not known yet".
const numberIn = (text) => Number(text.match(/[\d,]+/)?.[0].replaceAll(',', '') ?? NaN);

before(async () => {
  origin = await Origin.start();
  [a, b, c] = await startSite(program);
  reader = await Reader.start(chromium, folder, a);
  page = await open();
  // Ten responses that b has fetched, five of which a asks b for; then a hit each; and a failure.
  for (let i = 0; i < 10; i += 1) await b.get(origin.url(`/of-b/${i}?size=20000`));
  await until('a knows what b holds', async () => (await a.digest()).peers[0].entries >= 10);
  for (let i = 0; i < 5; i += 1) await a.get(origin.url(`/of-b/${i}?size=20000`));
  for (let i = 0; i < 5; i += 1) await a.get(origin.url(`/of-b/${i}?size=20000`));
  await a.get(origin.url('/large?size=3000000'));
  await a.get(origin.url('/never/stored'));
  await a.get(origin.url('/fail'));
});

afterEach(() => assert.deepEqual(reader.faults.splice(0), [], 'the browser complains of nothing'));

after(async () => {
  await reader?.stop();
  await Promise.all([a, b, c].map((proxy) => proxy?.stop()));
  origin?.stop();
});

test('the figures are those of /metrics', async () => {
  const requests = () => a.metric(/^hearsay_requests_total(?!.*"own_page")/);
  const hits = () => a.metric('hearsay_requests_total{result="hit"}');
  await until('13 requests are counted', async () => await requests() === 13);
  await until('they are shown', async () => numberIn(await exact('#figure-requests .note .figure')) === await requests());
  assert.equal(await exact('#figure-hits .note .figure'), `${await hits()} of ${await requests()}`);
  assert.equal(numberIn(await exact('#figure-failed .note .figure')), await a.metric(/^hearsay_requests_total\{result="failed"/));
  const saved = await a.metric('hearsay_body_bytes_total{source="cache"}') + await a.metric('hearsay_body_bytes_total{source="sibling"}');
  assert.equal(numberIn(await exact('#figure-saved .main')), saved);
  assert.equal(numberIn(await exact('#figure-origin .note .figure')), await a.metric('hearsay_body_bytes_total{source="origin"}'));
});

test('a neighbour shows what /digest tells of it', async () => {
  await page.focus('[data-peer=cache-b]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[data-details=cache-b]');
  const peer = (await a.digest()).peers.find(({ name }) => name === 'cache-b');
  assert.equal(peer.true_hits, 5);
  assert.equal(await page.getAttribute('[data-peer=cache-b]', 'data-state'), 'usable');
  const fact = (name) => exact(`[data-fact="${name}"] .figure`);
  await until('the claims', async () => await fact('Claims that came true') === `${peer.true_hits} of ${peer.true_hits + peer.false_hits}`);
  assert.equal(numberIn(await fact('Claims')), peer.claims);
  assert.equal(await fact('First byte'), `${peer.first_byte_ms} ms`);
  assert.equal(numberIn(await fact('Digest')), peer.entries);
  assert.match(await page.textContent('[data-fact=Traffic]'), /97\.7 KiB in all/);
  assert.ok(await page.locator('[data-peer=cache-b]').evaluate((node) => node === document.activeElement), 'the focus stays');
});

test('the latest requests tell their verdicts', async () => {
  await page.waitForSelector('#requests .url:has-text("/fail")');
  const verdicts = await page.locator('#requests .verdict').allTextContents();
  const some = (words) => assert.ok(verdicts.some((verdict) => verdict.includes(words)), `${words} in ${verdicts.join('\n')}`);
  some('asked cache-b: its digest claimed this; it was right; stored for');
  some('answered from memory; fresh for another');
  some('fetched from the origin: nobody claimed it; stored for 60 minutes');
  some('not stored: its origin forbids it (no-store)');
  await page.check('#kinds input[value=failed]', { force: true });
  assert.equal(await page.locator('#requests li').count(), 1);
  assert.match(await page.textContent('#requests .verdict'), /^nobody could answer: /);
  await page.check('#kinds input[value=all]', { force: true });
});

test('a request is shown within two seconds', async () => {
  await a.get(origin.url('/just-now'));
  await page.waitForSelector('#requests .url:has-text("/just-now")', { timeout: 2500 });
});

test('the contents are listed, searched and purged', async () => {
  await page.fill('#contents-search', 'large');
  await page.click('#contents-form button');
  const large = origin.url('/large?size=3000000');
  const row = page.locator(`#contents [data-row="${large}"]`);
  await row.waitFor();
  assert.equal(await page.locator('#contents-tables .table:nth-child(2) tbody tr').count(), 1);
  await row.locator('button').click();
  await page.click('#ask button[value=no]');
  assert.equal((await a.get(large, { 'Cache-Control': 'only-if-cached' })).status, 200, 'not purged yet');
  await row.locator('button').click();
  await page.click('#ask-yes');
  await page.waitForSelector('#contents-told:has-text("1 purged.")');
  await row.waitFor({ state: 'detached' });
  assert.equal((await a.get(large, { 'Cache-Control': 'only-if-cached' })).status, 504);
  await page.fill('#contents-search', '');
  await page.click('#contents-form button');
  const host = page.locator('#contents-tables .table:nth-child(1) tbody tr');
  await host.locator('button.danger').click();
  await page.click('#ask-yes');
  await page.waitForSelector('#contents-state:has-text("0 responses")');
});

test('a search while the list is made again after a purge is no error', async () => {
  await a.get(origin.url('/again'));
  await page.fill('#contents-search', '/again');
  await page.click('#contents-form button');
  const row = page.locator(`#contents [data-row="${origin.url('/again')}"]`);
  await row.waitFor();
  await page.route('**/admin/cache/sums*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue().catch(() => {});  // the page may have given it up
  });
  await row.locator('button').click();
  await page.click('#ask-yes');
  await page.waitForSelector('#contents-told:has-text("1 purged.")');
  await page.click('#contents-form button');
  await page.waitForSelector('#contents-state:has-text("0 responses")');
  assert.equal(await page.textContent('#contents-told'), '');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.fill('#contents-search', '');
});

test('a page that gets no place says that it has no contact', async () => {
  const shown = await open();
  await shown.route('**/hearsay/events', (route) => route.fulfill({ status: 503, body: 'full' }));
  await shown.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));  // opens anew
  await shown.waitForSelector('#health[data-status=lost]');
  await shown.context().close();
  assert.deepEqual(reader.faults.splice(0).filter((fault) => !/status of 503/.test(fault)), []);
});

// What `hearsay explain` prints, a line for each cell.
async function explained(url) {
  const printed = await new Promise((resolve, reject) => {
    execFile(program, ['explain', url, '--url', a.url('')], (error, text) => (error ? reject(error) : resolve(text)));
  });
  const lines = printed.split('\n').map((line) => line.trim().replace(/^(\S+) {2,}/, '$1\n')).filter(Boolean);
  lines[1] = lines[1][0].toUpperCase() + lines[1].slice(1);
  return withoutTimes(lines.join('\n'));
}

test('a URL is explained with the sentences of `hearsay explain`, also that of a request', async () => {
  const answer = async () => withoutTimes(await textOf(page.locator('#why-answer')));
  const gone = origin.url('/of-b/1?size=20000');
  await page.fill('#why-url', gone);
  await page.click('#why-form button');
  await page.waitForSelector('#why-answer .verdict');
  assert.match(await answer(), /\nIs not stored; [^]*\nneighbour\ncache-b: /);
  assert.equal(await answer(), await explained(gone));
  const stored = origin.url('/explained');
  await a.get(stored);
  await page.click('#requests li:has(.url:has-text("/explained")) .link');
  assert.equal(await page.inputValue('#why-url'), stored);
  await page.waitForSelector('#why-answer .url:has-text("/explained")');
  assert.match(await answer(), /\nWould be answered from memory; [^]*\nstored\nmemory: 200, /);
  assert.equal(await answer(), await explained(stored));
});

test('origins, and what a request waits for since when, are told', async () => {
  const host = origin.url('');
  const request = http.get({ host: '127.0.0.1', port: a.port, path: origin.url('/silent'), headers: { Host: host.slice(7) } });
  request.on('response', (response) => response.resume());
  await page.waitForSelector('#origins-notes li', { timeout: 6000 });
  const { origins } = JSON.parse(await a.page('/hearsay/origins'));
  const text = (await page.innerText('#origins')).replaceAll(/\s+/g, ' ').trim();
  origin.silent.end();
  const expected = ['Origins',
    `${host} 1 request has waited for it for \\d+ s, and it has answered nothing for \\d+ s: look whether it hangs, and at the way to it`,
    'Waiting now CSV JSON Request Waits for Since For',
    `GET ${host}/silent the first byte of ${host} \\d\\d:\\d\\d:\\d\\d \\d+ s`,
    'Last hour CSV JSON Origin Requests Failed First byte p50 p99 Bytes',
    `${host} ${origins[0].requests} 1 \\(cut off 1\\) [\\d.]+ ms [\\d.]+ ms [\\d.]+ [KM]iB`];
  assert.match(text, new RegExp(`^${expected.join(' ')}$`));
  await page.waitForSelector('#origins [data-row$="/silent"]', { state: 'detached' });
});

test('the page of a browser at / is the dashboard', async () => {
  const root = await open({}, '/');
  assert.equal(await root.textContent('#name'), 'cache-a');
  await root.context().close();
});

test('time is chosen by keyboard, and a chart is read by keyboard', async () => {
  await page.focus('#span input[value=hour]');
  await page.keyboard.press('ArrowRight');
  assert.ok(await page.isChecked('#span input[value=day]'));
  await page.keyboard.press('ArrowLeft');
  await page.focus('.chart >> nth=0');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('.cursor', { state: 'attached' });
  assert.match(await page.getAttribute('.chart >> nth=0', 'aria-label'), /^Requests per second\. from cache: /);
});

test('a neighbour that is stopped shows so within 5 s', async () => {
  await c.stop('SIGKILL');
  const stopped = Date.now();
  await page.waitForSelector('#health[data-status=degraded] [data-which=cache-c]', { timeout: 5000 });
  await page.waitForSelector('[data-peer=cache-c][data-state=down]', { timeout: 5000 });
  assert.ok(Date.now() - stopped < 5000);
  assert.match(await page.textContent('#health-title'), /does not work/);
  assert.match(await page.innerText('#health [data-which=cache-c]'),
    /^Neighbour cache-c its digest cannot be fetched: .* since \d\d:\d\d:\d\d$/);
  assert.match(await page.title(), /^▲ cache-a/);
  await page.screenshot({ path: path.join(folder, 'degraded.png') });
});

test('the page says that the proxy is gone, and is live again once it is back', async () => {
  await a.end('SIGKILL');
  await page.waitForSelector('#health[data-status=lost]', { timeout: 8000 });
  await page.screenshot({ path: path.join(folder, 'lost.png') });
  await a.start(program);
  await page.waitForSelector('#contact[data-state=live]', { timeout: 10000 });
  await page.waitForFunction(() => document.getElementById('health').dataset.status !== 'lost');
  // Its first requests have the numbers of those that the page had before.
  await a.get(origin.url('/of-the-next-process'));
  await page.waitForSelector('#requests .url:has-text("/of-the-next-process")');
  // The failed attempts to connect again are told to the console, rightly.
  const others = reader.faults.splice(0).filter((fault) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(fault));
  assert.deepEqual(others, []);
});
