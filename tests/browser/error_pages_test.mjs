// What a person at a browser reads in place of a page that the proxy does not give.
//   node error_pages_test.mjs HEARSAY CHROMIUM FOLDER
// FOLDER holds node_modules with playwright-core, and gets the screenshots.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { freePorts, Origin, Proxy } from './site.mjs';

const [program, chromium, folder] = process.argv.slice(2);
const playwright = createRequire(`${path.resolve(folder)}/`)('playwright-core');

let browser;
let origin;
let proxy;
let page;
const dialogs = [];

before(async () => {
  origin = await Origin.start();
  proxy = new Proxy('cache-a', (await freePorts(1))[0], { contact: 'the <help> desk' });
  const list = path.join(proxy.folder, 'block');
  writeFileSync(list, 'games.test\n');
  proxy.write({ access: { ...proxy.settings.access, block: [list] } });
  await proxy.start(program);
  browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  const through = { server: proxy.url(''), bypass: '<-loopback>' };
  page = await (await browser.newContext({ proxy: through, viewport: { width: 390, height: 844 } })).newPage();
  page.on('dialog', (dialog) => { dialogs.push(dialog.message()); dialog.dismiss(); });
});

after(async () => {
  await browser?.close();
  await proxy?.stop();
  origin?.stop();
});

// The page's visible text, a line each.
async function read(url) {
  const response = await page.goto(url);
  const lines = (await page.innerText('body')).split('\n').map((line) => line.trim()).filter(Boolean);
  const at = lines.indexOf('Time') + 1;
  if (at > 0) {
    assert.ok(Math.abs(Date.parse(lines[at]) - Date.now()) < 10_000, lines[at]);
    lines[at] = 'NOW';
  }
  return [response.status(), ...lines];
}

test('a page that is blocked says who says so, of which address, when, and whom to ask', async () => {
  const url = 'http://games.test/?q=<b>1</b>&r="\'';
  const shown = new URL(url).href;
  assert.deepEqual(await read(url), [403, 'This address is blocked',
    'The proxy cache-a says: a list blocks this for everybody here (setting access.block).',
    'If you need it, ask for an exception.', 'Address', shown, 'Time', 'NOW',
    'Status', '403 Forbidden', 'Whom to ask', 'the <help> desk']);
  assert.equal(await page.title(), 'This address is blocked');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `${wide} px too wide`);
  await page.screenshot({ path: path.join(folder, 'error-page.png') });
});

test('an origin that fails is told from what is forbidden', async () => {
  assert.deepEqual(await read(origin.url('/fail')), [502, 'This page could not be fetched',
    'The proxy cache-a says: the connection was cut before the response was complete (End of file).',
    'The fault is at the server or on the way to it. Try again in a minute.',
    'Address', origin.url('/fail'), 'Time', 'NOW', 'Status', '502 Bad Gateway',
    'Whom to ask', 'the <help> desk']);
});

test('the pages of a site replace the page of the proxy at a reload, and run no scripts', async () => {
  const pages = path.join(proxy.folder, 'pages');
  mkdirSync(pages);
  writeFileSync(path.join(pages, 'blocked.html'), '<!doctype html><title>Not in school</title>'
    + '<style>p { color: rgb(1, 2, 3) }</style><script>document.title = "run"; alert("{{url}}")</script>'
    + '<p title="{{url}}">Not in school: {{url}}. Ask {{contact}}.</p><img src=x onerror=alert(1)>');
  proxy.write({ pages });
  proxy.process.kill('SIGHUP');
  const url = 'http://games.test/"><script>alert(2)</script>';
  for (let tries = 0; tries < 50 && (await read(url))[1] === 'This address is blocked'; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const shown = new URL(url).href;
  assert.deepEqual(await read(url), [403, `Not in school: ${shown}. Ask the <help> desk.`]);
  assert.equal(await page.title(), 'Not in school');
  assert.equal(await page.getAttribute('p', 'title'), shown);
  assert.equal(await page.locator('p').evaluate((node) => getComputedStyle(node).color), 'rgb(1, 2, 3)');
  assert.deepEqual(dialogs, []);
  assert.equal((await read(origin.url('/fail')))[1], 'This page could not be fetched', 'without a page of its own');
});
