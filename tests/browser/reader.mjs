// Opens the dashboard in Chromium, and reads it as a person does.
import { createRequire } from 'node:module';
import path from 'node:path';

export class Reader {
  // `folder` holds node_modules with playwright-core; `proxy` serves the dashboard.
  static async start(chromium, folder, proxy) {
    const playwright = createRequire(`${path.resolve(folder)}/`)('playwright-core');
    const reader = new Reader();
    reader.browser = await playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] });
    return Object.assign(reader, { proxy, faults: [] });  // what the browser complains of
  }

  // `answers`: by the path of a page, the text that the browser gets in place of the proxy's. A
  // caller may change them.
  async open(options = {}, target = '/hearsay/', answers = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const opened = await context.newPage();
    opened.setDefaultTimeout(8000);
    opened.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.faults.push(message.text());
    });
    opened.on('pageerror', (error) => this.faults.push(String(error)));
    opened.on('request', (request) => {
      const isSaved = request.url().startsWith(`blob:${this.proxy.url('/')}`);
      if (!isSaved && !request.url().startsWith(this.proxy.url('/'))) this.faults.push(`a request to ${request.url()}`);
    });
    await opened.addInitScript(() => document.addEventListener('securitypolicyviolation',
      (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`)));
    for (const page of Object.keys(answers)) {
      const contentType = page.endsWith('/events') ? 'text/event-stream' : 'application/json';
      await opened.route((url) => url.pathname === page, (route) => route.fulfill({ contentType, body: answers[page] }));
    }
    await opened.goto(this.proxy.url(target));
    await opened.waitForSelector('#contact[data-state=live]');
    return opened;
  }

  async stop() {
    await this.browser.close();
  }
}

// What a person reads there, a line for each line of text.
export async function textOf(locator) {
  const text = await locator.innerText();
  return text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim()).filter(Boolean).join('\n');
}

// The faults of the page's layout, as sentences. Runs in the page.
export function faultsOfLayout() {
  const faults = [];
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} px wider than the window`);
  const rectsOf = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.closest('.unseen, .scrolled, .start, noscript')) continue;
    const card = element.closest('.card, .health, header, footer')?.getBoundingClientRect();
    const isOut = card && rectsOf(node).some(({ left, right }) => left < card.left || right > card.right);
    if (isOut) faults.push(`outside its card: ${node.data.trim()}`);
  }
  for (const tile of document.querySelectorAll('.tile .main')) {
    if (tile.scrollWidth > tile.clientWidth) faults.push(`wider than its tile: ${tile.textContent}`);
  }
  for (const cell of document.querySelectorAll('th:not(:has(.cut, .unseen))')) {
    if (cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1) faults.push(`wider than its cell: ${cell.textContent}`);
  }
  const labels = [...document.querySelectorAll('.node text')].filter((one) => one.checkVisibility() && one.textContent);
  labels.forEach((one, i) => labels.slice(i + 1).forEach((other) => {
    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 3) faults.push(`"${one.textContent}" is under "${other.textContent}"`);
  }));
  return faults;
}

// The largest empty band across the card, and the largest one down it, as shares of its height and
// width. Runs in the page.
export function emptyShares(card) {
  const all = card.getBoundingClientRect();
  const gap = (spans, end) => {
    let covered = 0;
    let largest = 0;
    for (const [from, to] of [...spans.sort((one, other) => one[0] - other[0]), [end, end]]) {
      largest = Math.max(largest, from - covered);
      covered = Math.max(covered, to);
    }
    return largest / end;
  };
  const rects = [...card.querySelectorAll('.node, dt, dd, .details h3, h2, p, th, td')].filter((one) => one.checkVisibility())
    .map((one) => one.getBoundingClientRect());
  return {
    across: gap(rects.map(({ top, bottom }) => [top - all.top, bottom - all.top]), all.height),
    down: gap(rects.map(({ left, right }) => [left - all.left, right - all.left]), all.width),
  };
}

// Texts whose contrast with what is behind them is less than 4.5 (WCAG 2.1, 1.4.3). Runs in the page.
export function faintTexts() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((one) => {
      const part = one / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if ((channels(color)[3] ?? 1) > 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const faint = [];
  for (const element of document.querySelectorAll('body *:not(svg *):not(noscript)')) {
    if (!hasText(element) || !element.checkVisibility()) continue;
    const [light, dark] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((x, y) => y - x);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faint.push(`${element.tagName}.${element.className}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(faint)];
}
