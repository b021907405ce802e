// Elements of the page, made with textContent only: nothing from the data is ever read as markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A sentence of the document: its commands as code, and no line break between a number and its unit.
function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? html("code", {}, part) : part.replace(/(\d) (%|[kMGTP]?B|bytes|[mun]?s)(?!\w)/g, "$1\u00a0$2")));
}

// A bar of a fraction of the cell's width, as a picture, so that it is printed too.
function bar(fraction, kind) {
  const width = Math.max(0, Math.min(1, fraction)) * 100;
  return svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: `p-${kind}`, width: width > 0 ? Math.max(width, 0.4) : 0, height: 10 }));
}

const LEFT = new Set(["placement", "kind", "choice", "candidates", "command"]);

// A table with a heading for each column; cells are texts or elements. The box can be scrolled by keyboard.
function table(caption, header, rows, attributes) {
  const head = html("tr", {}, header.map((text) => html("th", { scope: "col", class: LEFT.has(text) ? "left" : null }, text)));
  const body = rows.map((cells) => (cells instanceof Element ? cells : html("tr", {}, cells.map((content, index) => cell(content, LEFT.has(header[index]))))));
  const inside = html("table", attributes || {}, html("caption", {}, caption), html("thead", {}, head), html("tbody", {}, body));
  return html("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, inside);
}

function cell(content, left) {
  if (content instanceof HTMLTableCellElement) return content;
  return html("td", content instanceof SVGElement ? { class: "bar" } : { class: left ? "left" : null }, content);
}

function section(id, title, ...children) {
  return html("section", { id, "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), ...children);
}

// Choices of which one is chosen; calls `choose` with its value.
function radios(name, legend, values, chosen, choose) {
  const items = values.map(([value, label]) => html("label", {},
    html("input", { type: "radio", name, value, checked: value === chosen, onchange: () => choose(value) }), ` ${label}`));
  return html("div", { class: "choice", role: "radiogroup", "aria-label": legend }, html("span", { class: "quiet" }, legend), items);
}

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const PRINT = matchMedia("print");

// Paper is light.
function isDark() {
  return document.documentElement.dataset.theme === "dark" && !PRINT.matches;
}

const SCALE_COLOURS = Array.from({ length: SCALE.length / 6 }, (_, step) => [0, 2, 4].map((offset) => parseInt(SCALE.substr(6 * step + offset, 2), 16)));

// The colour of an amount in 0..1 as [red, green, blue]: the more, the farther from the background.
function scaleColour(amount) {
  return SCALE_COLOURS[isDark() ? 64 + Math.round(amount * 191) : 236 - Math.round(amount * 236)];
}

function cssScale(amount) {
  return `rgb(${scaleColour(amount).join(" ")})`;
}

// Black or white, whichever contrasts more with a background (WCAG 2.1, relative luminance).
function readableOn([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}
