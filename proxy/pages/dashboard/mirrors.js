// What clients of mirrors got, by recipe. Hidden until one has asked.
import { at } from './dom.js';
import { tablesIn } from './table.js';
import * as units from './units.js';

const failure = (what, { failed_at: when }) => (what ? `${what}, ${units.moment(Date.parse(when) / 1000)}` : 'none');

const kRecipes = { caption: 'Since the start', what: 'mirrors', nothing: 'No client has asked a mirror.', columns: [
  { head: 'Recipe', of: 'recipe' },
  { head: 'Requests', of: 'requests', show: units.count },
  { head: 'Hits', of: ({ hits, requests }) => hits / requests, show: (_, { hits, requests }) => units.share(hits, requests) },
  { head: 'Bytes saved', of: 'bytes_saved', show: units.bytes },
  { head: 'Last failure', of: 'last_failure', show: failure },
] };

// Returns a function to call with each news.
export function beginMirrors() {
  const show = tablesIn(at('mirrors'), kRecipes);
  return ({ digest: { mirrors = [] } }) => {
    at('mirrors').hidden = mirrors.length === 0;
    show(mirrors);
  };
}
