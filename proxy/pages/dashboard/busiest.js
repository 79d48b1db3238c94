// The hosts, URLs and clients of the last hour with most requests or bytes. For administrators.
import { ask, at, cutInTheMiddle, isRead } from './dom.js';
import { tablesIn } from './table.js';
import * as units from './units.js';

const kPause = 5000;
const kSums = [
  { head: 'Requests', of: 'requests', show: units.count },
  { head: 'Cache', of: ({ hits, requests }) => hits / requests, show: (_, { hits, requests }) => units.share(hits, requests) },
  { head: 'Bytes', of: 'bytes', show: units.bytes },
];
const client = (name, { neighbour }) => (neighbour ? `${name} (neighbour ${neighbour})` : name);
const nothing = 'No requests yet.';

// Returns a function to call with each news. It looks again every few seconds, unless somebody reads.
export function beginBusiest() {
  const show = tablesIn(at('busiest'),
    { caption: 'Hosts', what: 'hosts', nothing, columns: [{ head: 'Host', of: 'name', show: cutInTheMiddle }, ...kSums] },
    { caption: 'URLs', what: 'urls', nothing, columns: [{ head: 'URL', of: 'name', show: cutInTheMiddle }, ...kSums] },
    { caption: 'Clients', what: 'clients', nothing, columns: [{ head: 'Client', of: 'name', show: client }, ...kSums,
      { head: 'Connections', of: 'connections', show: units.count }] });
  let looked = 0;
  return () => {
    if (isRead(at('busiest')) || Date.now() - looked < kPause) return;
    looked = Date.now();
    ask('/hearsay/busiest').then(({ hosts, urls, clients }) => show(hosts, urls, clients)).catch(() => {});
  };
}
