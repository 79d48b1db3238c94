// The picture of the neighbourhood: this proxy in the middle, neighbours around it.
import { say, svg } from './dom.js';
import * as units from './units.js';

function widthOf(traffic) {
  return traffic > 0 ? Math.min(12, 2 + Math.log2(1 + traffic / 1024)) : 1.5;
}

// Two stand beside us, each above its details; more of them around us.
function placesOf(number, { width, height, middle }) {
  if (number <= 2) return [width / 4, (3 * width) / 4].slice(0, number).map((x) => ({ x, y: middle.y }));
  const across = middle.x - 62;
  const down = height / 2 - 62;
  return Array.from({ length: number }, (_, i) => {
    const angle = -Math.PI / 2 + (i * 2 * Math.PI) / number;
    return { x: middle.x + across * Math.cos(angle), y: middle.y + down * Math.sin(angle) };
  });
}

function layout(number, width) {
  const least = number <= 4 ? 300 : number <= 8 ? 400 : 500;
  const height = number <= 2 ? 150 : Math.max(least, Math.min(430, width * 0.62));
  const middle = { x: number === 1 ? (3 * width) / 4 : width / 2, y: number <= 2 ? 54 : height / 2 - 8 };
  const radius = number <= 2 ? 27 : Math.max(12, Math.min(27, (middle.x + height / 2 - 124) / number));
  return { height, middle, radius, places: placesOf(number, { width, height, middle }) };
}

class Node {
  constructor(name, place, { middle, radius }, choose) {
    this.around = 2 * Math.PI * radius;
    const ends = { x1: place.x, y1: place.y, x2: middle.x, y2: middle.y };
    this.edge = svg('line', ends);
    this.flow = svg('line', { ...ends, class: 'flow' });
    this.ring = svg('circle', { class: 'ring', r: radius, transform: 'rotate(-90)' });
    this.inside = svg('text', { class: 'inside', y: 5 });
    this.below = svg('text', { class: 'below', y: radius + 37 });
    const choosesByKey = (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose(name);
    };
    this.element = svg('g', {
      transform: `translate(${place.x} ${place.y})`, role: 'button', tabindex: '0', 'data-peer': name,
      onclick: () => choose(name), onfocus: () => choose(name), onkeydown: choosesByKey,
    },
    svg('circle', { class: 'halo', r: radius + 7 }), svg('circle', { class: 'disc', r: radius }), this.ring,
    this.inside, svg('text', { class: 'label', y: radius + 22 }, name), this.below);
  }

  show({ peer, condition, traffic }, isChosen) {
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
    this.element.setAttribute('class', `node ${condition.level}${isChosen ? ' chosen' : ''}`);
    this.element.setAttribute('aria-pressed', String(isChosen));
    this.element.setAttribute('aria-label', `${peer.name}: ${condition.word}.`
      + `${asked ? ` ${claims.text} of its claims came true.` : ''} Digest ${age} old, first byte in ${firstByte}.`);
    this.element.dataset.state = condition.word;
  }
}

export class Picture {
  // `choose(name)` is called for the neighbour that somebody points at.
  constructor(box, choose) {
    Object.assign(this, { box, choose, drawn: '' });
  }

  // `all`: [{peer, condition, traffic}]; `chosen`: the name of one of them, or null.
  show(digest, all, chosen) {
    this.prepare(digest.name, all.map(({ peer }) => peer.name));
    say(this.entries, units.count(digest.entries).text);
    for (const one of all) this.nodes.get(one.peer.name).show(one, one.peer.name === chosen);
  }

  // Makes the picture anew if the neighbours or its width have changed.
  prepare(ours, names) {
    const width = Math.max(260, this.box.clientWidth);
    const wanted = JSON.stringify([ours, width, names]);
    if (this.drawn === wanted) return;
    this.drawn = wanted;
    const where = layout(names.length, width);
    const { height, middle } = where;
    this.nodes = new Map(names.map((name, i) => [name, new Node(name, where.places[i], where, this.choose)]));
    this.entries = svg('text', { class: 'inside', y: 0 });
    const us = svg('g', { class: 'node us', transform: `translate(${middle.x} ${middle.y})` },
      svg('circle', { class: 'disc', r: 36 }), this.entries,
      svg('text', { class: 'inside small', y: 15 }, 'claimed'),
      svg('text', { class: 'label', y: 56 }, ours));
    const nodes = [...this.nodes.values()];
    this.box.replaceChildren(svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': 'Neighbours', class: names.length > 10 || (names.length > 4 && width < 300) ? 'many' : '' },
      nodes.map(({ edge }) => edge), nodes.map(({ flow }) => flow), us, nodes.map(({ element }) => element)));
  }
}
