// A small site on loopback: a scripted origin and three proxies that are neighbours of each other.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

// Waits until `holds()` returns something true, and returns that. `what`: what is awaited, or a
// function that tells it once the wait was in vain.
export async function until(what, holds, seconds = 15) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${typeof what === 'function' ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function freePorts(number) {
  const servers = await Promise.all(Array.from({ length: number }, () => new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => resolve(server));
  })));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

// Every path is fresh for an hour, but /never/... is not stored, /fail hangs up, and /silent is answered
// once the test ends `silent`. `pages` has those that are more than filling: { path: [type, body] }.
export class Origin {
  static async start(pages = {}) {
    const origin = new Origin();
    origin.server = http.createServer((request, response) => {
      const url = new URL(request.url, 'http://origin');
      const page = pages[url.pathname];
      if (page) {
        response.writeHead(200, { 'Cache-Control': 'max-age=3600', 'Content-Type': page[0] });
        return response.end(page[1]);
      }
      if (url.pathname === '/fail') return request.socket.destroy();
      if (url.pathname === '/silent') {
        origin.silent = response;
        return undefined;
      }
      const size = Number(url.searchParams.get('size') ?? 1024);
      const storing = url.pathname.startsWith('/never') ? 'no-store' : 'max-age=3600';
      response.writeHead(200, { 'Cache-Control': storing, 'Content-Type': 'text/plain' });
      return response.end(Buffer.alloc(size, 'hearsay '));
    });
    await new Promise((resolve) => origin.server.listen(0, '127.0.0.1', resolve));
    return origin;
  }

  url(target) {
    return `http://127.0.0.1:${this.server.address().port}${target}`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

export class Proxy {
  constructor(name, port, settings, address = '127.0.0.1') {
    Object.assign(this, { name, port, address });
    this.folder = mkdtempSync(path.join(os.tmpdir(), 'hearsay-browser-'));
    this.file = path.join(this.folder, 'settings.json');
    this.settings = {
      name, listen: [`${address}:${port}`], threads: 2, user: 'root', log: { access: 'none' },
      access: { deny_to: ['link-local'] }, digest: { period: '100ms', poll: '200ms', duplicates: 'always', prefer: 'neighbours', check_sample: 0, false_miss_sample: 0, site_collapse: 'off' },
      ...settings,
    };
    this.write({});
  }

  // Writes the file of its settings, some of them changed.
  write(changes) {
    Object.assign(this.settings, changes);
    writeFileSync(this.file, JSON.stringify(this.settings));
  }

  // `program` may be a command that becomes the program, such as nsenter's, as a list of words.
  async start(program) {
    this.said = '';
    const [command, ...words] = [program, 'serve', '--config', this.file].flat();
    this.process = spawn(command, words);
    this.process.stderr.on('data', (text) => { this.said += text; });
    this.process.stdout.resume();
    await until(() => `${this.name} serves: ${this.said}`, () => this.page('/health').then(() => true, () => false));
  }

  url(target) {
    return `http://${this.address}:${this.port}${target}`;
  }

  async page(target) {
    return (await fetch(this.url(target), { signal: AbortSignal.timeout(3000) })).text();
  }

  async digest() {
    return JSON.parse(await this.page('/digest'));
  }

  // The sum of all samples of /metrics that begin with this text, or match this pattern.
  async metric(wanted) {
    const fits = (line) => (wanted instanceof RegExp ? wanted.test(line) : line.startsWith(wanted));
    const lines = (await this.page('/metrics')).split('\n').filter(fits);
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  // Asks for the URL through this proxy. Returns the status and the length of the body.
  get(url, fields = {}) {
    return new Promise((resolve, reject) => {
      const request = http.get({ host: this.address, port: this.port, path: url, agent: false,
        headers: { Host: new URL(url).host, ...fields } }, (response) => {
        let length = 0;
        response.on('data', (bytes) => { length += bytes.length; });
        response.on('end', () => resolve({ status: response.statusCode, fields: response.headers, length }));
        response.on('error', reject);
      });
      request.on('error', reject);
    });
  }

  async end(signal = 'SIGTERM') {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.kill(signal);
    await gone;
  }

  async stop(signal) {
    await this.end(signal);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// Three proxies that know each other, once each uses the digests of the others.
export async function startSite(program) {
  const ports = await freePorts(3);
  const names = ['cache-a', 'cache-b', 'cache-c'];
  const proxies = names.map((name, i) => new Proxy(name, ports[i], {
    peers: names.map((peer, j) => ({ name: peer, url: `http://127.0.0.1:${ports[j]}` })).filter((_, j) => j !== i),
  }));
  await Promise.all(proxies.map((proxy) => proxy.start(program)));
  await until('the digests are in use', async () => {
    const digests = await Promise.all(proxies.map((proxy) => proxy.digest()));
    return digests.every(({ peers }) => peers.every(({ state }) => state === 'usable'));
  });
  return proxies;
}
