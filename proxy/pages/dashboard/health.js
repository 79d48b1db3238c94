// The banner that says whether all is well, and what is not.
import { at, make, say } from './dom.js';

const kKinds = {
  disk: 'Disk',
  peer: 'Neighbour',
  origin: 'Origin',
  memory: 'Memory',
  heads: 'Requests',
  connections: 'Connections',
  descriptors: 'Descriptors',
  clock: 'Clock',
  thread: 'Thread',
};

function title(health) {
  const number = health.reasons.reduce((sum, { number }) => sum + (number ?? 1), 0);
  if (health.status === 'draining') return 'Ending: no new connections are accepted';
  if (number === 0) return 'All is well';
  return number === 1 ? 'One thing does not work' : `${number} things do not work`;
}

function reason({ what, which, text }) {
  const kind = kKinds[what] ?? what;
  return make('li', { 'data-what': what, 'data-which': which ?? '' },
    make('strong', {}, which ? `${kind} ${which}` : kind), ' ', text);
}

let shown = '';

export function showHealth(health, name) {
  const status = health.status;
  document.title = `${status === 'ok' ? '' : '▲ '}${name} · ${title(health)}`;
  const now = JSON.stringify(health);
  if (now === shown) return;
  shown = now;
  at('health').dataset.status = status;
  say(at('health-title'), title(health));
  at('health-reasons').replaceChildren(...health.reasons.map(reason));
}

export function showLost(since, name) {
  shown = '';
  const seconds = Math.round((Date.now() - since) / 1000);
  document.title = `▲ ${name} · no answer`;
  at('health').dataset.status = 'lost';
  say(at('health-title'), 'This proxy does not answer');
  at('health-reasons').replaceChildren(make('li', {}, `Last heard ${seconds} s ago. What is shown below is as old.`));
}
