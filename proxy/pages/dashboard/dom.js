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

// A figure in human units, with its exact value on hover.
export function figure({ text, exact }) {
  return make('span', { class: 'figure', title: exact }, text);
}
