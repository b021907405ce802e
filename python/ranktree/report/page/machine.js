// The machine: its tree from the levels on which neighbouring slots meet, and a picture of its ranks.
const MOST_TILES = 1100;
const MOST_NAMED = 256;    // slots that show their rank's number
const MOST_ARCS = 24;
const MOST_PARTNERS = 12;
const LEVEL_COLOURS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

class Machine {
  constructor(data) {
    Object.assign(this, { kinds: data.kinds, nodes: data.nodes, slots: data.slots, meets: data.meets, pus: data.pus, placements: data.placements });
    this.nodeLevel = Math.max(0, this.kinds.indexOf("Node"));
    this.nodeOf = new Uint32Array(this.slots);
    for (let slot = 1; slot < this.slots; slot++) this.nodeOf[slot] = this.nodeOf[slot - 1] + (this.meets[slot] < this.nodeLevel ? 1 : 0);
  }

  // The level on which two slots meet: the highest between them.
  level(a, b) {
    if (a === b) return this.kinds.length - 1;
    let level = this.kinds.length;
    for (let slot = Math.min(a, b) + 1; slot <= Math.max(a, b); slot++) level = Math.min(level, this.meets[slot]);
    return level;
  }

  meeting(a, b) {
    return this.kinds[this.level(a, b)];
  }

  nodeName(slot) {
    return this.nodes[this.nodeOf[slot]] || "this machine";
  }

  // Positions in an order of ranks between which an object of a level ends: of the deepest level with room for lines.
  boundaries(order, view, pixels) {
    for (let level = this.kinds.length - 2; level >= 0; level--) {
      const found = this.ends(order, level);
      const inside = found.filter((position) => position > Math.min(view.row, view.column) && position < Math.max(view.row, view.column) + view.size);
      if (inside.length && pixels / (inside.length + 1) >= 9) return inside;
    }
    return [];
  }

  ends(order, level) {
    order.ends = order.ends || {};
    if (!order.ends[level]) {
      const found = [];
      for (let position = 1; position < order.ranks; position++) {
        const [a, b] = [order.slotOf[order.rankAt[position - 1]], order.slotOf[order.rankAt[position]]];
        if (a !== b && this.level(a, b) < level) found.push(position / order.bin);
      }
      order.ends[level] = found;
    }
    return order.ends[level];
  }

  // Ranges of slots below one object of a level: the tiles of the picture.
  ranges(level) {
    const starts = [0];
    for (let slot = 1; slot < this.slots; slot++) if (this.meets[slot] < level) starts.push(slot);
    return starts.map((start, index) => [start, index + 1 < starts.length ? starts[index + 1] : this.slots]);
  }

  // The deepest level with few enough objects.
  tileLevel() {
    let level = this.kinds.length - 1;
    while (level > 0 && this.ranges(level).length > MOST_TILES) level--;
    return level;
  }

  // A box for each object that branches: {first, end, level, children}; a tile has no children.
  boxes(first, end, tiles) {
    let level = tiles;
    for (let slot = first + 1; slot < end; slot++) level = Math.min(level, this.meets[slot]);
    if (level >= tiles || end - first === 1) return { first, end, level: tiles, children: [] };
    const starts = [first];
    for (let slot = first + 1; slot < end; slot++) if (this.meets[slot] === level) starts.push(slot);
    const children = starts.map((start, index) => this.boxes(start, index + 1 < starts.length ? starts[index + 1] : end, tiles));
    return { first, end, level, children };
  }

  isNode(box) {
    const starts = box.first === 0 || this.meets[box.first] < this.nodeLevel;
    const ends = box.end === this.slots || this.meets[box.end] < this.nodeLevel;
    return this.nodeLevel > 0 && starts && ends && this.nodeOf[box.first] === this.nodeOf[box.end - 1];
  }
}

// Sets x, y, width and height of a box and everything inside it, in rows.
function layOut(machine, box, tile, depth) {
  if (!box.children.length) {
    const named = tile.named && machine.isNode(box) && machine.tiles < machine.kinds.length - 1;
    return Object.assign(box, { width: named ? 44 : tile.width, height: tile.height });
  }
  box.children.forEach((child) => layOut(machine, child, tile, depth + 1));
  const title = titleOf(machine, box) ? 15 : 0;
  const pad = box.children[0].children.length ? 6 : 3;
  const widest = Math.max(...box.children.map((child) => child.width));
  const columns = columnsOf(box.children.length, widest + pad, depth === 0 ? 1080 : 520);
  let [x, y, row, width] = [pad, pad + title, 0, 0];
  box.children.forEach((child, index) => {
    if (index % columns === 0 && index > 0) [x, y, row] = [pad, y + row + pad, 0];
    Object.assign(child, { dx: x, dy: y });
    x += child.width + pad;
    row = Math.max(row, child.height);
    width = Math.max(width, x);
  });
  return Object.assign(box, { width: Math.max(width, title ? 8 * titleOf(machine, box).length : 0), height: y + row + pad });
}

