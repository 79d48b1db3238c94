// Five proxies in network namespaces, and one fault after the other. Each must be told within five
// seconds, by every proxy that it concerns, at four places: /health, the dashboard in a browser, a
// metric, and exactly one line of the log. Its alert must fire, and no other.
//   tests/faults/run.sh runs this in namespaces of its own. ONLY: a pattern of titles.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../browser/site.mjs';
import { Prometheus } from './alerts.mjs';
import { kWithWrongClock, limitMemory, setClockAhead } from './machine.mjs';
import { kNames, Origin, SecureOrigin, run, Site } from './network.mjs';
import { Rounds } from './round.mjs';
import { Dashboards } from './views.mjs';

const kDisk = `${process.env.TMPDIR}/disk`;
const kLog = `${kDisk}/logs/log`;  // on a file system of its own
const kLiar = { name: 'liar', url: 'http://10.77.0.104:3128', digest: 'squid' };

// An address of which the usual traffic asks nothing.
const kAside = '10.77.0.253';

const site = new Site((name, peers) => {
  const own = {
    'cache-a': { peers: [...peers, kLiar], cache: { memory: '256MiB' } },
    'cache-c': { cache: { memory: '64MiB', disk: { path: `${kDisk}/cache`, size: '64MiB' } }, log: { access: `${kLog}/access.log` } },
    'cache-e': { reverse: [{ host: 'wares.test', to: `https://${kAside}` }] },
  };
  return { peers, cache: { memory: '64MiB' }, access: { monitor: ['private'], admin: ['private'] }, limits: { connections: 4000 }, control: 'none',
    digest: { prefer: 'neighbours', check_sample: name === 'cache-a' ? 1 : 0, check_pause: '100ms', false_miss_sample: 0 }, ...own[name] };
});
const [a, b, c, d, e] = site.proxies;
const aside = new Origin(kAside);
const kUnverified = /could not be verified \(the host's certificate is from no authority trusted here\): look at its certificate/;
const kLarges = 3;
const secure = new SecureOrigin(kAside);
const dashboards = new Dashboards();
const prometheus = new Prometheus();
const rounds = new Rounds(site, dashboards, prometheus);

before(async () => {
  run(`mkdir ${kDisk}; mount -t tmpfs -o size=96m none ${kDisk}; mkdir ${kDisk}/logs; mount -t tmpfs none ${kDisk}/logs; mkdir ${kLog}`);
  setClockAhead(0);
  await site.start((name) => (name === 'cache-d' ? kWithWrongClock : []));
  await aside.start();
  await prometheus.start(site.proxies);
  await dashboards.start(site.proxies);
  await rounds.allIsWell();
});

after(async () => {
  await dashboards.stop();
  prometheus.stop();
  aside.stop();
  await site.stop();
});

function fault(title, facts) {
  const skip = !new RegExp(process.env.ONLY ?? '').test(title);
  test(title, { skip }, () => rounds.run(title, facts));
}

const others = (proxy) => kNames.filter((name) => name !== proxy.name);

// One cause, and both sides of it: the neighbour does not answer, and the others do without it.
const kOfB = { at: others(b), what: 'peer', which: 'cache-b', metric: ['hearsay_peer_up{peer="cache-b"}', 0], line: /peer cache-b is down/,
  alerts: ['HearsayDown cache-b', ...others(b).map((name) => `HearsayPeerDown ${name} cache-b`)] };

// Prometheus has to see each start.
async function restartSlowly(proxy) {
  const seen = Date.now();
  await proxy.restart(kWithWrongClock);
  await pause(Math.max(0, 1500 - (Date.now() - seen)));
}

fault('a neighbour is killed', { ...kOfB,
  text: /its digest cannot be fetched: .+: look whether it runs/,
  inject: () => b.end('SIGKILL'),
  heal: () => b.begin(),
});

fault('a neighbour is stopped', { ...kOfB,
  text: /its digest cannot be fetched: .+: look whether it runs/,
  inject: () => { b.process.kill('SIGSTOP'); },
  heal: () => b.process.kill('SIGCONT'),
});

fault('a neighbour lies', {
  at: ['cache-a'], what: 'peer', which: 'liar', text: /most of its recent claims were false, so it rests: look who runs it/,
  metric: ['hearsay_peer_up{peer="liar"}', 0], line: /peer liar is down: most of its recent claims were false/,
  alerts: ['HearsayPeerLies cache-a liar'],
  inject: () => {
    site.liar.does = 'lie';
    site.onTick = () => { for (let i = 0; i < 3; i += 1) a.ask(site.liar.nextUrl()); };
  },
  heal: async () => {
    site.onTick = undefined;
    site.liar.does = 'serve';
    a.reload({ peers: site.peersOf(a.name) });
    await until('the neighbour is forgotten', async () => (await a.digest()).peers.length === 4);
    a.reload({ peers: [...site.peersOf(a.name), kLiar] });  // without its record
  },
});

fault('a neighbour forges', {
  at: ['cache-a'], what: 'peer', which: 'liar', text: /the origin contradicts what it gave, so it rests: look who runs it/,
  metric: ['hearsay_peer_up{peer="liar"}', 0], line: /peer liar is down: its response for http\S+ never was the origin's/,
  alerts: ['HearsayPeerLies cache-a liar'],
  inject: () => {
    site.liar.does = 'forge';
    site.onTick = () => a.ask(site.liar.nextUrl());
  },
  heal: () => {
    site.onTick = undefined;
    site.liar.does = 'serve';
    a.reload({ peers: site.peersOf(a.name) });
  },
});

fault('an origin is down', {
  at: kNames, which: 'http://10.77.0.103:80', text: /the server could not be reached \(the host refused the connection\): look whether it runs/,
  line: /origin http:\/\/10.77.0.103:80/,
  alerts: [],
  inject: () => site.origins[3].stop(),
  heal: () => site.origins[3].start(),
});

let asked = 0;

fault('the name server is gone', {
  at: kNames, what: 'dns', text: /name resolution: 10\.77\.0\.254 does not answer \(\/etc\/resolv\.conf\)/,
  metric: ['hearsay_troubles{what="dns"}', 1], line: /name resolution: 10\.77\.0\.254 does not answer/,
  alerts: kNames.map((name) => `HearsayNamesFail ${name}`),
  inject: () => {
    site.names.silent = true;
    site.onTick = () => site.proxies.forEach((proxy) => {
      asked += 1;
      proxy.ask(`http://${asked % 10 ? `host-${asked}` : 'shop'}.test/${proxy.name}/${asked}`);
    });
  },
  heal: () => {
    site.names.silent = false;
    site.onTick = undefined;
  },
});

let waiting = [];
const kWaits = 'requests have waited for it for up to \\d+ s, and it has answered nothing for';
const kOfAside = { at: ['cache-a'], which: `http://${kAside}:80`, alerts: [] };

// What waits is not given up with its client, so the origin ends it.
async function healAside() {
  waiting.forEach((socket) => socket.destroy());
  await aside.stop();
  await aside.start();
}

fault('an origin is silent', { ...kOfAside,
  text: new RegExp(`4 ${kWaits}`),
  inject: () => { aside.delay = null; waiting = a.crowd(4, kAside); },
  heal: healAside,
});

fault('an origin is slow', { ...kOfAside,
  text: new RegExp(`3 ${kWaits}`),
  inject: () => { aside.delay = 6000; waiting = a.crowd(3, kAside); },
  heal: healAside,
});

fault('a disk is full', {
  at: ['cache-c'], what: 'disk', text: /file system of cache.disk.path is full/,
  metric: ['hearsay_troubles{what="disk"}', 1], line: /the file system/,
  alerts: ['HearsayDiskFails cache-c'],
  inject: () => run(`head -c 200M /dev/zero >${kDisk}/fill 2>/dev/null || true`),
  heal: () => rmSync(`${kDisk}/fill`),
});

fault('the folder of a log is removed', {
  at: ['cache-c'], what: 'log', text: /log\.access: cannot open \S+ for appending: No such file or directory; .*folder/,
  metric: ['hearsay_troubles{what="log"}', 1], line: /log\.access: cannot open/,
  alerts: ['HearsayLogNotReopened cache-c'],
  inject: () => rmSync(kLog, { recursive: true }),
  heal: () => mkdirSync(kLog),
});

fault('segments are overwritten', {
  at: ['cache-c'], what: 'disk', text: /records in \S+ were damaged or unreadable \(\d so far\), and dropped: look whether another program writes there/,
  metric: ['hearsay_troubles{what="disk"}', 1], line: /of http:\S+large\S+ is damaged and was dropped/,
  lines: kLarges,
  alerts: ['HearsayDiskFails cache-c'],
  inject: async () => {
    const urls = Array.from({ length: kLarges }, (_, i) => site.origins[0].url(`/large/${i}`));
    const before = await c.metric('hearsay_disk_stored_total');
    for (const url of urls) await c.get(url);
    await until('they are on disk', async () => await c.metric('hearsay_disk_stored_total') >= before + kLarges
      && await c.metric('hearsay_disk_queued_bytes') === 0);
    run(`for one in ${kDisk}/cache/*.segment; do
      head -c $(stat -c %s $one) /dev/urandom | dd of=$one conv=notrunc bs=4096 seek=1 2>/dev/null; done`);
    for (const url of urls) c.ask(url);
  },
  heal: () => c.restart(),
});

fault('the folder of a cache is deleted', {
  at: ['cache-c'], what: 'disk', text: /disk\/cache was removed, emptied or unmounted while in use, so what it held is lost/,
  metric: ['hearsay_troubles{what="disk"}', 1], line: /the cache on disk rests: the directory or its content is gone/,
  alerts: ['HearsayDiskFails cache-c'],
  inject: () => rmSync(`${kDisk}/cache`, { recursive: true }),
  heal: () => c.restart(),
});

fault('settings are broken', {
  at: ['cache-d'], what: 'settings', text: /settings\.json, line 1, column \d+, thread: is not a setting; did you mean "threads"\?/,
  metric: ['hearsay_troubles{what="settings"}', 1], line: /is not a setting|the settings were not reloaded/,
  lines: 2, // the fault, and what becomes of it
  alerts: ['HearsaySettingsNotInForce cache-d'],
  inject: () => d.reload({ thread: 3 }),
  heal: () => d.reload({ thread: undefined }),
});

fault('a certificate of a mapped origin is from nobody', {
  at: ['cache-e'], what: 'origin', which: `https://${kAside}:443`, text: kUnverified,
  metric: ['hearsay_troubles{what="origin"}', 1], line: kUnverified,
  alerts: ['HearsayOriginFails cache-e'],
  inject: async () => {
    await secure.start();
    site.onTick = () => site.ticks % 5 || e.ask(`http://wares.test/${site.ticks}`, `/${site.ticks}`);
  },
  heal: () => {
    site.onTick = undefined;
    secure.stop();
    e.reload({ reverse: [] });
  },
});

fault('a certificate of an origin that clients name is from nobody', {
  at: ['cache-d'], which: `https://${kAside}:443`, text: kUnverified, line: kUnverified,
  alerts: [],
  inject: async () => {
    await secure.start();
    site.onTick = () => site.ticks % 5 || d.ask(`https://${kAside}/${site.ticks}`);
  },
  heal: () => {
    site.onTick = undefined;
    secure.stop();
  },
});

fault('a port is in use', {
  at: [],
  alerts: [],
  inject: async () => {
    assert.match(b.runAgain(), /cannot bind to 10\.77\.0\.2:3128: Address already in use \(another program has this port; stop it/);
  },
  heal: () => {},
});

fault('a clock is set back by an hour', {
  at: ['cache-d'], what: 'clock', text: /behind the origins' clocks/,
  metric: ['hearsay_clock_skew_seconds', 3600], line: /the clock of this machine (is \d+ s|was set) b/,
  lines: 3,
  alerts: ['HearsayClockWrong cache-d'],
  inject: () => setClockAhead(-3600),
  heal: () => setClockAhead(0),
});

fault('a clock is two hours ahead', {
  at: ['cache-d'], what: 'clock', text: /ahead of the origins' clocks/,
  metric: ['hearsay_clock_skew_seconds', -7200], line: /the clock of this machine (is \d+ s|was set) ahead/,
  lines: 3, // that it was set, and what origins say before and after that is seen
  alerts: ['HearsayClockWrong cache-d'],
  inject: () => setClockAhead(7200),
  heal: () => setClockAhead(0),
});

fault('256 descriptors', {
  at: ['cache-e'], what: 'descriptors', text: /descriptors/,
  metric: ['hearsay_troubles{what="descriptors"}', 1], line: /descriptors/,
  alerts: ['HearsayDescriptorsShort cache-e'],
  inject: () => e.restart(['prlimit', '--nofile=256']),
  heal: () => e.restart(),
});

fault('96 MiB of memory', {
  at: ['cache-a'], what: 'memory', text: /memory/,
  metric: ['hearsay_troubles{what="memory"}', 1], line: /memory/,
  alerts: ['HearsayMemoryShort cache-a'],
  inject: () => a.restart(limitMemory(96)),
  // The defaults fit, from now on.
  heal: () => {
    a.write({ cache: {} });
    return a.restart(limitMemory(96));
  },
});

// Causes of the other alerts. They are no lasting state of a proxy, so that only the alerts are
// looked at. (HearsayHitsSlow has none here: whatever slows the hits of a process from outside slows
// its answers to Prometheus, too.)
function cause(title, { alerts, inject, heal }) {
  const skip = !new RegExp(process.env.ONLY ?? '').test(title);
  test(title, { skip }, () => rounds.alarm(title, alerts, inject, heal));
}

let crowd = [];

cause('nothing can be fetched from origins that are unknown so far', {
  alerts: ['HearsayRequestsFail cache-b'],
  inject: () => {
    let port = 1000;
    site.onTick = () => { port += 1; b.ask(`http://10.77.0.100:${port}/`); };
  },
  heal: () => { site.onTick = undefined; },
});

cause('a proxy starts again and again', {
  alerts: ['HearsayRestarts cache-d'],
  inject: async () => { for (let i = 0; i < 3; i += 1) await restartSlowly(d); },
  heal: () => {},
});

cause('clients take all connections for which 200 descriptors are enough', {
  alerts: ['HearsayDescriptorsShort cache-b'],
  inject: async () => {
    await b.restart(['prlimit', '--nofile=200']);
    crowd = b.crowd(300);
  },
  heal: () => {
    crowd.forEach((socket) => socket.destroy());
    return b.restart();
  },
});

cause('clients take all connections', {
  alerts: ['HearsayConnectionsShort cache-e'],
  inject: async () => {
    e.write({ limits: { connections: 40 } });
    await e.restart();
    crowd = e.crowd(100);
  },
  heal: () => {
    crowd.forEach((socket) => socket.destroy());
    e.write({ limits: { connections: 4000 } });
    return e.restart();
  },
});

cause('the reader of the access log does not read', {
  alerts: ['HearsayLogLosesLines cache-c'],
  inject: async () => {
    c.write({ log: { access: 'stdout' } });
    await c.restart();
    c.process.stdout.pause();
    site.onTick = () => { for (let i = 0; i < 50; i += 1) c.ask(`http://127.0.0.1/${'x'.repeat(8000)}`); };
  },
  heal: () => {
    site.onTick = undefined;
    c.write({ log: { access: 'none' } });
    return c.restart();
  },
});
