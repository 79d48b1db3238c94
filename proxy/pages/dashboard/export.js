// Gives what a card shows as a file.
import { at, make } from './dom.js';

// RFC 4180. A list or an object is written as JSON. A text that a spreadsheet would take for a formula begins with an apostrophe.
function cell(value) {
  if (value === null || value === undefined) return '';
  const told = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : told;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((values) => `${values.map(cell).join(',')}\r\n`).join('');
}

const kForms = {
  CSV: { ending: 'csv', type: 'text/csv;charset=utf-8', write: csv },
  JSON: { ending: 'json', type: 'application/json', write: (rows) => `${JSON.stringify(rows, null, 2)}\n` },
};

function save(what, rows, { ending, type, write }) {
  const href = URL.createObjectURL(new Blob([write(rows)], { type }));
  make('a', { href, download: `${at('name').textContent}-${what}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

// Two buttons. `what`: a word for the names of the files; `read()`: a list of flat objects.
export function offer(what, read) {
  return Object.entries(kForms).map(([name, form]) => make('button', {
    type: 'button', class: 'small', 'aria-label': `Save the ${what} as ${name}`, onclick: () => save(what, read(), form),
  }, name));
}
