// The pictures of the heat maps: one canvas an order, one window for all, a cursor that mouse and keyboard move.
const MOST_PARTS = 512;  // cells of a picture a side; more ranks are summed
const LEAST = 4;         // cells a window shows at least

class HeatView {
  constructor(orders, machine, hasBytes) {
    Object.assign(this, { orders, machine, value: hasBytes ? "bytes" : "messages" });
    this.whole = orders[0].size;
    this.view = { row: 0, column: 0, size: this.whole };
    this.cursor = null;  // {order, x, y} in parts of the picture
    this.status = html("p", { class: "status", id: "heat-status", role: "status", "aria-live": "polite" });
    this.pictures = orders.map((order, index) => this.picture(order, index));
    this.legend = html("canvas", { width: 256, height: 1, "aria-hidden": "true" });
    this.range = html("span", { id: "heat-range" });
    this.frame = html("div", { class: `pair${orders.length === 1 ? " single" : ""}`, id: "heat-maps" },
      this.pictures.map((each) => each.figure));
  }

  picture(order, index) {
    const canvas = html("canvas", { class: "heat", tabindex: "0", role: "application", id: `heat-${index}`, "aria-roledescription": "heat map",
      "aria-label": `Traffic from rank (row) to rank (column), ranks in the order of their slots, ${order.label}. Arrow keys move, + and - zoom, 0 shows all.`,
      "aria-describedby": "heat-status" });
    const axis = html("div", { class: "axis" });
    const figure = html("figure", {}, html("h3", {}, order.title), canvas, axis);
    canvas.addEventListener("pointermove", (event) => this.point(index, event));
    canvas.addEventListener("pointerdown", (event) => this.point(index, event));
    canvas.addEventListener("dblclick", () => this.zoom(0.5));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(index, event));
    canvas.addEventListener("focus", () => { if (!this.cursor || this.cursor.order !== index) this.move(index, 0, 0); });
    return { order, canvas, axis, figure };
  }

  controls() {
    const button = (id, text, label, act) => html("button", { type: "button", id, "aria-label": label, onclick: act }, text);
    const values = [["bytes", "bytes"], ["messages", "messages"]];
    return html("div", { class: "controls" },
      radios("heat-value", "colour by", values, this.value, (value) => { this.value = value; this.draw(); }),
      button("zoom-in", "+", "Zoom in", () => this.zoom(0.5)), button("zoom-out", "\u2212", "Zoom out", () => this.zoom(2)),
      button("zoom-all", "All ranks", "Show all ranks", () => this.show(0, 0, this.whole)),
      html("span", { class: "legend" }, "less", this.legend, "more", this.range));
  }

  parts() {
    return Math.min(this.view.size, MOST_PARTS);
  }

  show(row, column, size) {
    const limited = Math.max(Math.min(LEAST, this.whole), Math.min(this.whole, Math.round(size)));
    const inside = (start) => Math.max(0, Math.min(this.whole - limited, Math.round(start)));
    this.view = { row: inside(row), column: inside(column), size: limited };
    this.draw();
  }

  // Keeps the cell under the cursor under it; without a cursor, the centre.
  zoom(factor) {
    const { row, column, size } = this.view;
    const changed = Math.max(Math.min(LEAST, this.whole), Math.min(this.whole, Math.round(size * factor)));
    const at = this.cursor ? this.cursorCell() : { row: row + (size >> 1), column: column + (size >> 1) };
    const start = (cell, before) => cell - Math.floor((cell - before) * changed / size);
    this.show(start(at.row, row), start(at.column, column), changed);
    if (!this.cursor) return;
    const part = (offset) => Math.floor(offset * this.parts() / this.view.size);
    Object.assign(this.cursor, { x: part(at.column - this.view.column), y: part(at.row - this.view.row) });
    this.mark();
  }

  // The first cell under the cursor.
  cursorCell() {
    const first = (part) => Math.ceil(part * this.view.size / this.parts());
    return { row: this.view.row + first(this.cursor.y), column: this.view.column + first(this.cursor.x) };
  }

  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== event.currentTarget) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 0.7 : 1.4);
  }

  key(index, event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 0.5, "=": 0.5, "-": 2 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      const far = event.shiftKey ? Math.max(1, this.parts() >> 3) : 1;
      this.move(index, steps[event.key][0] * far, steps[event.key][1] * far);
    } else if (event.key in zooms) this.zoom(zooms[event.key]);
    else if (event.key === "0" || event.key === "Home") this.show(0, 0, this.whole);
    else return;
    event.preventDefault();
  }

  // Moves the cursor; at the picture's edge, the window.
  move(index, dx, dy) {
    const last = this.parts() - 1;
    const now = this.cursor && this.cursor.order === index ? this.cursor : { order: index, x: 0, y: 0 };
    const [x, y] = [now.x + dx, now.y + dy];
    const step = Math.ceil(this.view.size / (last + 1));
    const over = (at) => (at < 0 ? at * step : at > last ? (at - last) * step : 0);
    if (over(x) || over(y)) this.show(this.view.row + over(y), this.view.column + over(x), this.view.size);
    this.cursor = { order: index, x: Math.max(0, Math.min(last, x)), y: Math.max(0, Math.min(last, y)) };
    this.mark();
  }

  point(index, event) {
    const box = event.currentTarget.getBoundingClientRect();
    const count = this.parts();
    const at = (offset, length) => Math.max(0, Math.min(count - 1, Math.floor(offset / length * count)));
    this.cursor = { order: index, x: at(event.clientX - box.left, box.width), y: at(event.clientY - box.top, box.height) };
    this.mark();
  }

  draw() {
    const count = this.parts();
    for (const picture of this.pictures) picture.sums = picture.order.sums(this.view, count, this.value);
    const range = rangeOf(this.pictures.map((picture) => picture.sums[this.value]));
    for (const picture of this.pictures) this.paint(picture, range);
    const text = this.value === "bytes" ? bytesText : countText;
    this.range.textContent = `${text(range[0])} to ${text(range[1])}, logarithmic${this.perCell(count)}`;
    this.frame.dataset.window = `${this.view.row} ${this.view.column} ${this.view.size}`;
    this.paintLegend();
    if (this.cursor && (this.cursor.x >= count || this.cursor.y >= count)) this.cursor = null;
    this.mark();
  }

  perCell(count) {
    const ranks = this.view.size * this.orders[0].bin / count;
    return ranks > 1 ? `; a cell is ${threeDigits(ranks)} x ${threeDigits(ranks)} ranks` : "";
  }

  paint(picture, range) {
    const { sums, canvas } = picture;
    const image = new ImageData(sums.count, sums.count);
    sums[this.value].forEach((value, at) => {
      if (value > 0) image.data.set([...scaleColour(logarithmic(value, range)), 255], 4 * at);
    });
    picture.image = new OffscreenCanvas(sums.count, sums.count);
    picture.image.getContext("2d").putImageData(image, 0, 0);
    const side = Math.round(canvas.clientWidth * (window.devicePixelRatio || 1)) || 480;
    canvas.width = canvas.height = side;
    const { row, column, size } = this.view;
    const span = (start) => (size === 1 ? `${start}` : `${start * picture.order.bin} to ${Math.min(picture.order.ranks, (start + size) * picture.order.bin) - 1}`);
    picture.axis.replaceChildren(html("span", {}, `\u2193 from positions ${span(row)}`), html("span", {}, `\u2192 to positions ${span(column)}`));
  }

  paintLegend() {
    const image = new ImageData(256, 1);
    for (let i = 0; i < 256; i++) image.data.set([...scaleColour(i / 255), 255], 4 * i);
    this.legend.getContext("2d").putImageData(image, 0, 0);
  }

  // Pictures, boundaries of the machine's objects, and the cursor in both orders.
  mark() {
    const told = this.cursor ? this.describe() : null;
    for (const [index, picture] of this.pictures.entries()) {
      const context = picture.canvas.getContext("2d");
      const side = picture.canvas.width;
      context.clearRect(0, 0, side, side);
      context.imageSmoothingEnabled = false;
      context.drawImage(picture.image, 0, 0, side, side);
      this.boundaries(context, picture.order, side);
      if (this.cursor && this.cursor.order === index) this.ring(context, this.cursor.x, this.cursor.y, side);
      else if (told && told.pair) this.ringAt(context, picture.order, told.pair, side);
    }
    this.status.textContent = told ? told.text : "Point at a cell, or move there with Tab and the arrow keys; + and - zoom.";
  }

  ring(context, x, y, side) {
    const step = side / this.parts();
    const least = 9 * (window.devicePixelRatio || 1);
    const length = Math.max(step, least);
    context.strokeStyle = cssColour("--ring");
    context.lineWidth = 2 * (window.devicePixelRatio || 1);
    context.strokeRect((x + 0.5) * step - length / 2, (y + 0.5) * step - length / 2, length, length);
  }

  ringAt(context, order, [sender, receiver], side) {
    const count = this.parts();
    const x = order.part(order.positionOf[receiver] - this.view.column, this.view.size, count);
    const y = order.part(order.positionOf[sender] - this.view.row, this.view.size, count);
    if (x >= 0 && y >= 0) this.ring(context, x, y, side);
  }

  // Lines between the objects of the deepest level whose lines are far enough apart.
  boundaries(context, order, side) {
    if (!order.slotOf || !this.machine) return;
    const lines = this.machine.boundaries(order, this.view, side / (window.devicePixelRatio || 1));
    context.strokeStyle = cssColour("--strong");
    context.globalAlpha = 0.55;
    context.lineWidth = 1;
    context.beginPath();
    for (const position of lines) {
      const x = Math.round((position - this.view.column) * side / this.view.size) + 0.5;
      const y = Math.round((position - this.view.row) * side / this.view.size) + 0.5;
      context.moveTo(x, 0); context.lineTo(x, side);
      context.moveTo(0, y); context.lineTo(side, y);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  // What the cell under the cursor holds: {text, pair}.
  describe() {
    const { order, sums } = this.pictures[this.cursor.order];
    const { count } = sums;
    const at = this.cursor.y * count + this.cursor.x;
    const cells = (part, start) => [Math.ceil(part * this.view.size / count), Math.ceil((part + 1) * this.view.size / count) - 1].map((offset) => start + offset);
    const senders = order.ranksBetween(...cells(this.cursor.y, this.view.row));
    const receivers = order.ranksBetween(...cells(this.cursor.x, this.view.column));
    const who = senders.length === 1 && receivers.length === 1
      ? `rank ${senders[0]} \u2192 rank ${receivers[0]}` : `ranks ${rangesText(senders, 4)} \u2192 ranks ${rangesText(receivers, 4)}`;
    if (!sums.pairs[at]) return { text: `${order.title}: ${who}: nothing`, pair: null };
    const amount = amountText(sums.messages[at], sums.bytes[at]);
    const heaviest = this.heaviest(order, sums, at);
    const several = sums.pairs[at] > 1 ? ` in ${countText(sums.pairs[at])} pairs${heaviest ? `, the heaviest ${heaviest[0]} \u2192 ${heaviest[1]}` : ""}` : "";
    return { text: `${order.title}: ${who}: ${amount}${several}${this.meeting(order, heaviest, sums.pairs[at])}`, pair: heaviest };
  }

  heaviest(order, sums, at) {
    const i = sums.heaviest[at];
    return order.bin === 1 && i >= 0 ? [sums.rows[i], order.cells.columns[i]] : null;
  }

  meeting(order, pair, pairs) {
    if (!order.slotOf || !this.machine || !pair || pairs > 1 || pair[0] === pair[1]) return "";
    return `; they meet on ${this.machine.meeting(order.slotOf[pair[0]], order.slotOf[pair[1]])}`;
  }
}
