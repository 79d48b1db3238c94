// The origins of the last hour, what does not work so well at them, and the requests that wait now.
import { ask, at, cutInTheMiddle, isRead, make, say } from './dom.js';
import { tablesIn } from './table.js';
import * as units from './units.js';

const kPause = 500;  // shorter than the time between two news

const kWaits = { name: 'the address of', connection: 'a connection to', 'first-byte': 'the first byte of', body: 'more of the body of' };
const kCauses = {
  dns: 'name resolution failed',
  'no-address': 'no address', unreachable: 'not reached', 'timed-out': 'timed out', cut: 'cut off', malformed: 'no HTTP',
  untrusted: 'TLS failed', abandoned: 'given up by clients', '5xx': 'answered 5xx',
};

const kWaiting = { caption: 'Waiting now', what: 'waiting', sort: 3, nothing: 'No request waits.', columns: [
  { head: 'Request', of: ({ method, url }) => `${method} ${url}`, show: cutInTheMiddle },
  { head: 'Waits for', of: ({ waits_for: what, of, server }) => `${kWaits[what] ?? what} ${of === 'origin' ? '' : `the ${of} `}${server}` },
  { head: 'Since', of: 'since', show: (since) => units.clock(since) },
  { head: 'For', of: 'seconds', show: (seconds) => units.seconds(Math.floor(seconds)) },
] };

function failures(failed, origin) {
  const causes = Object.entries(origin.failures).map(([cause, number]) => `${kCauses[cause] ?? cause} ${number}`);
  return failed > 0 ? `${units.count(failed).text} (${causes.join(', ')})` : '0';
}

const kAsked = { caption: 'Last hour', what: 'origins', nothing: 'No origin was asked in the last hour.', columns: [
  { head: 'Origin', of: 'origin', show: cutInTheMiddle },
  { head: 'Requests', of: 'requests', show: units.count },
  { head: 'Failed', of: 'failed', show: failures },
  { head: 'First byte p50', of: 'first_byte_p50_ms', show: units.milliseconds },
  { head: 'p99', of: 'first_byte_p99_ms', show: units.milliseconds },
  { head: 'Bytes', of: 'bytes', show: units.bytes },
] };

const note = ({ origin, text }) => make('li', { 'data-which': origin ?? '' }, origin ? [make('strong', {}, origin), ' '] : null, text);

// Returns a function to call with each news.
export function beginOrigins() {
  const show = tablesIn(at('origins'), kWaiting, kAsked);
  let next = 0;
  return () => {
    if (Date.now() < next || isRead(at('origins'))) return;
    next = Date.now() + kPause;
    ask('/hearsay/origins').then(({ notes, waiting, under_way: underWay, origins }) => {
      say(at('origins-state'), waiting > underWay.length ? `${units.plural(waiting, 'request')} wait, the longest are told.` : '');
      at('origins-notes').replaceChildren(...notes.map(note));
      show(underWay, origins);
    }).catch((error) => say(at('origins-state'), error.message));
  };
}
