// A real Prometheus that watches the site with the alerts of config/alerts.yml.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../browser/site.mjs';

const kPort = 9090;
const kAlerts = new URL('../../config/alerts.yml', import.meta.url);

// For this test a minute lasts a second: each duration of the alerts ("for: 5m", "[10m]") becomes as
// many seconds. Prometheus asks and judges once a second.
export function hurried(alerts) {
  return alerts.replace(/\b(\d+)m\b/g, '$1s');
}

export class Prometheus {
  async start(proxies) {
    const folder = path.join(process.env.TMPDIR, 'prometheus');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'alerts.yml'), hurried(readFileSync(kAlerts, 'utf8')));
    const targets = proxies.map(({ name, address, port }) => ({ targets: [`${address}:${port}`], labels: { instance: name } }));
    writeFileSync(path.join(folder, 'prometheus.yml'), JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [{ job_name: 'hearsay', static_configs: targets }],
    }));
    this.process = spawn('prometheus', [`--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${kPort}`], { stdio: 'ignore' });
    await until('Prometheus serves', () => this.firing().then(() => true, () => false));
    this.forget();
    this.watch = setInterval(() => this.look().catch(() => {}), 300);
  }

  // The alerts that fire now: "HearsayPeerDown cache-a cache-b", with the peer where there is one.
  async firing() {
    const answer = await fetch(`http://127.0.0.1:${kPort}/api/v1/alerts`, { signal: AbortSignal.timeout(3000) });
    const { data } = await answer.json();
    return data.alerts.filter(({ state }) => state === 'firing')
      .map(({ labels }) => [labels.alertname, labels.instance, labels.peer].filter(Boolean).join(' ')).sort();
  }

  // `seen`: every alert that has fired since this.
  forget() {
    this.seen = new Set();
  }

  async look() {
    for (const alert of await this.firing()) this.seen.add(alert);
  }

  stop() {
    clearInterval(this.watch);
    this.process?.kill('SIGKILL');
  }
}