// Rows of equal length within a width; a few boxes more beside than below each other.
function columnsOf(count, widest, width) {
  const most = Math.max(1, Math.min(count, Math.floor(width / widest), count <= 4 ? count : Math.ceil(Math.sqrt(count * 2.2))));
  return Math.ceil(count / Math.ceil(count / most));
}

function titleOf(machine, box) {
  if (machine.isNode(box)) return machine.nodes[machine.nodeOf[box.first]] || "";
  return "";
}

class MachinePicture {
  constructor(machine, report) {
    Object.assign(this, { machine, report, chosen: 0 });
    machine.tiles = machine.tileLevel();
    this.placement = machine.placements[machine.placements.length - 1];
    this.small = machine.slots <= MOST_NAMED && machine.tiles === machine.kinds.length - 1;
    const tile = this.small ? { width: 30, height: 21 } : { width: 14, height: 14 };
    this.root = layOut(machine, machine.boxes(0, machine.slots, machine.tiles), tile, 0);
    this.tiles = [];
    this.status = html("p", { class: "status", id: "machine-status", role: "status", "aria-live": "polite" });
    this.drawing = svg("svg", { class: "machine", id: "machine-picture", tabindex: "0", role: "application", "aria-roledescription": "picture of the machine",
      viewBox: `0 0 ${this.root.width} ${this.root.height}`, style: `--natural: ${this.root.width}px`, "aria-describedby": "machine-status",
      "aria-label": "The machine as nested boxes with its ranks. Arrow keys move from slot to slot.",
      onkeydown: (event) => this.key(event) });
    this.drawing.style.maxWidth = `${1.35 * this.root.width}px`;
    this.legend = html("p", { class: "legend" });
  }

  controls() {
    if (this.machine.placements.length < 2) return null;
    const values = this.machine.placements.map((each) => [each.name, each.label]);
    return html("div", { class: "controls" }, radios("machine-placement", "ranks by", values, this.placement.name, (name) => {
      this.placement = this.machine.placements.find((each) => each.name === name);
      this.draw();
    }));
  }

  draw() {
    this.ranksOf = Array.from({ length: this.machine.slots }, () => []);
    this.placement.slot_of.forEach((slot, rank) => this.ranksOf[slot].push(rank));
    this.tiles = [];
    this.labels = [];
    this.drawing.replaceChildren();
    this.most = Math.max(...this.machine.placements.map((each) => this.mostLeaving(each)));
    this.box(this.root, 0, 0);
    this.tileOf = [];
    this.tiles.forEach((tile) => tile.ranks.forEach((rank) => { this.tileOf[rank] = tile; }));
    this.lines = this.small ? this.arcs(this.rankPairs()) : [];
    this.drawing.append(...this.labels);
    this.explain();
    this.choose(Math.min(this.chosen, this.tiles.length - 1));
  }

  mostLeaving(placement) {
    const sums = this.machine.ranges(this.machine.tiles).map(([first, end]) => this.sum(placement.leaving, first, end));
    return Math.max(0, ...sums);
  }

  sum(values, first, end) {
    let total = 0;
    for (let slot = first; slot < end; slot++) total += values[slot];
    return total;
  }

  box(box, x, y) {
    if (!box.children.length) return this.tile(box, x, y);
    const node = this.machine.isNode(box);
    this.drawing.append(svg("rect", { class: node ? "box node" : "box", x: x + 0.5, y: y + 0.5, width: box.width - 1, height: box.height - 1, rx: 3 }));
    const title = titleOf(this.machine, box);
    if (title) this.drawing.append(svg("text", { x: x + 5, y: y + 13 }, title));
    box.children.forEach((child) => this.box(child, x + child.dx, y + child.dy));
    return undefined;
  }

  tile(box, x, y) {
    const leaving = this.sum(this.placement.leaving, box.first, box.end);
    const ranks = this.ranksOf.slice(box.first, box.end).flat();
    const colour = ranks.length && leaving > 0 && this.most > 0 ? scaleColour(0.1 + 0.9 * leaving / this.most) : null;
    const fillText = colour ? `rgb(${colour.join(" ")})` : ranks.length ? "var(--surface)" : "var(--page)";
    const index = this.tiles.length;
    const shape = svg("rect", { class: "tile", x, y, width: box.width, height: box.height, rx: 2, fill: fillText,
      onpointerenter: () => this.choose(index, true), onpointerdown: () => this.choose(index, true) });
    if (!ranks.length) shape.setAttribute("stroke-dasharray", "2 2");
    this.drawing.append(shape);
    if (this.small && ranks.length) {
      const label = ranks.length === 1 ? String(ranks[0]) : `${ranks[0]}+`;
      this.labels.push(svg("text", { class: "rank", x: x + box.width / 2, y: y + box.height / 2, style: colour ? `fill: ${readableOn(colour)}` : null }, label));
    }
    this.tiles.push({ box, shape, ranks, leaving, x: x + box.width / 2, y: y + box.height / 2 });
    return undefined;
  }

