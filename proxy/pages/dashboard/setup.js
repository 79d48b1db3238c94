// How each kind of client is told to use this proxy, with a button that copies the text.
import { ask, at, make } from './dom.js';

// Browsers give pages over http no clipboard but the one that a selection is copied to.
function copy(text, button) {
  const selection = document.getSelection();
  selection.selectAllChildren(text);
  const copied = document.execCommand('copy');
  if (copied) selection.removeAllRanges();
  button.textContent = copied ? 'Copied' : 'Selected: press Ctrl+C';
}

function card({ name, title, place, text }) {
  const shown = make('pre', {}, make('code', {}, text));
  const button = make('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', () => copy(shown, button));
  return make('section', { class: 'card', id: name },
    make('div', { class: 'heading' }, make('h2', {}, title), button, make('p', { class: 'hint' }, place)),
    shown);
}

ask('/setup.json')
  .then(({ clients }) => at('clients').replaceChildren(...clients.map(card)))
  .catch((error) => { at('told').textContent = `No texts: ${error.message}`; });
