// Explains what this proxy would do with a URL. Shows whatever /admin/explain tells, by its names.
import { at, make, say } from './dom.js';

const words = (name) => name.replaceAll('_', ' ');

function shown(value) {
  if (value === null || value === '') return '–';
  if (Array.isArray(value)) {
    return value.length > 0 ? make('ul', {}, value.map((one) => make('li', {}, shown(one)))) : 'none';
  }
  if (typeof value === 'object') {
    return make('dl', {}, Object.entries(value).map(([name, one]) => [make('dt', {}, words(name)), make('dd', {}, shown(one))]));
  }
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

async function explain(url) {
  say(at('why-answer'), 'Asking…');
  const answer = await fetch(`/admin/explain?url=${encodeURIComponent(url)}`);
  if (!answer.ok) throw new Error(await answer.text());
  const { verdict, ...facts } = await answer.json();
  at('why-answer').replaceChildren(make('p', { class: 'verdict' }, verdict ?? ''), shown(facts));
}

const ask = (url) => explain(url).catch((error) => say(at('why-answer'), error.message));

// Returns a function that explains a URL; null for a client that may not ask.
export function beginWhy(admin) {
  if (!admin) {
    at('why-form').hidden = true;
    say(at('why-answer'), 'Explanations are for admins (setting access.admin).');
    return null;
  }
  at('why-form').addEventListener('submit', (event) => {
    event.preventDefault();
    ask(at('why-url').value);
  });
  return (url) => {
    at('why-url').value = url;
    at('why').scrollIntoView({ block: 'start' });
    at('why-url').focus({ preventScroll: true });
    ask(url);
  };
}
