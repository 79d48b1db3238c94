// The origins of the last hour, what does not work so well at them, and the requests that wait now.
import { at, figure, make, say } from './dom.js';
import * as units from './units.js';

const kPause = 500;  // shorter than the time between two news
const kShown = 20;

const kWaits = { name: 'the address of', connection: 'a connection to', 'first-byte': 'the first byte of', body: 'more of the body of' };
const kCauses = {
  dns: 'name resolution failed',
  'no-address': 'no address', unreachable: 'not reached', 'timed-out': 'timed out', cut: 'cut off', malformed: 'no HTTP',
  untrusted: 'TLS failed', abandoned: 'given up by clients', '5xx': 'answered 5xx',
};

const plural = (number, word) => `${units.count(number).text} ${word}${number === 1 ? '' : 's'}`;

function table(caption, heads, rows) {
  return make('div', { class: 'scrolled', tabindex: '0', role: 'region', 'aria-label': caption },
    make('table', {}, make('caption', {}, caption),
      make('thead', {}, make('tr', {}, heads.map((head) => make('th', { scope: 'col' }, head)))),
      make('tbody', {}, rows.map(([attributes, first, ...cells]) => make('tr', attributes,
        make('th', { scope: 'row', class: 'url', title: first }, first),
        cells.map((cell, i) => make('td', { 'data-head': heads[i + 1], title: typeof cell === 'string' ? cell : null }, cell)))))));
}

function failures(origin) {
  const causes = Object.entries(origin.failures).map(([cause, number]) => `${kCauses[cause] ?? cause} ${number}`);
  return origin.failed > 0 ? `${units.count(origin.failed).text} (${causes.join(', ')})` : '0';
}

const originRow = (origin) => [{ 'data-origin': origin.origin }, origin.origin,
  figure(units.count(origin.requests)), failures(origin),
  figure(units.milliseconds(origin.first_byte_p50_ms)), figure(units.milliseconds(origin.first_byte_p99_ms)),
  figure(units.bytes(origin.bytes))];

const waitRow = (wait) => [{ 'data-waits': wait.server }, `${wait.method} ${wait.url}`,
  `${kWaits[wait.waits_for] ?? wait.waits_for} ${wait.of === 'origin' ? '' : `the ${wait.of} `}${wait.server}`,
  units.clock(wait.since), figure(units.seconds(Math.floor(wait.seconds)))];

function show({ notes, waiting, under_way: underWay, origins }) {
  say(at('origins-state'), origins.length === 0 ? 'No origin was asked in the last hour.'
    : `${plural(origins.length, 'origin')} in the last hour, ${waiting === 0 ? 'no request waits' : `${plural(waiting, 'request')} ${waiting === 1 ? 'waits' : 'wait'}`}.`);
  at('origins-notes').replaceChildren(...notes.map(({ origin, text }) => make('li', { 'data-which': origin ?? '' },
    origin ? make('strong', {}, origin) : null, origin ? ' ' : null, text)));
  at('origins-waits').replaceChildren(...(underWay.length === 0 ? [] : [
    table('Waiting now, the longest first', ['Request', 'Waits for', 'Since', 'For'], underWay.slice(0, kShown).map(waitRow))]));
  at('origins-table').replaceChildren(...(origins.length === 0 ? [] : [
    table('By requests', ['Origin', 'Requests', 'Failed', 'First byte p50', 'p99', 'Bytes'], origins.slice(0, kShown).map(originRow))]));
}

async function look() {
  const answer = await fetch('/hearsay/origins');
  if (!answer.ok) throw new Error(await answer.text());
  show(await answer.json());
}

// While somebody selects text in the card, it stays as it is.
const isRead = () => at('origins').contains(document.activeElement) || at('origins').contains(document.getSelection()?.focusNode);

// Returns a function to call with each news.
export function beginOrigins() {
  let next = 0;
  return () => {
    if (Date.now() < next || isRead()) return;
    next = Date.now() + kPause;
    look().catch((error) => say(at('origins-state'), error.message));
  };
}
