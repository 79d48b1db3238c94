// All that is known of one neighbour.
import { figure, make } from './dom.js';
import * as units from './units.js';

const kCauses = {
  absent: 'never held',
  gone: 'dropped since',
  stale: 'stale',
  variant: 'another variant',
  refused: 'refused',
  untold: 'not told why',
  unknown: 'not known why',
  unfit: 'did not fit',
};
const kKinds = { squid: 'a Squid', hearsay: 'a Hearsay' };

function causes(peer) {
  const told = Object.entries(peer.false_hit_causes ?? {}).filter(([, number]) => number > 0);
  return told.length > 0 ? ` (${told.map(([cause, number]) => `${kCauses[cause] ?? cause} ${number}`).join(', ')})` : '';
}

// What became of its claims. The sum of all is their number. `unanswered`: it was asked, and failed,
// was too late, or has yet to answer. `unasked`: another source answered, or was expected to be
// faster.
export function fatesOf({ claims, asked, true_hits, false_hits }) {
  const judged = true_hits + false_hits;
  const rest = Math.max(0, claims - judged);
  const unanswered = Math.min(rest, Math.max(0, asked - judged));
  return { true_hits, false_hits, unanswered, unasked: rest - unanswered };
}

// The address of its own dashboard; null if it has none.
export function dashboardOf({ kind, url }) {
  return kind === 'hearsay' && URL.canParse(url) ? new URL('/hearsay/', url).href : null;
}

function row(name, ...values) {
  return [make('dt', {}, name), make('dd', { 'data-fact': name }, ...values)];
}

function claimRows(peer) {
  const { true_hits, false_hits, unanswered, unasked } = fatesOf(peer);
  const fates = [[true_hits, 'true'], [false_hits, `wrong${causes(peer)}`], [unanswered, 'not answered in time'],
    [unasked, 'not asked (another source came first)']].filter(([number]) => number > 0);
  return [
    row('Claims that came true', figure(units.share(true_hits, true_hits + false_hits))),
    row('Claims', figure(units.count(peer.claims)),
      fates.map(([number, words], i) => [i > 0 ? ', ' : ': ', figure(units.count(number)), ` ${words}`])),
  ];
}

export function detailsOf({ peer, condition, traffic }) {
  const dashboard = dashboardOf(peer);
  return make('div', { class: 'details', 'data-details': peer.name },
    make('h3', {}, peer.name, dashboard ? [' ', make('a', { href: dashboard, target: '_blank', rel: 'noreferrer' }, 'its dashboard ↗')] : null),
    make('p', { class: `condition ${condition.level}` }, make('strong', {}, condition.word), ` ${condition.text}`),
    make('dl', {},
      claimRows(peer),
      row('First byte', figure(units.milliseconds(peer.first_byte_ms))),
      row('Traffic', figure(units.perSecond(units.bytes(Math.round(traffic)))), ' now, ',
        figure(units.bytes(peer.bytes_saved)), ' in all'),
      row('Digest', figure(units.count(peer.entries)), ' URLs, ', figure(units.seconds(peer.age_seconds)), ' old'),
      row('Wrong by chance', figure(units.rate(peer.false_positive_rate)), ' predicted, ',
        figure(units.rate(peer.observed_false_positive_rate)), ' seen'),
      row('Failures', figure(units.count(peer.failures)), ' requests, ', figure(units.count(peer.polls_failed)), ' polls'),
      peer.last_error ? row('Last error', peer.last_error) : [],
      row('It is', `${kKinds[peer.kind] ?? 'not known yet'}, ${peer.role}, trust ${peer.trust}`),
      row('Address', make('span', { class: 'url' }, peer.url))));
}
