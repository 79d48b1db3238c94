// What a browser shows that is signed in by a link of `hearsay dashboard`, and what one that is not.
//   node sign_in_test.mjs HEARSAY CHROMIUM FOLDER
// FOLDER holds node_modules with playwright-core, and gets the screenshots.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { freePorts, Origin, Proxy, until } from './site.mjs';

const [program, chromium, folder] = process.argv.slice(2);
const playwright = createRequire(`${path.resolve(folder)}/`)('playwright-core');
const socket = path.join(os.tmpdir(), `hearsay-browser-${process.pid}.sock`);

let browser;
let origin;
let proxy;
let context;  // of the browser that is to be signed in
let page;
const faults = [];  // what the browser complains of

const steer = (...words) => execFileSync(program, [...words, '--socket', socket], { encoding: 'utf8', stdio: 'pipe' });
const link = () => steer('dashboard').trim();

async function open(browserContext, target) {
  const opened = await browserContext.newPage();
  opened.setDefaultTimeout(8000);
  opened.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  opened.on('pageerror', (error) => faults.push(String(error)));
  await opened.goto(target);
  return opened;
}

// The browser rightly complained of this.
function forget(fault) {
  faults.splice(0, Infinity, ...faults.filter((one) => !fault.test(one)));
}

const shown = async (one) => {
  await one.waitForSelector('#contact[data-state=live]');
  return one.innerText('body');
};

before(async () => {
  origin = await Origin.start();
  const [port] = await freePorts(1);
  proxy = new Proxy('cache-d', port, { control: socket, access: { deny_to: ['link-local'], admin: [] } });
  await proxy.start(program);
  await proxy.get(origin.url('/private?size=2000'));
  browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
});

afterEach(() => assert.deepEqual(faults.splice(0), [], 'the browser complains of nothing'));

after(async () => {
  await browser?.close();
  await proxy?.stop();
  origin?.stop();
});

test('a browser that is not signed in reads figures and health, no URL and no client', async () => {
  page = await open(context, proxy.url('/hearsay/'));
  const text = await shown(page);
  assert.match(text, /All is well/);
  assert.match(text, /Requests\s+[\d.]+\/s/);
  assert.match(text, /For administrators\s[^]*hearsay dashboard/);
  for (const hidden of ['/private', '127.0.0.1', 'Latest requests', 'Why?', 'Contents of the cache', 'Sign out']) {
    assert.ok(!text.includes(hidden), `${hidden} in ${text}`);
  }
  assert.equal((await page.request.get(proxy.url('/hearsay/requests'))).status(), 403);
});

test('each text by which clients are set up is copied whole, also by one that may read no figures', async () => {
  const opened = await open(context, proxy.url('/setup'));
  const card = opened.locator('#environment');
  const here = `http://127.0.0.1:${proxy.port}`;
  const text = `export http_proxy=${here} https_proxy=${here}\nexport no_proxy=localhost,127.0.0.1,127.0.0.1\n`;
  assert.equal(await card.locator('pre').textContent(), text);
  await card.getByRole('button').click();
  assert.equal(await card.getByRole('button').innerText(), 'Copied');
  await opened.evaluate(() => document.body.append(document.createElement('textarea')));
  await opened.locator('textarea').focus();
  await opened.keyboard.press('Control+V');
  assert.equal((await opened.locator('textarea').inputValue()).trimEnd(), text.trimEnd());
  await opened.close();
});

test('a link signs this browser in, once', async () => {
  const target = link();
  const other = await open(context, target);
  await other.waitForURL(proxy.url('/hearsay/'));
  await other.waitForSelector('#requests .url:has-text("/private")');
  const text = await shown(other);
  assert.ok(!text.includes('For administrators'), text);
  assert.match(text, /Latest requests[^]*GET http:\/\/127[^]*· 127\.0\.0\.1/);
  const cookies = await context.cookies(proxy.url('/hearsay/'));
  assert.deepEqual(cookies.map(({ name, httpOnly, sameSite, secure }) => ({ name, httpOnly, sameSite, secure })),
    [{ name: `hearsay-${proxy.port}`, httpOnly: true, sameSite: 'Strict', secure: false }]);
  assert.deepEqual(await context.cookies(proxy.url('/of-an-origin')), [], 'no origin sees it');
  assert.equal(await other.evaluate(() => document.cookie), '', 'no script does');
  const second = await browser.newContext();
  const late = await open(second, target);
  await late.waitForSelector('#told:has-text("Not signed in: this link has signed a browser in already")');
  assert.ok(!late.url().includes('#'));
  await second.close();
  await other.close();
  forget(/status of 403/);
});

