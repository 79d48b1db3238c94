// A table that is sorted by the column whose head somebody presses.
import { make, say } from './dom.js';

const text = new Intl.Collator('en', { numeric: true });

// Unknown values come last, in either direction.
function order(one, other, descending) {
  if (one === other) return 0;
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  const by = typeof one === 'string' ? text.compare(one, other) : one - other;
  return descending ? -by : by;
}

function replace(cell, shown) {
  const isFocused = cell.contains(document.activeElement);
  cell.replaceChildren(shown);
  if (isFocused) shown.focus({ preventScroll: true });
}

export class SortableTable {
  // `columns`: [{head, value(row), show(row), largest}]. `value`: a number, a text or null, by which
  // rows are sorted; `show`: {text, exact}, or an element that stays as it is while the row has the
  // same key; `largest`: the largest come first at the first press. `key(row)`: its identity.
  constructor({ caption, columns, key, sort }) {
    Object.assign(this, { columns, key, sort, descending: Boolean(columns[sort].largest) });
    this.made = new Map();  // by key: {row, cells}
    this.rows = [];
    this.heads = columns.map(({ head }, i) => make('th', { scope: 'col' },
      make('button', { type: 'button', class: 'sort', onclick: () => this.press(i) }, head)));
    this.body = make('tbody');
    this.element = make('div', { class: 'scrolled', tabindex: '0', role: 'region', 'aria-label': caption },
      make('table', { class: 'sortable' }, make('caption', { class: 'unseen' }, caption),
        make('thead', {}, make('tr', {}, this.heads)), this.body));
  }

  press(column) {
    this.descending = column === this.sort ? !this.descending : Boolean(this.columns[column].largest);
    this.sort = column;
    this.draw();
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    const { value } = this.columns[this.sort];
    this.heads.forEach((head, i) => {
      if (i !== this.sort) head.removeAttribute('aria-sort');
      else head.setAttribute('aria-sort', this.descending ? 'descending' : 'ascending');
    });
    const sorted = [...this.rows].sort((one, other) => order(value(one), value(other), this.descending)
      || text.compare(this.key(one), this.key(other)));
    const elements = sorted.map((row) => this.fill(row));
    const isSame = elements.length === this.body.children.length && elements.every((one, i) => one === this.body.children[i]);
    if (!isSame) this.place(elements);
  }

  // A moved element loses the focus, so that is given back.
  place(elements) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...elements);
    focused?.focus({ preventScroll: true });
  }

  fill(row) {
    const key = this.key(row);
    let made = this.made.get(key);
    if (!made) {
      const cells = this.columns.map(({ head }, i) => (i === 0 ? make('th', { scope: 'row' }) : make('td', { 'data-head': head })));
      made = { element: make('tr', { 'data-row': key }, cells), cells };
      this.made.set(key, made);
    }
    this.columns.forEach(({ show }, i) => {
      const cell = made.cells[i];
      const shown = show(row);
      if (!(shown instanceof Element)) say(cell, shown.text, shown.exact ?? '');
      else if (cell.firstElementChild?.outerHTML !== shown.outerHTML) replace(cell, shown);
    });
    return made.element;
  }
}
