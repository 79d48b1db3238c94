// Areas over time, stacked, as SVG. Values are per second.
import { make, say, svg } from './dom.js';
import { clock } from './units.js';

const kHeight = 132;
const kBottom = 18;  // for the time
const kTop = 14;

// A round number that is not less.
function roundUp(value, base) {
  if (value <= 0) return 1;
  const power = base ** Math.floor(Math.log(value) / Math.log(base));
  const steps = base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 5, 10];
  return power * steps.find((step) => step * power >= value);
}

// The means of the last `columns` groups of `size` samples; null where there is none. The groups
// begin at fixed times, so that a column keeps its value while time goes on.
function meansOf(numbers, { end, step_seconds: step }, size, columns) {
  const newest = end / step - 1;
  const first = Math.floor(newest / size) - columns + 1;
  const sums = Array.from({ length: columns }, () => ({ sum: 0, samples: 0 }));
  for (let back = 0; back < numbers.length; back += 1) {
    const group = sums[Math.floor((newest - back) / size) - first];
    if (!group) break;
    group.sum += numbers[numbers.length - 1 - back];
    group.samples += 1;
  }
  return sums.map(({ sum, samples }) => (samples > 0 ? sum / samples / step : null));
}

export class Chart {
  // `layers`: [{name, label, read(span)}] from the lowest one up; `unit(value)` is {text, exact}.
  constructor({ title, layers, unit, base = 10 }) {
    Object.assign(this, { layers, unit, base });
    this.pointed = null;  // the column under the pointer
    this.view = svg('svg', { class: 'chart', role: 'img', tabindex: '0', height: kHeight });
    this.legend = make('dl', { class: 'legend' }, layers.map(({ name, label }) => make('div', {},
      make('dt', {}, make('span', { class: `key ${name}` }), label), make('dd', { 'data-layer': name }))));
    this.when = make('p', { class: 'when' });
    this.element = make('figure', { class: 'over-time' },
      make('figcaption', {}, make('h3', {}, title), this.when), this.legend, this.view);
    this.title = title;
    this.view.addEventListener('pointermove', (event) => this.point(event.offsetX));
    this.view.addEventListener('pointerleave', () => this.point(null));
    this.view.addEventListener('blur', () => this.point(null));
    this.view.addEventListener('keydown', (event) => this.step(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(span, length) {
    Object.assign(this, { span, length });
    this.draw();
  }

  point(x) {
    this.pointed = x === null ? null : Math.floor((x / this.width) * this.columns);
    this.draw();
  }

  step(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.columns) return;
    event.preventDefault();
    const from = this.pointed ?? this.columns;
    this.pointed = Math.max(0, Math.min(this.columns - 1, from + by));
    this.draw();
  }

  draw() {
    this.width = this.element.clientWidth;
    if (!this.span || this.width < 40) return;
    const size = Math.ceil(this.length / (this.width / 2));
    this.columns = Math.ceil(this.length / size);
    this.values = this.layers.map(({ read }) => meansOf(read(this.span), this.span, size, this.columns));
    const totals = this.values[0].map((_, column) => this.total(column, this.values.length));
    this.most = roundUp(Math.max(...totals), this.base);
    this.view.setAttribute('viewBox', `0 0 ${this.width} ${kHeight}`);
    this.view.replaceChildren(...this.grid(), ...this.layers.map((_, layer) => this.area(layer)),
      ...this.cursor());
    this.tell();
  }

  total(column, layers) {
    let sum = 0;
    for (let layer = 0; layer < layers; layer += 1) sum += this.values[layer][column] ?? 0;
    return sum;
  }

  y(value) {
    return kHeight - kBottom - (value / this.most) * (kHeight - kBottom - kTop);
  }

  x(column) {
    return ((column + 0.5) * this.width) / this.columns;
  }

  area(layer) {
    const upper = [];
    const lower = [];
    for (let column = 0; column < this.columns; column += 1) {
      if (this.values[layer][column] === null) continue;
      const x = this.x(column).toFixed(1);
      upper.push(`${x},${this.y(this.total(column, layer + 1)).toFixed(1)}`);
      lower.unshift(`${x},${this.y(this.total(column, layer)).toFixed(1)}`);
    }
    const points = upper.length > 0 ? `M${upper.join('L')}L${lower.join('L')}Z` : '';
    return svg('path', { class: `area ${this.layers[layer].name}`, d: points });
  }

  grid() {
    const half = this.most / 2;
    const lines = [half, this.most].map((value) => [
      svg('line', { class: 'grid', x1: 0, x2: this.width, y1: this.y(value), y2: this.y(value) }),
      svg('text', { class: 'axis', x: 0, y: this.y(value) - 3 }, `${this.unit(value).text}`)]);
    const base = svg('line', { class: 'grid', x1: 0, x2: this.width, y1: this.y(0), y2: this.y(0) });
    const times = [0, 0.5, 1].map((part) => svg('text',
      { class: 'axis', x: part * this.width, y: kHeight - 4, 'text-anchor': ['start', 'middle', 'end'][part * 2] },
      clock(this.time(part), false)));
    return [base, ...lines.flat(), ...times];
  }

  time(part) {
    return this.span.end - (1 - part) * this.length * this.span.step_seconds;
  }

  cursor() {
    if (this.pointed === null) return [];
    const x = this.x(Math.min(this.pointed, this.columns - 1));
    return [svg('line', { class: 'cursor', x1: x, x2: x, y1: kTop, y2: kHeight - kBottom })];
  }

  // The legend's values: at the pointer, else at the end.
  tell() {
    const column = Math.min(this.pointed ?? this.columns - 1, this.columns - 1);
    say(this.when, this.pointed === null ? '' : clock(this.time((column + 1) / this.columns)));
    const words = this.layers.map(({ name, label }, layer) => {
      const value = this.unit(this.values[layer][column] ?? null);
      say(this.legend.querySelector(`[data-layer=${name}]`), value.text, value.exact);
      return `${label}: ${value.text}`;
    });
    this.view.setAttribute('aria-label', `${this.title}. ${words.join(', ')}. Arrow keys move through time.`);
  }
}
