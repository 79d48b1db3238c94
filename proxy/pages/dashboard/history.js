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

  // News that come while the samples are loaded; null: they are not.
  #waiting = null;

  // One load at a time, so that a slow line gets no more of them than it can carry.
  async reload() {
    if (this.#waiting) return;
    this.#waiting = [];
    try {
      [this.hour, this.day] = [await load('hour'), await load('day')];
    } finally {
      const missed = this.#waiting;
      this.#waiting = null;
      for (const news of missed) this.#append(news);
    }
  }

  // Adds the news of one second. If seconds were missed, all are loaded anew.
  add(news) {
    if (this.#waiting) {
      this.#waiting.push(news);
    } else if (this.hour && news.end > this.hour.end + 1) {
      this.reload().catch(() => {});
    } else {
      this.#append(news);
    }
  }

  #append({ end, sample }) {
    const hour = this.hour;
    if (!hour || end <= hour.end) return;
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
