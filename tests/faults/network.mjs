// Five proxies, each in a network namespace of its own, on one bridge; origins and a scripted
// neighbour beside it; and a little traffic through all.
import { execFileSync, spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { Proxy, until } from '../browser/site.mjs';
import { kBody, kLarge, Liar, send } from './liar.mjs';

export const kNames = ['cache-a', 'cache-b', 'cache-c', 'cache-d', 'cache-e'];
const kPort = 3128;
const kOrigins = 4;
const address = (number) => `10.77.0.${number}`;

export function run(command) {
  execFileSync('/bin/sh', ['-ec', command], { stdio: ['ignore', 'ignore', 'inherit'] });
}

// The bridge is in the namespace of the test, and has the addresses of the origins.
function buildNetwork() {
  run(`ip link set lo up; ip link add lan type bridge; ip link set lan up; ip addr add ${address(254)}/24 dev lan`);
  for (let i = 0; i <= kOrigins; i += 1) run(`ip addr add ${address(100 + i)}/24 dev lan`);
  run(`ip addr add ${address(253)}/24 dev lan`);
  kNames.forEach((name, i) => run(`ip netns add ${name}
    ip link add port-${i} type veth peer name eth0 netns ${name}
    ip link set port-${i} master lan up
    ip -n ${name} link set lo up; ip -n ${name} link set eth0 up
    ip -n ${name} addr add ${address(i + 1)}/24 dev eth0; ip -n ${name} route add default via ${address(254)}`));
}

// Answers every request with the same, at once or so many milliseconds later; with null, never.
export class Origin {
  delay = 0;

  constructor(host) {
    this.host = host;
  }

  start() {
    this.server = http.createServer(({ url }, response) => {
      if (this.delay === 0) send(response, url.startsWith('/large') ? kLarge : kBody);
      else if (this.delay !== null) setTimeout(() => send(response, kBody), this.delay);
    });
    return new Promise((resolve) => this.server.listen(80, this.host, resolve));
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }

  url(target) {
    return `http://${this.host}${target}`;
  }
}

// An origin whose certificate nobody knows.
export class SecureOrigin extends Origin {
  start() {
    const [key, certificate] = ['key', 'certificate'].map((name) => `${process.env.TMPDIR}/${name}.pem`);
    run(`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=${this.host} -keyout ${key} -out ${certificate} 2>/dev/null`);
    this.server = https.createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) => send(response, kBody));
    return new Promise((resolve) => this.server.listen(443, this.host, resolve));
  }
}

// Knows all names, as those of one origin, for a second each. Says nothing while it is `silent`.
class NameServer {
  constructor(host, origin) {
    Object.assign(this, { host, address: origin.host.split('.').map(Number), silent: false });
  }

  start() {
    this.socket = dgram.createSocket('udp4').on('message', (query, { address: to, port }) => {
      if (!this.silent) this.socket.send(this.answer(query), port, to);
    });
    const file = `${process.env.TMPDIR}/resolv.conf`;
    writeFileSync(file, `nameserver ${this.host}\n`);
    run(`mount --bind ${file} /etc/resolv.conf`);
    return new Promise((resolve) => this.socket.bind(53, this.host, resolve));
  }

  // RFC 1035 section 4.1. Only a question for an IPv4 address has an answer.
  answer(query) {
    const end = query.indexOf(0, 12) + 5;
    const known = query.readUInt16BE(end - 4) === 1;
    const head = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, known ? 1 : 0, 0, 0, 0, 0]);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...this.address]);
    return Buffer.concat([head, query.subarray(12, end), known ? record : Buffer.alloc(0)]);
  }

  stop() {
    this.socket.close();
  }
}

