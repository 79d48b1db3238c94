// Puts the parts of the dashboard together.
import { beginBusiest } from './busiest.js';
import { Chart } from './chart.js';
import { beginContents } from './contents.js';
import { ask, at, say } from './dom.js';
import { offer } from './export.js';
import { showFigures } from './figures.js';
import { showHealth, showLost } from './health.js';
import { History, rowsOf } from './history.js';
import { beginMirrors } from './mirrors.js';
import { beginNeighbours, showNeighbours } from './neighbours.js';
import { beginOrigins } from './origins.js';
import { addRequests, beginRequests, loadRequests } from './requests.js';
import { checkRights, showRights } from './rights.js';
import { watch } from './stream.js';
import * as units from './units.js';
import { beginWhy } from './why.js';

const kLengths = { hour: [300, 900, 1800, 3600], day: [60, 360, 720, 1440] };  // samples shown

const history = new History();
const minus = (span, all, part) => span[all].map((value, i) => Math.max(0, value - span[part][i]));
const charts = [
  new Chart({
    title: 'Requests per second',
    unit: units.count,
    layers: [
      { name: 'hit', label: 'from cache', read: (span) => span.hits },
      { name: 'forwarded', label: 'others', read: (span) => minus(span, 'requests', 'hits') },
    ],
  }),
  new Chart({
    title: 'Bytes per second, by source',
    unit: units.bytes,
    base: 1024,
    layers: [
      { name: 'hit', label: 'cache', read: (span) => span.cache_bytes },
      { name: 'neighbour', label: 'neighbours', read: (span) => span.neighbour_bytes },
      { name: 'origin', label: 'origins', read: (span) => span.origin_bytes },
    ],
  }),
  new Chart({
    title: 'Failed and refused, per second',
    unit: units.count,
    layers: [
      { name: 'failed', label: 'failed', read: (span) => span.failed },
      { name: 'refused', label: 'refused', read: (span) => span.refused },
    ],
  }),
];

function showCharts() {
  const span = document.querySelector('input[name=span]:checked').value;
  if (!history[span]) return;
  const length = kLengths[span].find((most) => history[span].requests.length <= most);
  charts.forEach((chart) => chart.show(history[span], length));
}

async function loadAbout() {
  const about = await ask('/hearsay/about');
  say(at('name'), about.name);
  say(at('version'), `version ${about.version}, up since ${units.moment(about.started)}`);
  return about;
}

function begin(about) {
  showRights(about);
  const forAdmins = about.admin ? [beginBusiest(), beginContents(), beginOrigins()] : [];
  if (about.admin) beginRequests(beginWhy());
  at('charts').append(...charts.map((chart) => chart.element));
  at('span').addEventListener('change', showCharts);
  const span = () => history[document.querySelector('input[name=span]:checked').value];
  at('history-export').append(...offer('history', () => rowsOf(span())));
  beginNeighbours();
  const showMirrors = beginMirrors();
  watch({
    onOpen: () => {
      history.reload().then(showCharts).catch(() => {});
      loadAbout().catch(() => {});  // it may be another process
      checkRights(about).then((same) => same && about.admin && loadRequests()).catch(() => {});
    },
    onNews: (news) => {
      history.add(news);
      showHealth(news.health, about.name, news.end);
      showFigures({ ...news, history });
      showCharts();
      showNeighbours(news);
      showMirrors(news);
      if (about.admin) addRequests(news.requests);
      forAdmins.forEach((show) => show(news.now));
    },
    onContact: (state, heard) => {
      at('contact').dataset.state = state;
      say(at('contact'), state === 'live' ? 'live' : 'no contact');
      if (state !== 'lost') return;
      showLost(heard, about.name);
      checkRights(about).catch(() => {});
    },
  });
}

loadAbout().then(begin).catch((error) => {
  at('health').dataset.status = 'lost';
  say(at('health-title'), `This page cannot be shown: ${error.message}`);
});
