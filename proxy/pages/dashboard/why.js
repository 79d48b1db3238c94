// Explains what this proxy would do with a URL, with the sentences of /admin/explain.
import { at, make, say } from './dom.js';

// A sentence without a word says more of what the one before is about.
const row = ({ about, text }) => [about ? make('dt', {}, about) : null, make('dd', {}, text)];

async function explain(url) {
  say(at('why-answer'), 'Asking…');
  const answer = await fetch(`/admin/explain?url=${encodeURIComponent(url)}`);
  if (!answer.ok) throw new Error(await answer.text());
  const { method, url: asked, verdict, sentences } = await answer.json();
  at('why-answer').replaceChildren(make('p', { class: 'url' }, `${method} ${asked}`),
    make('p', { class: 'verdict' }, verdict), make('dl', {}, sentences.map(row)));
}

const ask = (url) => explain(url).catch((error) => say(at('why-answer'), error.message));

// Returns a function that explains a URL. For administrators.
export function beginWhy() {
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
