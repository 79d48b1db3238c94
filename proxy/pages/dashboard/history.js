// The samples of the last hour and the last day.
import { ask } from './dom.js';

export const kSeries = ['requests', 'hits', 'failed', 'refused', 'sent_bytes', 'cache_bytes',
  'neighbour_bytes', 'origin_bytes'];
const kHour = 3600;
const load = (span) => ask(`/hearsay/history?span=${span}`);

// A sample in each row, the oldest first; nothing yet: none.
export function rowsOf(span) {
  const number = span?.requests.length ?? 0;
  return Array.from({ length: number }, (_, i) => ({
    time: new Date(1000 * (span.end - (number - i) * span.step_seconds)).toISOString(),
    seconds: span.step_seconds,
    ...Object.fromEntries(kSeries.map((name) => [name, span[name][i]])),
  }));
}

export class History {
  hour = null;
  day = null;

  async reload() {
    this.hour = await load('hour');
    this.day = await load('day');
  }

  // Adds the news of one second. If seconds were missed, all are loaded anew.
  add({ end, sample }) {
    const hour = this.hour;
    if (!hour || end <= hour.end) return;
    if (end > hour.end + 1) {
      this.reload().catch(() => {});
      return;
    }
    for (const name of kSeries) {
      hour[name].push(sample[name]);
      if (hour[name].length > kHour) hour[name].shift();
    }
    hour.end = end;
    if (end % 60 === 0) load('day').then((day) => { this.day = day; }).catch(() => {});
  }

  // The sum of a series over the last seconds of the hour.
  sum(name, seconds = kHour) {
    if (!this.hour) return null;
    return this.hour[name].slice(-seconds).reduce((all, one) => all + one, 0);
  }
}
