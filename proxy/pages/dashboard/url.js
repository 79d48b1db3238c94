// A URL that is too long for its place is cut in the middle: its host and its end stay in sight.
import { make } from './dom.js';

const kEnd = 22;  // characters that stay at the end

// The parts of the text, in one line of a font whose characters are equally wide. Copied, they are
// the whole text.
export function cutInTheMiddle(text) {
  const start = [...text].slice(0, -kEnd).join('');
  const end = text.slice(start.length);
  const head = make('span', { class: 'start' }, start);
  head.style.maxWidth = `calc(100% - ${[...end].length}ch)`;
  return [head, make('span', {}, end)];
}