test('the busiest hosts, URLs and clients are told by requests and by bytes', async () => {
  for (let i = 0; i < 3; i += 1) await proxy.get(origin.url('/often?size=10'));
  await page.reload();
  await page.waitForSelector('#busiest [data-row*="/often"]', { timeout: 12000 });
  const rows = (selector) => page.locator(`${selector} tbody tr`).allInnerTexts();
  const urls = async () => (await rows('#busiest .table:nth-child(2)')).map((row) => row.replace(/\s+/g, ' '));
  let told;
  await until(() => `all are counted: ${told}`, async () => (told = await urls())[0]?.match(/\/often\?size=10 3 67 % \d+ B$/), 15);
  assert.match((await urls())[1], /\/private\?size=2000 1 0\.0 % 2\.\d+ KiB$/);
  const [host] = await rows('#busiest .table:nth-child(1)');
  assert.ok(host.replace(/\s+/g, ' ').startsWith(`${new URL(origin.url('/')).host} 4 50 % 2.`), host);
  assert.match((await rows('#busiest .table:nth-child(3)'))[0].replace(/\s+/g, ' '), /^127\.0\.0\.1 4 50 % 2\.\d+ KiB \d+$/);
  await page.click('#busiest .table:nth-child(2) button:has-text("Bytes")');
  assert.match((await urls())[0], /\/private/);
});

test('a page that was open before is signed in at its next look, and purges', async () => {
  await page.reload();
  await page.waitForSelector('#contents-tables tbody tr');
  await page.click('#contents-tables button.danger');
  await page.click('#ask-yes');
  await page.waitForSelector('#contents-told:has-text("2 purged.")');
  await page.screenshot({ path: path.join(folder, 'signed-in.png'), fullPage: true });
});

test('revoking signs the page out within a second or two, and so does its button', async () => {
  steer('dashboard', '--revoke');
  await page.waitForSelector('#sign-in', { timeout: 4000 });
  assert.ok(!(await shown(page)).includes('Latest requests'));
  await page.goto(link());
  await page.click('#sign-out');
  await page.waitForSelector('#sign-in');
  assert.deepEqual(await context.cookies(proxy.url('/hearsay/')), []);
  assert.equal((await page.request.get(proxy.url('/hearsay/requests'))).status(), 403);
  forget(/status of 503/);  // the streams of the pages before may still have the places of its address
});

test('a page of another site can neither read nor purge, whatever the browser', async () => {
  await page.goto(link());
  await page.waitForSelector('#sign-out');
  await proxy.get(origin.url('/private?size=2000'));
  const hostile = await open(context, origin.url('/page?type=html'));
  const tried = await hostile.evaluate(async (base) => {
    const attempt = (target, options) => fetch(base + target, { credentials: 'include', ...options })
      .then((answer) => answer.status, () => 'no answer');
    return [
      await attempt('/hearsay/requests'),
      await attempt('/admin/purge', { method: 'POST', headers: { 'X-Hearsay': '1' }, body: '{"host":"*"}' }),
      (await fetch(`${base}/admin/purge`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"host":"*"}' })).type,
    ];
  }, proxy.url(''));
  assert.deepEqual(tried, ['no answer', 'no answer', 'opaque']);
  assert.equal((await proxy.get(origin.url('/private?size=2000'), { 'Cache-Control': 'only-if-cached' })).status, 200, 'not purged');
  await until('the browser has told its complaints', async () => faults.length > 0);
  faults.length = 0;
});
