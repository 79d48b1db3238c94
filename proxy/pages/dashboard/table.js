// A table: sorted by the column whose head somebody presses, searched if it is long, saved as a file.
import { make, say } from './dom.js';
import { offer } from './export.js';

const kLong = 12;  // rows
const text = new Intl.Collator('en', { numeric: true });

// Unknown values come last, in either direction.
function order(one, other, descending) {
  if (one === other) return 0;
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  const by = typeof one === 'string' ? text.compare(one, other) : one - other;
  return descending ? -by : by;
}

function put(cell, shown) {
  if (!(shown instanceof Element)) return say(cell, shown.text ?? shown, shown.exact ?? shown);
  if (cell.innerHTML === shown.outerHTML) return undefined;
  const isFocused = cell.contains(document.activeElement);
  cell.replaceChildren(shown);
  if (isFocused) shown.focus({ preventScroll: true });
  return undefined;
}

export class Table {
  // `columns`: [{head, of, show}]. `of`: a number, a text or null by which rows are sorted, as the name of a
  // fact of the row or as of(row); a column without it is not sorted. show(value, row): a text, {text, exact},
  // or an element that stays while it is the same; without it, the value is shown. The first column names the
  // row, and ascends at the first press; the others descend. `sort`: the column by which rows are sorted at
  // first. `what`: a word for the names of the files; without it, nothing is saved. `nothing`: told for no rows.
  constructor({ caption, columns, sort = 1, what, nothing }) {
    Object.assign(this, { sort, nothing, descending: sort > 0, made: new Map(), rows: [], found: [] });
    this.columns = columns.map(({ head, of, show = (value) => value }) =>
      ({ head, show, isSorted: Boolean(of), of: typeof of === 'function' ? of : (row) => row[of] }));
    this.heads = this.columns.map(({ head, isSorted }, i) => make('th', { scope: 'col' },
      isSorted ? make('button', { type: 'button', class: 'sort', onclick: () => this.press(i) }, head) : make('span', { class: 'unseen' }, head)));
    this.body = make('tbody');
    this.search = make('input', { type: 'search', class: 'small', placeholder: 'Search', 'aria-label': `Search: ${caption}`, oninput: () => this.draw() });
    this.exports = make('span', { class: 'exports' }, what ? offer(what, () => this.found) : []);
    this.none = make('p', { class: 'hint' });
    this.scrolled = make('div', { class: 'scrolled', tabindex: '0', role: 'region', 'aria-label': caption },
      make('table', {}, make('thead', {}, make('tr', {}, this.heads)), this.body));
    this.element = make('div', { class: 'table' },
      make('div', { class: 'heading' }, make('h3', {}, caption), make('span', { class: 'controls' }, this.search, this.exports)),
      this.none, this.scrolled);
  }

  press(column) {
    this.descending = column === this.sort ? !this.descending : column > 0;
    this.sort = column;
    this.draw();
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  draw() {
    const { of } = this.columns[this.sort];
    const name = this.columns[0].of;
    this.heads.forEach((head, i) => { head.ariaSort = i !== this.sort ? null : this.descending ? 'descending' : 'ascending'; });
    const made = new Map();
    const sorted = this.rows.toSorted((one, other) => order(of(one), of(other), this.descending) || text.compare(name(one), name(other)));
    const wanted = this.search.value.trim().toLowerCase();
    const found = sorted.map((row) => [row, this.fill(row, made)]).filter(([, element]) => element.textContent.toLowerCase().includes(wanted));
    Object.assign(this, { made, found: found.map(([row]) => row) });
    this.place(found.map(([, element]) => element));
    this.search.hidden = !wanted && sorted.length < kLong;
    this.exports.hidden = this.scrolled.hidden = found.length === 0;
    say(this.none, sorted.length === 0 ? this.nothing : found.length === 0 ? 'No row has this.' : '');
  }

  // A moved element loses the focus, so that is given back.
  place(elements) {
    const { children } = this.body;
    if (elements.length === children.length && elements.every((one, i) => one === children[i])) return;
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...elements);
    focused?.focus({ preventScroll: true });
  }

  // The row's element, which goes to `made`: that of the last drawing, if there was one.
  fill(row, made) {
    let key = this.columns[0].of(row);
    while (made.has(key)) key += ' again';
    const element = this.made.get(key) ?? make('tr', { 'data-row': key }, this.columns.map(({ head, isSorted }, i) =>
      (i === 0 ? make('th', { scope: 'row' }) : make('td', { 'data-head': isSorted ? head : null }))));
    made.set(key, element);
    this.columns.forEach(({ of, show }, i) => put(element.children[i], show(of(row), row)));
    return element;
  }
}

// Puts the tables there, each made of what Table takes. Returns a function that shows a list of rows in each.
export function tablesIn(place, ...all) {
  const tables = all.map((one) => new Table(one));
  place.append(...tables.map(({ element }) => element));
  return (...rows) => tables.forEach((table, i) => table.show(rows[i]));
}
