// Numbers as readers want them; the same rules as ranktree/report/units.py.
const DECIMAL = [["PB", 1e15], ["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
const BINARY = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];

// Three digits without an exponent.
function threeDigits(value) {
  if (value >= 999.5) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function bytesText(value) {
  for (const [unit, factor] of DECIMAL) {
    if (value >= factor) return `${threeDigits(value / factor)} ${unit}`;
  }
  return `${threeDigits(value)} bytes`;
}

function countText(value) {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

// The bounds of a histogram's buckets are powers of two.
function powerText(value) {
  for (const [unit, factor] of BINARY) {
    if (value >= factor) return `${value / factor} ${unit}`;
  }
  return `${value} B`;
}

function secondsText(value) {
  for (const [unit, factor] of [["s", 1], ["ms", 1e3], ["us", 1e6]]) {
    if (value * factor >= 1) return `${threeDigits(value * factor)} ${unit}`;
  }
  return `${threeDigits(value * 1e9)} ns`;
}

function percentText(fraction) {
  const value = 100 * fraction;
  if (value === 0) return "0 %";
  if (Math.abs(value) < 0.05) return "< 0.1 %";
  if (value > 99.5 && value < 100) return "> 99 %";
  return `${Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(1)} %`;
}

// Messages and bytes; one that a pattern does not know is 0 and left out.
function amountText(messages, bytes) {
  const exact = bytes >= 1000 ? ` (${countText(bytes)} bytes)` : "";
  return [messages ? `${countText(messages)} messages` : null, bytes || !messages ? bytesText(bytes) + exact : null].filter(Boolean).join(", ");
}

// "3, 5-7" from sorted numbers, cut after `most` runs.
function rangesText(numbers, most = 12) {
  const runs = [];
  for (const number of numbers) {
    const last = runs[runs.length - 1];
    if (last && number === last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const words = runs.slice(0, most).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return words.join(", ") + (runs.length > most ? `, ... (${numbers.length} in all)` : "");
}
