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

function causes(peer) {
  const told = Object.entries(peer.false_hit_causes ?? {}).filter(([, number]) => number > 0);
  return told.map(([cause, number]) => `${kCauses[cause] ?? cause} ${number}`).join(', ') || 'none';
}

function row(name, ...values) {
  return [make('dt', {}, name), make('dd', { 'data-fact': name }, ...values)];
}

export function detailsOf({ peer, condition, traffic }) {
  const asked = peer.true_hits + peer.false_hits;
  return make('div', { class: 'details', 'data-details': peer.name },
    make('h3', {}, peer.name),
    make('p', { class: `condition ${condition.level}` }, make('strong', {}, condition.word), ` ${condition.text}`),
    make('dl', {},
      row('Claims that came true', figure(units.share(peer.true_hits, asked))),
      row('Claims', figure(units.count(peer.claims))),
      row('Wrong claims', figure(units.count(peer.false_hits)), ` (${causes(peer)})`),
      row('First byte', figure(units.milliseconds(peer.first_byte_ms))),
      row('Traffic', figure(units.perSecond(units.bytes(Math.round(traffic)))), ' now, ',
        figure(units.bytes(peer.bytes_saved)), ' in all'),
      row('Digest', figure(units.count(peer.entries)), ' URLs, ', figure(units.seconds(peer.age_seconds)), ' old'),
      row('Wrong by chance', figure(units.rate(peer.false_positive_rate)), ' predicted, ',
        figure(units.rate(peer.observed_false_positive_rate)), ' seen'),
      row('Failures', figure(units.count(peer.failures)), ' requests, ', figure(units.count(peer.polls_failed)), ' polls'),
      peer.last_error ? row('Last error', peer.last_error) : [],
      row('It is', `${peer.kind === 'squid' ? 'a Squid' : peer.kind === 'hearsay' ? 'a Hearsay' : 'not known yet'}, ${peer.role}, trust ${peer.trust}`),
      row('Address', make('span', { class: 'url' }, peer.url))));
}
