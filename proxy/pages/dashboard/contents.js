// What the cache holds, by host and by size, and purging it.
import { at, cutInTheMiddle, isRead, make, say } from './dom.js';
import { tablesIn } from './table.js';
import * as units from './units.js';

const kFew = 2000;      // so many responses are looked through without being asked to
const kPause = 5000;
let search = null;      // the AbortController of the one under way
let looked = { at: 0, held: -1 };
let show = null;        // shows the hosts and the largest responses

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
  tell(found);
}

function begin(quietly = false) {
  if (!quietly) say(at('contents-told'), '');
  look(quietly).catch((error) => {
    if (error.name !== 'AbortError') say(at('contents-state'), error.message);
  });
}

let most = 1;  // the bytes of the largest host

function hostName(host, { bytes }) {
  const open = () => {
    at('contents-search').value = `//${host}/`;
    begin();
  };
  const level = make('span', { class: 'level' });
  level.style.width = `${(100 * bytes) / most}%`;
  return make('div', {}, make('button', { type: 'button', class: 'link', onclick: open }, cutInTheMiddle(host)), level);
}

const kHits = { head: 'Hits', of: 'hits', show: units.count };
const kHosts = { caption: 'By host', what: 'by-host', sort: 2, nothing: 'None found.', columns: [
  { head: 'Host', of: 'host', show: hostName },
  { head: 'Responses', of: 'entries', show: units.count },
  { head: 'Size', of: 'bytes', show: units.bytes },
  kHits,
  { head: 'Purge', show: (_, { host, entries }) => purgeButton({ host }, `all ${units.count(entries).exact} responses of ${host}`) },
] };

const urlOf = ({ url }) => url.replace(/^reverse:/, '');
const kLargest = { caption: 'The largest', what: 'the-largest', nothing: 'None found.', columns: [
  { head: 'URL', of: urlOf, show: cutInTheMiddle },
  { head: 'Size', of: 'held_bytes', show: units.bytes },
  { head: 'Fresh', of: 'fresh_seconds', show: (fresh) => (fresh ? units.seconds(fresh) : 'stale') },
  kHits,
  { head: 'Purge', show: (_, entry) => purgeButton({ url: urlOf(entry) }, urlOf(entry)) },
] };

function tell({ hosts, largest, all, others }) {
  if (!all) throw new Error('the answer was cut');
  const rest = others ? `; ${units.plural(others.other_hosts, 'other host')} with ${units.plural(others.entries, 'response')}, ${units.bytes(others.bytes).text}, not listed` : '';
  say(at('contents-state'), `${units.plural(all.entries, 'response')} of ${units.plural(all.hosts, 'host')}, ${units.bytes(all.bytes).text}${rest}`);
  most = Math.max(1, ...hosts.map(({ bytes }) => bytes));
  show(hosts, largest);
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
  show = tablesIn(at('contents-tables'), kHosts, kLargest);
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
  const inUse = isRead(at('contents')) || at('ask').open;
  if (held === looked.held || inUse || Date.now() - looked.at < kPause) return;
  looked = { at: Date.now(), held };
  begin(true);
}
