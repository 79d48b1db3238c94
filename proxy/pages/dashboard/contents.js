// What the cache holds, by host and by size, and purging it.
import { at, figure, make, say } from './dom.js';
import { offer } from './export.js';
import * as units from './units.js';
import { cutInTheMiddle } from './url.js';

const kFew = 2000;      // so many responses are looked through without being asked to
const kPause = 5000;
let search = null;      // the AbortController of the one under way
let looked = { at: 0, held: -1 };

async function eachLine(answer, use) {
  let rest = '';
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    lines.filter((line) => line.trim()).forEach((line) => use(JSON.parse(line)));
  }
}

async function look(quietly = false) {
  search?.abort();
  search = new AbortController();
  const { signal } = search;
  const text = at('contents-search').value;
  const found = { hosts: [], largest: [], all: null };
  if (!quietly) say(at('contents-state'), 'Searching…');
  const answer = await fetch(`/admin/cache/sums${text ? `?contains=${encodeURIComponent(text)}` : ''}`, { signal });
  if (!answer.ok) throw new Error(await answer.text());
  await eachLine(answer, (line) => {
    if (line.error) throw new Error(line.error);
    else if (line.searched !== undefined && !quietly) say(at('contents-state'), `Searching… ${units.count(line.searched).text} found so far`);
    else if (line.host !== undefined) found.hosts.push(line);
    else if (line.url !== undefined) found.largest.push(line);
    else if (line.hosts !== undefined) found.all = line;
    else if (line.other_hosts !== undefined) found.others = line;
  });
  show(found);
}

function begin(quietly = false) {
  if (!quietly) say(at('contents-told'), '');
  look(quietly).catch((error) => {
    if (error.name !== 'AbortError') say(at('contents-state'), error.message);
  });
}

const plural = (number, word) => `${units.count(number).text} ${word}${number === 1 ? '' : 's'}`;

function show({ hosts, largest, all, others }) {
  if (!all) throw new Error('the answer was cut');
  say(at('contents-state'), `${plural(all.entries, 'response')} of ${plural(all.hosts, 'host')}, ${units.bytes(all.bytes).text}`);
  const most = Math.max(1, ...hosts.map(({ bytes }) => bytes));
  at('contents-hosts').replaceChildren(table('By host', ['Host', 'Responses', 'Size', 'Hits'], hosts,
    [...hosts.map((host) => hostRow(host, most)), ...(others ? [othersRow(others)] : [])]));
  at('contents-largest').replaceChildren(table('The largest', ['URL', 'Size', 'Fresh', 'Hits'], largest, largest.map(largeRow)));
}

// `found`: what is exported; `rows`: [attributes of the row, its header, its cells...].
function table(caption, heads, found, rows) {
  return make('div', { class: 'scrolled', tabindex: '0', role: 'region', 'aria-label': caption },
    make('table', {}, make('caption', {}, make('span', {}, caption), make('span', { class: 'exports' }, offer(caption.toLowerCase().replaceAll(' ', '-'), () => found))),
      make('thead', {}, make('tr', {}, heads.map((head) => make('th', { scope: 'col' }, head)),
        make('th', { scope: 'col' }, make('span', { class: 'unseen' }, 'Purge')))),
      make('tbody', {}, rows.map(([attributes, first, ...cells]) => make('tr', attributes, first,
        cells.map((cell, i) => make('td', { 'data-head': heads[i + 1] }, cell)))))));
}

function hostRow(host, most) {
  const level = make('span', { class: 'level' });
  level.style.width = `${(100 * host.bytes) / most}%`;
  const open = () => {
    at('contents-search').value = `//${host.host}/`;
    begin();
  };
  const name = make('button', { type: 'button', class: 'link', onclick: open }, host.host);
  return [{ 'data-host': host.host }, make('th', { scope: 'row' }, name, level), ...sums(host),
    purgeButton({ host: host.host }, `all ${units.count(host.entries).exact} responses of ${host.host}`)];
}

const sums = ({ entries, bytes, hits }) =>
  [figure(units.count(entries)), figure(units.bytes(bytes)), figure(units.count(hits))];

function othersRow(others) {
  return [{}, make('th', { scope: 'row' }, `${units.count(others.other_hosts).text} other hosts`), ...sums(others)];
}

function largeRow(entry) {
  const url = entry.url.replace(/^reverse:/, '');
  return [{ 'data-url': url },
    make('th', { scope: 'row', class: 'url', title: `${url} (${entry.kind}, in ${entry.where})` }, cutInTheMiddle(url)),
    figure(units.bytes(entry.held_bytes)),
    entry.fresh_seconds ? figure(units.seconds(entry.fresh_seconds)) : 'stale',
    figure(units.count(entry.hits)), purgeButton({ url }, url)];
}

function purgeButton(order, what) {
  return make('button', {
    type: 'button', class: 'danger small', 'aria-label': `Purge ${what}`, onclick: () => purge(order, what).catch((error) => say(at('contents-told'), error.message)),
  }, 'Purge');
}

function sure(question) {
  const dialog = at('ask');
  say(at('ask-question'), question);
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}

async function purge(order, what) {
  if (!await sure(`Purge ${what}? The next request fetches it again.`)) return;
  const answer = await fetch('/admin/purge', {
    method: 'POST', headers: { 'X-Hearsay': '1', 'Content-Type': 'application/json' }, body: JSON.stringify(order),
  });
  const told = answer.ok ? `${units.count((await answer.json()).purged).exact} purged.` : await answer.text();
  say(at('contents-told'), told);
  begin(true);
}

// For administrators.
export function beginContents() {
  at('contents-form').addEventListener('submit', (event) => {
    event.preventDefault();
    begin();
  });
  return showContents;
}

// With each news: a small cache is looked through again if it has changed and nobody is about to
// use the tables. To look through a large one takes the proxy a while.
function showContents(now) {
  const held = now.memory_entries + (now.disk_records ?? 0);
  if (held > kFew) {
    if (looked.at === 0) say(at('contents-state'), 'Search to look through the cache. An empty search lists everything.');
    looked.at = Date.now();
    return;
  }
  const inUse = at('contents').matches(':focus-within') || at('ask').open;
  if (held === looked.held || inUse || Date.now() - looked.at < kPause) return;
  looked = { at: Date.now(), held };
  begin(true);
}
