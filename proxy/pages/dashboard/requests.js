// The latest requests, each with its verdict.
import { ask, at, cutInTheMiddle, figure, make, say } from './dom.js';
import { offer } from './export.js';
import * as units from './units.js';

const kKept = 100;  // of each kind
const kShown = 100;
const kMarks = { hit: ['●', 'from the cache'], forwarded: ['◆', 'not from the cache'], failed: ['✕', 'failed'] };

let requests = [];  // the newest first
let paused = false;
let explain = null;

function add(news) {
  const known = new Set(requests.map(({ id }) => id));
  const fresh = news.filter(({ id }) => !known.has(id));
  if (fresh.length === 0) return false;
  const all = [...fresh, ...requests].sort((one, other) => other.time - one.time);
  const number = {};  // of each kind
  requests = all.filter(({ kind }) => (number[kind] = (number[kind] ?? 0) + 1) <= kKept);
  return true;
}

// Who asked. The name of a neighbour that shares its address with others is not known.
function asker({ client, neighbour }) {
  if (!neighbour) return client;
  return make('span', { class: 'by-neighbour' }, neighbour === client ? `neighbour ${client}` : `neighbour ${neighbour} (${client})`);
}

function row(request) {
  const [mark, word] = kMarks[request.kind];
  const size = units.bytes(request.bytes);
  return make('li', { class: request.kind, 'data-id': request.id },
    make('span', { class: 'mark', title: word, role: 'img', 'aria-label': word }, mark),
    make('div', {},
      make('p', { class: 'verdict', title: request.result }, request.verdict),
      make('p', {}, cutInTheMiddle(`${request.method} ${request.url}`)),
      make('p', { class: 'facts' },
        `${units.clock(request.time)} · ${request.status} · `, figure(size), ' · ',
        figure(units.milliseconds(request.took_ms)), ' · ', asker(request),
        request.method === 'GET'
          ? [' · ', make('button', { type: 'button', class: 'link', onclick: () => explain(request.url) }, 'Why?')] : [])));
}

// Those of the chosen kind that have the text of the search somewhere.
function wanted() {
  const kind = document.querySelector('input[name=kind]:checked').value;
  const text = at('requests-search').value.trim().toLowerCase();
  const has = ({ method, url, verdict, client, neighbour, status }) => [`${method} ${url}`, verdict, client,
    neighbour ? `neighbour ${neighbour}` : '', String(status)].some((one) => one.toLowerCase().includes(text));
  return requests.filter((request) => (kind === 'all' || request.kind === kind) && has(request));
}

function whyNone() {
  if (at('requests-search').value.trim()) return 'None of the latest requests has this.';
  return at('kinds').querySelector('input[value=failed]').checked ? 'No request has failed lately.' : 'No requests yet.';
}

function draw() {
  const shown = wanted().slice(0, kShown);
  at('requests').replaceChildren(...(shown.length > 0 ? shown.map(row) : [make('li', { class: 'nothing' }, whyNone())]));
}

const exported = () => wanted().map(({ id, time, ...rest }) => ({ time: new Date(time * 1000).toISOString(), ...rest }));

// While somebody has scrolled down, or is about to press a button in it, the list stays as it is.
function isRead() {
  const list = at('requests');
  const inside = list !== document.activeElement && list.contains(document.activeElement);
  return paused || inside || list.scrollTop > 0;
}

// `news`: nothing for those who may not know of requests.
export function addRequests(news) {
  if (add(news ?? []) && !isRead()) draw();
}

export function beginRequests(whatExplains) {
  explain = whatExplains;
  at('kinds').addEventListener('change', draw);
  at('requests-search').addEventListener('input', draw);
  at('requests-export').append(...offer('requests', exported));
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
  const all = await ask('/hearsay/requests');
  requests = [];
  add(all);
  if (!isRead()) draw();
}
