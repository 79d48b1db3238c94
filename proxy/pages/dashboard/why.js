// Explains what this proxy would do with a URL, with the sentences of /admin/explain.
import { ask, at, make, say } from './dom.js';

// A sentence without a word says more of what the one before is about.
const row = ({ about, text }) => [about ? make('dt', {}, about) : null, make('dd', {}, text)];

async function explain(url) {
  say(at('why-answer'), 'Asking…');
  const { method, url: asked, verdict, sentences } = await ask(`/admin/explain?url=${encodeURIComponent(url)}`);
  at('why-answer').replaceChildren(make('p', { class: 'url' }, `${method} ${asked}`),
    make('p', { class: 'verdict' }, verdict), make('dl', {}, sentences.map(row)));
}

const tell = (url) => explain(url).catch((error) => say(at('why-answer'), error.message));

// Returns a function that explains a URL. For administrators.
export function beginWhy() {
  at('why-form').addEventListener('submit', (event) => {
    event.preventDefault();
    tell(at('why-url').value);
  });
  return (url) => {
    at('why-url').value = url;
    at('why').scrollIntoView({ block: 'start' });
    at('why-url').focus({ preventScroll: true });
    tell(url);
  };
}