// A proxy of the site: a shared piece of the tests of the dashboard, in a namespace.
export class SiteProxy extends Proxy {
  constructor(name, settings) {
    super(name, kPort, settings, address(1 + kNames.indexOf(name)));
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 8, timeout: 3000 });
  }

  // `around`: a command that becomes the program, such as prlimit's.
  async begin(around = []) {
    await super.start(['nsenter', `--net=/run/netns/${this.name}`, ...around, process.env.program]);
  }

  // Asks for the URL, and does not care what becomes of it.
  // `target`: what the request line says.
  ask(url, target = url) {
    const request = http.get({ host: this.address, port: kPort, path: target, agent: this.agent,
      headers: { Host: new URL(url).host } }, (response) => response.resume());
    request.setTimeout(3000, () => request.destroy());
    request.on('error', () => {});
  }

  // So many connections, each with a request for a URL of its own, then idle.
  crowd(number, host = address(100)) {
    return Array.from({ length: number }, (_, i) => {
      const socket = net.connect({ host: this.address, port: kPort }).on('error', () => {}).resume();
      socket.write(`GET http://${host}/crowd/${i} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return socket;
    });
  }

  // Returns its name: its log begins anew.
  async restart(around) {
    await this.end('SIGKILL');
    await this.begin(around);
    return [this.name];
  }

  // Starts the program once more beside the one that serves. Returns what it says until it fails.
  runAgain() {
    return spawnSync('nsenter', [`--net=/run/netns/${this.name}`, process.env.program, 'serve', '--config', this.file],
      { encoding: 'utf8', timeout: 5000 }).stderr;
  }

  reload(changes) {
    this.write(changes);
    this.process.kill('SIGHUP');
  }

  get lines() {
    return this.said.split('\n').slice(0, -1);
  }

  // The warnings and errors among its lines from the `since`-th on.
  warnings(since = 0) {
    return this.lines.slice(since).filter((line) => /\[(warning|error|critical)\]/.test(line));
  }
}

export class Site {
  constructor(settingsOf) {
    this.origins = Array.from({ length: kOrigins }, (_, i) => new Origin(address(100 + i)));
    this.names = new NameServer(address(254), this.origins[0]);
    this.liar = new Liar(address(100 + kOrigins), this.origins);
    this.proxies = kNames.map((name) => new SiteProxy(name, settingsOf(name, this.peersOf(name))));
  }

  // `aroundOf`: see SiteProxy.begin().
  async start(aroundOf) {
    buildNetwork();
    await Promise.all([...this.origins, this.liar, this.names].map((server) => server.start()));
    await Promise.all(this.proxies.map((proxy) => proxy.begin(aroundOf(proxy.name))));
    await until('the digests are in use', async () => {
      const digests = await Promise.all(this.proxies.map((proxy) => proxy.digest()));
      return digests.every(({ peers }) => peers.every(({ state }) => state === 'usable'));
    });
    this.traffic = setInterval(() => this.tick(), 50);
  }

  peersOf(name) {
    return kNames.filter((other) => other !== name)
      .map((other) => ({ name: other, url: `http://${address(1 + kNames.indexOf(other))}:${kPort}` }));
  }

  named(name) {
    return this.proxies[kNames.indexOf(name)];
  }

  // Each proxy answers twenty requests a second: eight hits, eight that no proxy has, and four that
  // another proxy had to fetch a second before. One more is for an origin by its name. A fault may add requests
  // of its own: onTick.
  ticks = 20;

  tick() {
    this.ticks += 1;
    const fresh = (proxy, tick) => this.origins[tick % kOrigins].url(`/${proxy.name}/${tick}`);
    this.proxies.forEach((proxy, i) => {
      const kind = (this.ticks + i) % 5;
      if (kind < 2) proxy.ask(this.origins[0].url('/known'));
      else if (kind < 4) proxy.ask(fresh(proxy, this.ticks));
      else proxy.ask(fresh(this.proxies[(i + 1) % kNames.length], this.ticks - 20));
      if (this.ticks % 20 === i) proxy.ask(`http://shop.test/${proxy.name}/${this.ticks}`);
    });
    this.onTick?.();
  }

  async stop() {
    clearInterval(this.traffic);
    [...this.origins, this.liar, this.names].forEach((server) => server.stop());
    await Promise.all(this.proxies.map((proxy) => proxy.stop('SIGKILL')));
  }
}
