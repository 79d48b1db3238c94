// The hosts, URLs and clients of the last hour with most requests or bytes. For administrators.
import { at, figure, make } from './dom.js';
import * as units from './units.js';

const kPause = 5000;
let looked = 0;
let told = null;

const order = () => document.querySelector('input[name=busiest-by]:checked').value;

// `columns`: [head, what to show of a row].
function table(caption, rows, columns) {
  if (rows.length === 0) return make('p', { class: 'hint' }, 'No requests yet.');
  const sorted = rows.toSorted((one, other) => other[order()] - one[order()]);
  return make('div', { class: 'scrolled', tabindex: '0', role: 'region', 'aria-label': caption },
    make('table', {}, make('caption', { class: 'unseen' }, caption),
      make('thead', {}, make('tr', {}, columns.map(([head]) => make('th', { scope: 'col' }, head)))),
      make('tbody', {}, sorted.map((row) => make('tr', { 'data-name': row.name },
        columns.map(([head, cell], i) => (i === 0 ? make('th', { scope: 'row', title: row.name }, cell(row))
          : make('td', { 'data-head': head }, cell(row)))))))));
}

const kSums = [
  ['Requests', ({ requests }) => figure(units.count(requests))],
  ['Cache', ({ hits, requests }) => figure(units.share(hits, requests))],
  ['Bytes', ({ bytes }) => figure(units.bytes(bytes))],
];
const client = ({ name, neighbour }) => (neighbour ? `${name} (neighbour ${neighbour})` : name);

function draw() {
  if (!told) return;
  const { hosts, urls, clients } = told;
  at('busiest').replaceChildren(
    table('Hosts', hosts, [['Host', ({ name }) => name], ...kSums]),
    table('URLs', urls, [['URL', ({ name }) => make('span', { class: 'url' }, name)], ...kSums]));
  at('clients').replaceChildren(table('Clients', clients, [['Client', client], ...kSums,
    ['Connections', ({ connections }) => figure(units.count(connections))]]));
}

async function look() {
  const answer = await fetch('/hearsay/busiest');
  if (!answer.ok) return;
  told = await answer.json();
  draw();
}

// With each news; looks again every few seconds, unless somebody is about to read the tables.
export function showBusiest() {
  if (looked === 0) at('busiest-by').addEventListener('change', draw);
  const inUse = at('busiest').matches(':focus-within') || at('clients').matches(':focus-within');
  if (inUse || Date.now() - looked < kPause) return;
  looked = Date.now();
  look().catch(() => {});
}
