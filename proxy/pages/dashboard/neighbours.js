// The neighbourhood as a picture: this proxy in the middle, its peers around it.
import { at, make, say, svg } from './dom.js';
import { detailsOf } from './peer.js';
import * as units from './units.js';

const kMemory = 10;  // seconds over which traffic is measured

const past = new Map();  // by peer: [{end, bytes}], the oldest first
let chosen = null;
let latest = null;
let drawn = null;  // {names, width, us, nodes: by name}

// How a peer is: {level: 'good' | 'warn' | 'bad' | 'off', word, text}.
export function conditionOf(peer, health) {
  const trouble = health.reasons.find(({ what, which }) => what === 'peer' && which === peer.name);
  if (trouble) return { level: 'bad', word: peer.state === 'resting' ? 'resting' : 'down', text: trouble.text };
  if (peer.state === 'off') return { level: 'off', word: 'not polled', text: 'its digest is off in the settings' };
  if (peer.state === 'waiting') return { level: 'warn', word: 'waiting', text: 'its first digest has yet to arrive' };
  if (peer.state === 'trying') return { level: 'warn', word: 'on trial', text: 'one request at a time tries it' };
  if (peer.state === 'usable') return { level: 'good', word: 'usable', text: 'its claims count' };
  return { level: 'bad', word: peer.state, text: peer.last_error ?? '' };
}

// Bytes per second that the peer has spared the origin lately.
function trafficOf({ name, bytes_saved: bytes }) {
  const { end } = latest;
  const seen = past.get(name) ?? [];
  if (seen.at(-1)?.end !== end) seen.push({ end, bytes });
  while (seen.length > 1 && end - seen[0].end > kMemory) seen.shift();
  past.set(name, seen);
  const span = end - seen[0].end;
  return span > 0 ? Math.max(0, bytes - seen[0].bytes) / span : 0;
}

function widthOf(traffic) {
  return traffic > 0 ? Math.min(12, 2 + Math.log2(1 + traffic / 1024)) : 1.5;
}

// Where things are: {height, middle, radius of a peer, places of the peers}.
function layout(number, width) {
  const height = number <= 2 ? 230 : Math.min(number > 10 ? 560 : 430, Math.max(300, width * 0.62));
  const middle = { x: width / 2, y: height / 2 - 8 };
  const across = middle.x - 62;
  const down = height / 2 - 62;
  const radius = Math.max(12, Math.min(27, (across + down) / number));
  const places = Array.from({ length: number }, (_, i) => {
    const angle = (number <= 2 ? Math.PI : -Math.PI / 2) + (i * 2 * Math.PI) / number;
    return { x: middle.x + across * Math.cos(angle), y: middle.y + down * Math.sin(angle) };
  });
  return { height, middle, radius, places };
}

class Node {
  constructor(name, place, { middle, radius }) {
    this.around = 2 * Math.PI * radius;
    const ends = { x1: place.x, y1: place.y, x2: middle.x, y2: middle.y };
    this.edge = svg('line', ends);
    this.flow = svg('line', { ...ends, class: 'flow' });
    this.ring = svg('circle', { class: 'ring', r: radius, transform: 'rotate(-90)' });
    this.inside = svg('text', { class: 'inside', y: 5 });
    this.below = svg('text', { class: 'below', y: radius + 36 });
    const choose = () => {
      chosen = name;
      draw();
    };
    const choosesByKey = (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose();
    };
    this.element = svg('g', {
      transform: `translate(${place.x} ${place.y})`, role: 'button', tabindex: '0', 'data-peer': name,
      onclick: choose, onfocus: choose, onkeydown: choosesByKey,
    },
    svg('circle', { class: 'halo', r: radius + 7 }), svg('circle', { class: 'disc', r: radius }), this.ring,
    this.inside, svg('text', { class: 'label', y: radius + 20 }, name), this.below);
  }

  show({ peer, condition, traffic }) {
    const asked = peer.true_hits + peer.false_hits;
    const claims = units.share(peer.true_hits, asked);
    const age = units.seconds(peer.age_seconds).text;
    const firstByte = units.milliseconds(peer.first_byte_ms).text;
    const part = asked ? (peer.true_hits / asked) * this.around : 0;  // the ring is full if all came true
    this.ring.setAttribute('stroke-dasharray', `${part} ${this.around - part}`);
    this.edge.setAttribute('class', `edge ${condition.level}`);
    this.edge.setAttribute('stroke-width', widthOf(traffic));
    this.flow.setAttribute('visibility', traffic > 0 ? 'visible' : 'hidden');
    say(this.inside, condition.level === 'bad' ? '✕' : asked ? claims.text : '·');
    say(this.below, condition.level === 'good' ? `${age} · ${firstByte}` : condition.word);
    const isChosen = peer.name === chosen;
    this.element.setAttribute('class', `node ${condition.level}${isChosen ? ' chosen' : ''}`);
    this.element.setAttribute('aria-pressed', String(isChosen));
    this.element.setAttribute('aria-label', `${peer.name}: ${condition.word}.`
      + `${asked ? ` ${claims.text} of its claims came true.` : ''} Digest ${age} old, first byte in ${firstByte}.`);
    this.element.dataset.state = condition.word;
  }
}

// Makes the picture anew if the peers or its width have changed.
function prepare(digest) {
  const box = at('picture');
  const width = Math.max(300, box.clientWidth);
  const names = digest.peers.map(({ name }) => name);
  if (drawn?.width === width && drawn.names.join() === names.join()) return;
  const where = layout(names.length, width);
  const { height, middle } = where;
  const nodes = new Map(names.map((name, i) => [name, new Node(name, where.places[i], where)]));
  const entries = svg('text', { class: 'inside', y: 0 });
  const us = svg('g', { class: 'node us', transform: `translate(${middle.x} ${middle.y})` },
    svg('circle', { class: 'disc', r: 36 }), entries,
    svg('text', { class: 'inside small', y: 15 }, 'claimed'),
    svg('text', { class: 'label', y: 56 }, digest.name));
  const all = [...nodes.values()];
  box.replaceChildren(svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': 'Neighbours', class: names.length > 10 ? 'many' : '' },
    all.map(({ edge }) => edge), all.map(({ flow }) => flow), us, all.map(({ element }) => element)));
  drawn = { names, width, entries, nodes };
}

function draw() {
  const { digest, health } = latest;
  prepare(digest);
  const entries = units.count(digest.entries);
  say(drawn.entries, entries.text);
  const peers = digest.peers.map((peer) => ({ peer, condition: conditionOf(peer, health), traffic: trafficOf(peer) }));
  for (const one of peers) drawn.nodes.get(one.peer.name).show(one);
  const shown = peers.find(({ peer }) => peer.name === chosen);
  at('peer').replaceChildren(shown ? detailsOf(shown) : make('p', { class: 'hint' }, peers.length > 0
    ? 'Choose a neighbour to see what it claims, how often that came true, and how fast it is.'
    : 'This proxy has no neighbours (setting peers).'));
}

export function showNeighbours(news) {
  latest = news;
  draw();
}