  // Lines between the middles of tiles.
  arcs(pairs) {
    const most = Math.max(1, ...pairs.map((pair) => pair.weight));
    return pairs.map(({ from, to, level, weight }) => {
      const bend = Math.hypot(to.x - from.x, to.y - from.y) / 6;
      const middle = [(from.x + to.x) / 2 + (from.y < to.y ? bend : -bend) / 2, (from.y + to.y) / 2 - bend];
      const path = svg("path", { class: "arc", d: `M${from.x} ${from.y} Q${middle[0]} ${middle[1]} ${to.x} ${to.y}`,
        stroke: LEVEL_COLOURS[level % LEVEL_COLOURS.length], "stroke-width": (0.8 + 1.6 * weight / most).toFixed(1) });
      this.drawing.append(path);
      return { path, ends: [from, to] };
    });
  }

  // The tiles that exchange most with one, where the page holds every pair.
  partners(tile) {
    const { heat_map: heat, traffic } = this.report;
    if (heat.bin > 1) return [];
    const { starts, columns, bytes, messages } = heat.maps[0];
    const weight = traffic.bytes ? bytes : messages;
    const sums = new Map();
    const add = (other, amount) => { if (other !== tile) sums.set(other, (sums.get(other) || 0) + amount); };
    for (let row = 0; row + 1 < starts.length; row++) {
      const own = this.tileOf[row] === tile;
      for (let i = starts[row]; i < starts[row + 1]; i++) {
        if (own) add(this.tileOf[columns[i]], weight[i]);
        else if (this.tileOf[columns[i]] === tile) add(this.tileOf[row], weight[i]);
      }
    }
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, MOST_PARTNERS).map(([other, amount]) => ({
      from: tile, to: other, weight: amount, level: this.machine.level(tile.box.first, other.box.first),
    }));
  }

  rankPairs() {
    const pairs = (this.report.crossing[this.placement.name] || []).map((pair) => ({
      from: this.tileOf[pair.ranks[0]], to: this.tileOf[pair.ranks[1]], level: pair.level, weight: pair.bytes || pair.messages,
    }));
    return pairs.filter((pair) => pair.weight >= pairs[0].weight / 50).slice(0, MOST_ARCS);
  }

  // Levels on which tiles meet.
  branching() {
    return [...new Set(this.tiles.slice(1).map((tile) => this.machine.meets[tile.box.first]))].sort();
  }

  explain() {
    const levels = this.small ? [...new Set(this.rankPairs().map((pair) => pair.level))].sort() : this.branching();
    const keys = levels.map((level) => html("span", {}, html("span", { class: "key", style: `background: ${LEVEL_COLOURS[level % LEVEL_COLOURS.length]}` }),
      `meet on ${this.machine.kinds[level]}`));
    const unit = this.report.traffic.bytes ? bytesText : countText;
    const what = this.machine.nodes.length > 1 ? "with other nodes" : "across the highest level";
    const tile = this.machine.kinds[this.machine.tiles].toLowerCase();
    const swatch = html("span", { class: "key", style: `background: ${cssScale(1)}` });
    this.legend.replaceChildren(html("span", {}, swatch, `darkest tone: a ${tile} that exchanges ${unit(this.most)} ${what}`.replace("darkest tone", isDark() ? "brightest tone" : "darkest tone")), ...keys);
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.perRow(), ArrowDown: this.perRow() };
    if (!(event.key in steps)) return;
    this.choose(Math.max(0, Math.min(this.tiles.length - 1, this.chosen + steps[event.key])), true);
    event.preventDefault();
  }

  // Tiles in the first row of the chosen one's box.
  perRow() {
    const { y } = this.tiles[this.chosen];
    return Math.max(1, this.tiles.filter((tile) => tile.y === y).length);
  }

  // Lines from one tile to its partners.
  connect(tile) {
    this.lines.forEach((line) => line.path.remove());
    this.lines = this.arcs(this.partners(tile));
  }

  // `pointed`: the lines of this tile stand out.
  choose(index, pointed = false) {
    if (this.tiles[this.chosen]) this.tiles[this.chosen].shape.classList.remove("chosen");
    this.chosen = index;
    const tile = this.tiles[index];
    tile.shape.classList.add("chosen");
    if (!this.small) this.connect(tile);
    const touched = pointed && this.lines.some((line) => line.ends.includes(tile));
    for (const { path, ends } of this.lines) {
      path.classList.toggle("near", touched && ends.includes(tile));
      path.classList.toggle("far", touched && !ends.includes(tile));
    }
    const { first, end } = tile.box;
    const name = this.machine.nodes.length > 1 || this.machine.nodes[0] ? `node ${this.machine.nodeName(first)}, ` : "";
    const slots = end - first === 1 ? `PU ${this.machine.pus[first]}` : `${end - first} slots`;
    const ranks = tile.ranks.length ? `${tile.ranks.length === 1 ? "rank" : "ranks"} ${rangesText(tile.ranks.sort((a, b) => a - b), 36)}` : "no rank";
    const unit = this.report.traffic.bytes ? bytesText : countText;
    const others = this.machine.nodes.length > 1 ? "with other nodes" : "across the highest level";
    this.status.textContent = `${name}${slots}: ${ranks}` + (tile.ranks.length ? `; ${unit(tile.leaving)} ${others}` : "");
  }
}
