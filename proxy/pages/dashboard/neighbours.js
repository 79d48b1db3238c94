// The neighbourhood: as a picture, with the details of one neighbour; many also as a table.
import { at, make, say } from './dom.js';
import { offer } from './export.js';
import { dashboardOf, detailsOf, fatesOf } from './peer.js';
import { Picture } from './picture.js';
import { tablesIn } from './table.js';
import * as units from './units.js';

const kMemory = 10;     // seconds over which traffic is measured
// Up to `most` neighbours are drawn. More are told in a table, and `some` of them are drawn.
const kWide = { most: 11, some: 8 };
const kNarrow = { most: 6, some: 6 };
const kLevels = ['good', 'off', 'warn', 'bad'];

const past = new Map();  // by peer: [{end, bytes}], the oldest first
let chosen = null;     // the name of the one whose details are shown
let isPicked = false;  // by the person who reads
let latest = null;
let picture = null;
let showTable = null;
let drawn = { names: [], bad: '', since: 0 };  // of many neighbours

// How a peer is: {level: 'good' | 'warn' | 'bad' | 'off', word, text}.
export function conditionOf(peer, health) {
  const trouble = health.reasons.find(({ what, which }) => what === 'peer' && which === peer.name);
  if (trouble) return { level: 'bad', word: peer.state === 'resting' ? 'resting' : 'down', text: trouble.text };
  if (peer.state === 'off') return { level: 'off', word: 'not polled', text: 'its digest is off in the settings' };
  if (peer.state === 'waiting') return { level: 'warn', word: 'waiting', text: 'its first digest has yet to arrive' };
  if (peer.state === 'trying') return { level: 'warn', word: 'on trial', text: 'one request at a time tries it' };
  if (peer.state === 'usable') return { level: 'good', word: 'usable', text: 'its claims count' };
  return { level: 'bad', word: peer.state, text: peer.last_error ?? '' };
}

// Bytes per second that the peer has spared the origin lately.
function trafficOf({ name, bytes_saved: bytes }) {
  const { end } = latest;
  const seen = past.get(name) ?? [];
  if (seen.at(-1)?.end !== end) seen.push({ end, bytes });
  while (seen.length > 1 && end - seen[0].end > kMemory) seen.shift();
  past.set(name, seen);
  const span = end - seen[0].end;
  return span > 0 ? Math.max(0, bytes - seen[0].bytes) / span : 0;
}

const isBad = ({ condition }) => condition.level === 'bad';

// The broken ones, then the busiest, now or so far.
function byNotice(one, other) {
  return isBad(other) - isBad(one) || other.traffic - one.traffic || other.peer.bytes_saved - one.peer.bytes_saved;
}

const drawable = () => (at('neighbourhood').clientWidth < 560 ? kNarrow : kWide);

// The neighbours in the picture. Of many, those stay for a while, unless others break or work again.
function someOf(all) {
  const { most, some } = drawable();
  if (all.length <= most) return all;
  const bad = all.filter(isBad).map(({ peer }) => peer.name).join();
  const known = drawn.names.filter((name) => all.some(({ peer }) => peer.name === name));
  if (known.length !== some || bad !== drawn.bad || latest.end - drawn.since >= kMemory) {
    const names = [...all].sort(byNotice).slice(0, some).map(({ peer }) => peer.name);
    drawn = { names, bad, since: latest.end };
  }
  return all.filter(({ peer }) => drawn.names.includes(peer.name));
}

const chooser = (name) => make('button', { type: 'button', class: 'link', 'aria-pressed': String(name === chosen), onclick: () => choose(name) }, name);
const stateOf = (_, { condition: { level, word, text } }) => make('span', { class: `condition ${level}`, title: text }, make('strong', {}, word));
const linkOf = (href, { peer }) => (href ? make('a', { href, target: '_blank', rel: 'noreferrer', 'aria-label': `Dashboard of ${peer.name}` }, 'open ↗') : '–');
const judged = ({ true_hits, false_hits }) => true_hits + false_hits;

const kTable = { caption: 'All neighbours', columns: [
  { head: 'Neighbour', of: ({ peer }) => peer.name, show: chooser },
  { head: 'State', of: ({ condition }) => kLevels.indexOf(condition.level), show: stateOf },
  { head: 'Came true', of: ({ peer }) => (judged(peer) > 0 ? peer.true_hits / judged(peer) : null), show: (_, { peer }) => units.share(peer.true_hits, judged(peer)) },
  { head: 'Claims', of: ({ peer }) => peer.claims, show: units.count },
  { head: 'First byte', of: ({ peer }) => peer.first_byte_ms, show: units.milliseconds },
  { head: 'Traffic', of: ({ traffic }) => Math.round(traffic), show: (bytes) => units.perSecond(units.bytes(bytes)) },
  { head: 'Saved', of: ({ peer }) => peer.bytes_saved, show: units.bytes },
  { head: 'Holds', of: ({ peer }) => peer.entries, show: units.count },
  { head: 'Digest age', of: ({ peer }) => peer.age_seconds, show: units.seconds },
  { head: 'Dashboard', of: ({ peer }) => dashboardOf(peer), show: linkOf },
] };

function choose(name) {
  chosen = name;
  isPicked = true;
  draw();
}

// While nobody has picked one: a broken one, else one that has given something.
function follow(all) {
  const shown = all.find(({ peer }) => peer.name === chosen);
  const isOfNote = shown && (isBad(shown) || (shown.peer.bytes_saved > 0 && !all.some(isBad)));
  if (shown && (isPicked || isOfNote)) return;
  isPicked = false;
  chosen = [...all].sort(byNotice)[0]?.peer.name ?? null;
}

function showDetails(all) {
  const shown = all.length <= 2 ? all : all.filter(({ peer }) => peer.name === chosen);
  at('peer').replaceChildren(...(shown.length > 0 ? shown.map(detailsOf)
    : [make('p', { class: 'hint' }, 'This proxy has no neighbours (setting peers).')]));
}

// The link in the details keeps the focus, so they stay as they are while it has that.
const isInUse = () => at('peer').contains(document.activeElement);

function draw() {
  const { digest, health } = latest;
  const all = digest.peers.map((peer) => ({ peer, condition: conditionOf(peer, health), traffic: trafficOf(peer) }));
  follow(all);
  const { most, some } = drawable();
  const isMany = all.length > most;
  at('neighbourhood').dataset.number = Math.min(all.length, 3);
  say(at('neighbours-hint'), all.length === 0 ? '' : 'Rings show how many claims came true. A line is as wide as the traffic.'
    + (isMany ? ` Drawn are ${some} of ${all.length}: the broken and the busiest.` : ''));
  picture ??= new Picture(at('picture'), choose);
  picture.show(digest, someOf(all), chosen);
  if (!isInUse()) showDetails(all);
  at('neighbours-export').hidden = all.length === 0;
  at('neighbours-table').hidden = !isMany;
  if (isMany) showTable(all);
}

const exported = () => latest.digest.peers.map(({ name, ...peer }) =>
  ({ name, condition: conditionOf({ name, ...peer }, latest.health).word, ...peer, ...fatesOf(peer) }));

export function beginNeighbours() {
  showTable = tablesIn(at('neighbours-table'), kTable);
  at('neighbours-export').append(...offer('neighbours', exported));
  new ResizeObserver(() => latest && draw()).observe(at('picture'));
}

export function showNeighbours(news) {
  latest = news;
  draw();
}
