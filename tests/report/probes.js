// What the tests ask of the page.
function rowsOf(id) {
  return [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => [...row.cells].map((cell) => cell.textContent));
}

// Pixels of the cursor's ring, #c2185b, in a canvas.
function ringPixels(id) {
  const canvas = document.getElementById(id);
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += data[i] === 194 && data[i + 1] === 24 && data[i + 2] === 91;
  return count;
}

// The colour of a cell, beside its middle.
function cellColour(id, row, column, size) {
  const canvas = document.getElementById(id);
  const step = canvas.width / size;
  return [...canvas.getContext("2d").getImageData((column + 0.25) * step, (row + 0.25) * step, 1, 1).data];
}

function namelessControls() {
  const name = (element) => element.textContent.trim() || element.getAttribute("aria-label") || element.labels?.length;
  const controls = "button, input, canvas:not([aria-hidden]), svg[role], [tabindex]";
  return [...document.querySelectorAll(controls)].filter((element) => !name(element)).length;
}

// The lowest contrast of any shown text with what is behind it (WCAG 2.1).
function lowestContrast() {
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const part = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = colour.map((value) => part(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let outer = element; outer; outer = outer.parentElement) {
      const colour = parse(getComputedStyle(outer).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  let worst = { value: 99, text: "" };
  for (const element of document.querySelectorAll("body *")) {
    if (element.namespaceURI.endsWith("svg") || !element.offsetParent || !hasText(element)) continue;
    const both = [parse(getComputedStyle(element).color), behind(element)].map((colour) => luminance(colour.slice(0, 3)));
    const value = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (value < worst.value) worst = { value, text: element.textContent.slice(0, 60) };
  }
  return worst;
}

// How many lines of text each element has.
function lines(selector) {
  return [...document.querySelectorAll(selector)].map((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
  });
}

// How many boxes have text that reaches beyond their side.
function cut(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => element.scrollWidth > element.clientWidth).length;
}

// The lowest text among elements, in pixels of the style sheet.
function lowestText(selector) {
  return Math.min(...[...document.querySelectorAll(selector)].map((element) => element.getBoundingClientRect().height));
}
