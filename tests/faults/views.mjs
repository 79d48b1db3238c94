// The four places that tell of a fault.
import { createRequire } from 'node:module';

const playwright = createRequire(`${process.cwd()}/build/browser/`)('playwright-core');

export class Dashboards {
  async start(proxies) {
    this.browser = await playwright.chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    this.pages = new Map();
    for (const proxy of proxies) {
      const page = await (await this.browser.newContext({ viewport: { width: 1000, height: 700 } })).newPage();
      await page.goto(proxy.url('/hearsay/'));
      await page.waitForSelector('#contact[data-state=live]');
      this.pages.set(proxy.name, page);
    }
  }

  // What a person reads at the top: "All is well", or what does not work; or on another card.
  read({ name }, card = '#health') {
    return this.pages.get(name).innerText(card, { timeout: 1000 });
  }

  async stop() {
    await this.browser?.close();
  }
}

export async function healthOf(proxy) {
  return JSON.parse(await proxy.page('/health'));
}

export async function originsOf(proxy) {
  return JSON.parse(await proxy.page('/hearsay/origins'));
}

// The value of the sample of /metrics that begins so.
export async function sampleOf(proxy, begin) {
  const line = (await proxy.page('/metrics')).split('\n').find((one) => one.startsWith(begin));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
