// One fault from its beginning to its end: what is told of it, how soon, and which alerts fire.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../browser/site.mjs';
import { healthOf, originsOf, sampleOf } from './views.mjs';

const kSeconds = 5;
const kPlaces = ['/health or /hearsay/origins', 'dashboard', 'metric', 'log'];
const kNotTold = { took: 0 };  // a place that need not tell of the fault

// Milliseconds from `begun` until `sees(note)` is true; null if that takes twice as long as it may.
// `note(x)` remembers what was seen instead.
async function soon(begun, sees) {
  let last;
  const note = (seen) => {
    last = typeof seen === 'string' ? seen : JSON.stringify(seen);
    return seen;
  };
  while (Date.now() - begun < 2000 * kSeconds) {
    if (await sees(note).catch((error) => note(String(error)) && false)) return { took: Date.now() - begun };
    await pause(100);
  }
  return { took: null, last };
}

export class Rounds {
  constructor(site, dashboards, prometheus) {
    Object.assign(this, { site, dashboards, prometheus });
  }

  // All five proxies say so, at every place but the log.
  async allIsWell() {
    let state;
    await until(() => `all is well: ${state}`, async () => {
      const told = await Promise.all(this.site.proxies.map(async (proxy) => {
        const { status } = await healthOf(proxy).catch(() => ({ status: 'no answer' }));
        return [proxy.name, status, await this.dashboards.read(proxy).catch(String)];
      }));
      const ill = told.filter(([, status, text]) => status !== 'ok' || text !== 'All is well');
      const firing = await this.prometheus.firing();
      state = JSON.stringify([firing, ill]);
      return firing.length + ill.length === 0;
    }, 40);
  }

  // When the proxy tells of the fault, at each of kPlaces.
  look(proxy, fault, begun, since) {
    const { what, which, text, metric, line } = fault;
    const reason = (one) => one.what === what && one.which === which && text.test(one.text);
    const noted = ({ notes }) => notes.some((one) => one.origin === which && text.test(one.text));
    return Promise.all([
      what ? soon(begun, async (note) => note(await healthOf(proxy)).reasons.some(reason))
        : soon(begun, async (note) => noted(note(await originsOf(proxy)))),
      soon(begun, async (note) => text.test(note(await this.dashboards.read(proxy, what ? '#health' : '#origins')))),
      metric ? soon(begun, async (note) => note(await sampleOf(proxy, metric[0])) === metric[1]) : kNotTold,
      line ? soon(begun, async (note) => note(proxy.warnings(since)).some((one) => line.test(one))) : kNotTold,
    ]);
  }

  // `at`: the names of the proxies that tell of it. `what`, `which`: its reason in /health; without
  // `what`, it is a note on the origin `which`. `text`: what a person reads there and on the
  // dashboard. `metric`: a sample and its value, or none. `line`: the only warning in the log, or
  // none. `alerts`: all that fire. `inject` and `heal`: begin and end it; both may start proxies
  // anew, whose log then counts from its beginning.
  async run(title, fault) {
    const { at, alerts, inject, heal } = fault;
    const since = new Map(this.site.proxies.map((proxy) => [proxy, proxy.lines.length]));
    this.prometheus.forget();
    const begun = Date.now();
    let places;
    let alerted;
    let lines;
    let restarted = [];
    try {
      restarted = (await inject()) ?? [];
      for (const name of restarted) since.set(this.site.named(name), 0);
      places = await Promise.all(at.map((name) => this.site.named(name))
        .map(async (proxy) => [proxy.name, await this.look(proxy, fault, begun, since.get(proxy))]));
      alerted = await soon(Date.now(), async (note) => {
        const firing = note(await this.prometheus.firing());
        return alerts.every((alert) => firing.includes(alert));
      });
      lines = this.site.proxies.map((proxy) => [proxy.name, proxy.warnings(since.get(proxy))]);
    } finally {
      await heal();
    }
    await this.allIsWell();
    this.print(title, places, alerted, begun);
    this.judge(fault, places, alerted, lines, restarted);
  }

  // The same for a cause of which alerts alone tell.
  async alarm(title, alerts, inject, heal) {
    this.prometheus.forget();
    const begun = Date.now();
    try {
      await inject();
      await until(() => `the alerts: ${[...this.prometheus.seen]}`, () => alerts.every((alert) => this.prometheus.seen.has(alert)), 25);
    } finally {
      await heal();
    }
    const took = Date.now() - begun;
    await this.allIsWell();
    console.log(`# ${title}: its alerts after ${took} ms; well again after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    assert.deepEqual([...this.prometheus.seen].sort(), alerts);
  }

  print(title, places, alerted, begun) {
    const slowest = kPlaces.map((place, i) => {
      const times = places.map(([, views]) => views[i].took);
      return `${place} ${times.includes(null) ? 'never' : Math.max(0, ...times)}`;
    });
    const rest = `${alerted.took ?? 'never'} ms; well again after ${((Date.now() - begun) / 1000).toFixed(1)} s`;
    console.log(`# ${title}: told after (ms) ${slowest.join(', ')}; its alerts after another ${rest}`);
  }

  judge({ at, alerts, line, lines: most = 1 }, places, alerted, lines, restarted) {
    const late = places.flatMap(([name, views]) => views.map(({ took, last }, i) => ({ name, place: kPlaces[i], took, last })))
      .filter(({ took }) => took === null || took > 1000 * kSeconds);
    // For a moment, neighbours really do without a proxy that starts anew.
    const isOfRestart = (one) => restarted.some((name) => one.includes(`peer ${name} is down`));
    const wrong = lines.map(([name, all]) => [name, all.filter((one) => !isOfRestart(one))])
      .filter(([name, all]) => (at.includes(name) && line ? all.length < 1 || all.length > most : all.length > 0) || !all.every((one) => line.test(one)));
    assert.deepEqual({ late, wrong, alerts: [...this.prometheus.seen].sort() }, { late: [], wrong: [], alerts });
    assert.notEqual(alerted.took, null, `not at the same time: ${alerted.last}`);
  }
}
