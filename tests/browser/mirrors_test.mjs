// A page of another server has our own origin in a browser that reads it below /http/ or /https/. It can do
// nothing there, even in the browser of an administrator.
//   node mirrors_test.mjs HEARSAY CHROMIUM FOLDER
// FOLDER holds node_modules with playwright-core.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { freePorts, Origin, Proxy } from './site.mjs';

const [program, chromium, folder] = process.argv.slice(2);
const playwright = createRequire(`${path.resolve(folder)}/`)('playwright-core');
const socket = path.join(os.tmpdir(), `hearsay-mirrors-${process.pid}.sock`);

// Tries to purge, to read what monitors and admins may, and to stay; then says that it ran.
const kAttack = `
  fetch('/admin/purge', { method: 'POST', headers: { 'X-Hearsay': '1' }, body: '{"host":"*"}' });
  fetch('/digest').then((answer) => answer.text()).then((text) => new Image().src = '/stolen?' + text.length);
  fetch('/hearsay/requests').then((answer) => answer.text()).then((text) => new Image().src = '/stolen?' + text.length);
  navigator.serviceWorker?.register('attack.js');
  document.documentElement.setAttribute('data-ran', 'yes');`;
const kForm = '<form action="/admin/purge" method="post"><input name="host" value="*"><button>Go</button></form>';
const kHtml = `<!doctype html><title>a page</title><script>${kAttack}</script><script src="attack.js"></script>`
  + `<img src="x" onerror="${kAttack.replaceAll('"', '&quot;')}">${kForm}`;
const kSvg = `<svg xmlns="http://www.w3.org/2000/svg"><script>//<![CDATA[\n${kAttack}\n//]]></script></svg>`;
const kPages = {
  '/page.html': ['text/html', kHtml],
  '/page.xhtml': ['application/xhtml+xml', `<html xmlns="http://www.w3.org/1999/xhtml"><head><script>//<![CDATA[\n${kAttack}\n//]]></script></head></html>`],
  '/two-types': ['text/plain;,text/html', kHtml],
  '/no-type': ['', kHtml],
  '/picture.svg': ['image/svg+xml', kSvg],
  '/attack.js': ['text/javascript', kAttack],
};

let browser;
let origin;
let proxy;
let context;  // of a browser that is signed in
let own;      // a page of ours in it

before(async () => {
  origin = await Origin.start(kPages);
  const [port] = await freePorts(1);
  const { host } = new URL(origin.url('/'));
  proxy = new Proxy('cache-m', port, { control: socket, mirrors: { hosts: [host] }, access: { deny_to: ['link-local'], admin: [] } });
  await proxy.start(program);
  browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  context = await browser.newContext();
  own = await context.newPage();
  await own.goto(execFileSync(program, ['dashboard', '--socket', socket], { encoding: 'utf8' }).trim());
  await own.waitForSelector('#sign-out');
  await proxy.get(origin.url('/kept'));
});

after(async () => {
  await browser?.close();
  await proxy?.stop();
  origin?.stop();
});

const mirrored = (target) => proxy.url(`/http/${new URL(origin.url('/')).host}${target}`);

for (const target of Object.keys(kPages)) {
  test(`${target} of another server runs nothing, reads nothing of ours and purges nothing`, async () => {
    const page = await context.newPage();
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const answer = await page.goto(mirrored(target));
    assert.equal(answer.status(), 200);
    await page.waitForLoadState('networkidle');
    assert.equal(await page.evaluate(() => document.documentElement?.getAttribute('data-ran') ?? null), null, 'no script ran');
    assert.deepEqual(asked.filter((one) => /admin|digest|hearsay|stolen/.test(one)), []);
    const button = page.locator('button');
    if (await button.count() > 0) {
      await button.click({ timeout: 2000, noWaitAfter: true });
      assert.equal(page.url(), mirrored(target), 'the form was not sent');
    }
    assert.equal((await proxy.get(origin.url('/kept'), { 'Cache-Control': 'only-if-cached' })).status, 200, 'not purged');
    assert.equal(await own.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
    await page.close();
  });
}

test('the dashboard tells what the clients of mirrors got', async () => {
  await fetch(mirrored('/page.html'));
  await fetch(mirrored('/page.html'));
  const row = own.locator('#mirrors [data-row="mirrors.hosts"]');
  await row.waitFor();
  assert.match(await row.innerText(), /^mirrors\.hosts\s+\d+\s+[\d.]+ %\s+[\d.]+ \w+\s+none$/);
});
