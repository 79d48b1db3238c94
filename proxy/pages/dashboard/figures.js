// The figures at the top of the page.
import { at, make, say } from './dom.js';
import * as units from './units.js';

// Each: an id, a label, and what to show: {main, note} as {text, exact}, and `level` of a bar.
const kFigures = [
  ['requests', 'Requests', ({ history, sample }) => ({
    main: units.perSecond(units.count(sample.requests)),
    note: [units.count(history.sum('requests')), 'in 1 h'],
  })],
  ['hits', 'From cache', ({ history }) => ({
    main: units.share(history.sum('hits', 60), history.sum('requests', 60)),
    note: [units.share(history.sum('hits'), history.sum('requests')), 'in 1 h'],
  })],
  ['saved', 'Bytes saved', ({ history }) => {
    const saved = history.hour && history.sum('cache_bytes') + history.sum('neighbour_bytes');
    return {
      main: units.bytes(saved),
      note: [units.share(saved, saved + history.sum('origin_bytes')), 'of all bytes'],
    };
  }],
  ['origin', 'Origin traffic', ({ history, sample }) => ({
    main: units.perSecond(units.bytes(sample.origin_bytes)),
    note: [units.bytes(history.sum('origin_bytes')), 'in 1 h'],
  })],
  ['failed', 'Failed in 5 min', ({ history }) => ({
    main: units.count(history.sum('failed', 300)),
    note: [units.count(history.sum('failed')), 'in 1 h'],
    alarm: history.sum('failed', 300) > 0,
  })],
  ['memory', 'Memory', ({ now }) => ({
    main: units.bytes(now.memory_bytes),
    note: [units.count(now.memory_entries), now.memory_entries === 1 ? 'response' : 'responses'],
    level: now.memory_bytes / now.memory_limit,
  })],
  ['disk', 'Disk', ({ now }) => now.disk_limit && ({
    main: units.bytes(now.disk_bytes),
    note: [units.count(now.disk_records), now.disk_records === 1 ? 'record' : 'records'],
    level: now.disk_bytes / now.disk_limit,
  })],
  ['connections', 'Connections', ({ now }) => ({
    main: units.count(now.connections),
    note: [units.count(now.watchers), now.watchers === 1 ? 'of a dashboard' : 'of dashboards'],
  })],
];

// The number is what one looks for, so its unit is smaller.
function showMain(element, { text, exact }) {
  const end = text.lastIndexOf(' ');
  const [number, unit] = element.children;
  say(number, end < 0 ? text : text.slice(0, end));
  say(unit, end < 0 ? '' : text.slice(end));
  say(element, element.textContent, exact);
}

function tile(id, label) {
  return make('div', { class: 'card tile', id: `figure-${id}` },
    make('h3', {}, label), make('p', { class: 'main' }, make('span'), make('span', { class: 'unit' })),
    make('div', { class: 'bar', hidden: true }, make('span')),
    make('p', { class: 'note' }, make('span', { class: 'figure' }), ' ', make('span')));
}

export function showFigures(facts) {
  for (const [id, label, read] of kFigures) {
    const value = read(facts);
    let element = at(`figure-${id}`);
    if (!value) {
      element?.remove();
      continue;
    }
    if (!element) at('figures').append(element = tile(id, label));
    element.classList.toggle('alarm', Boolean(value.alarm));
    showMain(element.querySelector('.main'), value.main);
    const [number, words] = element.querySelectorAll('.note span');
    say(number, value.note[0].text, value.note[0].exact);
    say(words, value.note[1]);
    showLevel(element.querySelector('.bar'), value.level);
  }
}

function showLevel(bar, level) {
  bar.hidden = level === undefined;
  if (bar.hidden) return;
  const percent = Math.min(100, 100 * level);
  bar.firstElementChild.style.width = `${percent}%`;
  bar.title = `${percent.toFixed(1)} % of its limit`;
}
