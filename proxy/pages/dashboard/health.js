// The banner that says whether all is well, and what is not.
import { at, make, say } from './dom.js';
import { clock } from './units.js';

const kLately = 10;  // seconds

const kKinds = {
  disk: 'Disk',
  peer: 'Neighbour',
  dns: 'DNS',
  origin: 'Origin',
  line: 'The line?',
  memory: 'Memory',
  heads: 'Requests',
  connections: 'Connections',
  descriptors: 'Descriptors',
  clock: 'Clock',
  offline: 'Offline',
  settings: 'Settings',
  log: 'Access log',
  thread: 'Thread',
};

function title(health) {
  const number = health.reasons.reduce((sum, { number }) => sum + (number ?? 1), 0);
  if (health.status === 'draining') return 'Ending: no new connections are accepted';
  if (number === 0) return 'All is well';
  return number === 1 ? 'One thing does not work' : `${number} things do not work`;
}

// In this browser's time. A proxy that was updated under this page may tell less, or more.
function moment(text) {
  const time = new Date(text);
  const today = time.toDateString() === new Date().toDateString();
  return `${today ? '' : `${time.toLocaleDateString('en', { day: 'numeric', month: 'short' })}, `}${clock(time / 1000)}`;
}

// When it was seen last is told only if that was a while ago: most things last until now.
function times({ since, last_seen: last }, now) {
  if (!since) return '';
  const ended = last && now - new Date(last) / 1000 > kLately;
  return `since ${moment(since)}${ended ? `, last seen ${moment(last)}` : ''}`;
}

function reason(one, now) {
  const { what, which, text } = one;
  const kind = kKinds[what] ?? what;
  return make('li', { 'data-what': what, 'data-which': which ?? '' },
    make('strong', {}, which ? `${kind} ${which}` : kind), ' ', text, ' ',
    make('span', { class: 'times' }, times(one, now)));
}

let shown = '';

// `now`: the proxy's time, in seconds since 1970.
export function showHealth(health, name, now) {
  const status = health.status;
  document.title = `${status === 'ok' ? '' : '▲ '}${name} · ${title(health)}`;
  const reasons = health.reasons.map((one) => reason(one, now));
  const told = JSON.stringify([health.status, ...reasons.map(({ outerHTML }) => outerHTML)]);
  if (told === shown) return;
  shown = told;
  at('health').dataset.status = status;
  say(at('health-title'), title(health));
  at('health-reasons').replaceChildren(...reasons);
}

export function showLost(since, name) {
  shown = '';
  const seconds = Math.round((Date.now() - since) / 1000);
  document.title = `▲ ${name} · no answer`;
  at('health').dataset.status = 'lost';
  say(at('health-title'), 'This proxy does not answer');
  at('health-reasons').replaceChildren(make('li', {}, `Last heard ${seconds} s ago. What is shown below is as old.`));
}
