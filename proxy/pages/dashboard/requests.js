// The latest requests, each with its verdict.
import { at, figure, make, say } from './dom.js';
import * as units from './units.js';

const kKept = 300;
const kShown = 100;
const kMarks = { hit: ['●', 'from the cache'], forwarded: ['◆', 'not from the cache'], failed: ['✕', 'failed'] };

const known = new Map();  // by id
let requests = [];        // the newest first
let paused = false;
let explain = null;

function add(news) {
  const fresh = news.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return false;
  for (const request of fresh) known.set(request.id, request);
  requests = [...fresh, ...requests].sort((one, other) => other.time - one.time);
  keepSome();
  return true;
}

// Hits make room first: they are many.
function keepSome() {
  const ofKind = new Map();
  requests = requests.filter((request) => {
    const number = (ofKind.get(request.kind) ?? 0) + 1;
    ofKind.set(request.kind, number);
    if (number <= kKept / 3) return true;
    known.delete(request.id);
    return false;
  });
}

function row(request) {
  const [mark, word] = kMarks[request.kind];
  const size = units.bytes(request.bytes);
  return make('li', { class: request.kind, 'data-id': request.id },
    make('span', { class: 'mark', title: word, role: 'img', 'aria-label': word }, mark),
    make('div', {},
      make('p', { class: 'verdict', title: request.result }, request.verdict),
      make('p', { class: 'url', title: request.url }, `${request.method} ${request.url}`),
      make('p', { class: 'facts' },
        `${units.clock(request.time)} · ${request.status} · `, figure(size), ' · ',
        figure(units.milliseconds(request.took_ms)), ` · ${request.client}`,
        explain && request.method === 'GET'
          ? [' · ', make('button', { type: 'button', class: 'link', onclick: () => explain(request.url) }, 'Why?')] : [])));
}

function draw() {
  const kind = document.querySelector('input[name=kind]:checked').value;
  const shown = requests.filter((request) => kind === 'all' || request.kind === kind).slice(0, kShown);
  const list = at('requests');
  const nothing = make('li', { class: 'nothing' }, kind === 'failed' ? 'No request has failed lately.' : 'No requests yet.');
  list.replaceChildren(...(shown.length > 0 ? shown.map(row) : [nothing]));
}

// While somebody has scrolled down, or is about to press a button in it, the list stays as it is.
function isRead() {
  const list = at('requests');
  const inside = list !== document.activeElement && list.contains(document.activeElement);
  return paused || inside || list.scrollTop > 0;
}

export function addRequests(news) {
  if (add(news) && !isRead()) draw();
}

export async function beginRequests(whatExplains) {
  explain = whatExplains;
  at('kinds').addEventListener('change', draw);
  at('pause').addEventListener('click', () => {
    paused = !paused;
    at('pause').setAttribute('aria-pressed', String(paused));
    say(at('pause'), paused ? 'Go on' : 'Pause');
    if (!paused) draw();
  });
  draw();
}

// All anew: a proxy that has started again numbers its requests from the beginning.
export async function loadRequests() {
  const answer = await fetch('/hearsay/requests');
  if (!answer.ok) return;
  const all = await answer.json();
  known.clear();
  requests = [];
  add(all);
  if (!isRead()) draw();
}
