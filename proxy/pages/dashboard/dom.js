// Makes elements. Text is always set as text, so nothing that a server sent is read as HTML.

const kSvg = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// Children may be nested lists; null and undefined are left out.
export function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(kSvg, tag), attributes, children);
}

export const at = (id) => document.getElementById(id);

// Sets a text, and only touches the document if it has changed.
export function say(element, text, title) {
  if (element.textContent !== text) element.textContent = text;
  if (title !== undefined && element.title !== title) element.title = title;
}

// Whether somebody selects text there, is about to press a button of a row, or types into a form.
export function isRead(element) {
  const selection = document.getSelection();
  return (!selection.isCollapsed && element.contains(selection.focusNode)) || element.querySelector('tbody :focus, form input:focus') !== null;
}

// What a page of the proxy tells, which is JSON.
export async function ask(page) {
  const answer = await fetch(page);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// A figure in human units, with its exact value on hover.
export function figure({ text, exact }) {
  return make('span', { class: 'figure', title: exact }, text);
}

// A URL or host that is too long for its place is cut in the middle: its begin and its end stay in sight. One
// line, in a font whose characters are equally wide. Copied, it is the whole text.
export function cutInTheMiddle(text) {
  const kept = text.includes('/') ? 22 : 12;  // characters at the end
  const start = [...text].slice(0, -kept).join('');
  const end = text.slice(start.length);
  const head = make('span', { class: 'start' }, start);
  head.style.maxWidth = `calc(100% - ${[...end].length}ch)`;
  return make('span', { class: 'url cut', title: text }, head, make('span', {}, end));
}
