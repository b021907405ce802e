// The data of the heat maps: packed arrays, the order of the ranks in each placement, sums over the cells of a picture.
const ARRAYS = { u1: Uint8Array, u4: Uint32Array, f8: Float64Array };

async function unpacked(item) {
  const packed = Uint8Array.from(atob(item.deflate), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new ARRAYS[item.type](await new Response(stream).arrayBuffer());
}

// Replaces every packed array inside an object.
async function unpackAll(item) {
  if (Array.isArray(item)) return Promise.all(item.map(unpackAll));
  if (item === null || typeof item !== "object") return item;
  if ("deflate" in item) return unpacked(item);
  const entries = await Promise.all(Object.entries(item).map(async ([key, value]) => [key, await unpackAll(value)]));
  return Object.fromEntries(entries);
}

// The ranks sorted by a key each; equal keys in rank order.
function sortedBy(keys) {
  return Uint32Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b] || a - b);
}

// One order of the ranks with the traffic in it.
class OrderedTraffic {
  // slotOf: the slot of each rank, null for the order of the ranks; cells: its map, of `bin` ranks a cell.
  constructor(name, label, slotOf, cells, bin, ranks) {
    Object.assign(this, { name, label, slotOf, cells, bin, ranks });
    this.rankAt = slotOf ? sortedBy(slotOf) : Uint32Array.from({ length: ranks }, (_, rank) => rank);
    this.positionOf = new Uint32Array(ranks);
    this.rankAt.forEach((rank, position) => { this.positionOf[rank] = position; });
    this.size = Math.ceil(ranks / bin);
  }

  // Where a row or column of the cells stands.
  place(index) {
    return this.bin === 1 ? this.positionOf[index] : index;
  }

  // Sums over `count` x `count` parts of the window's cells. `heaviest` is the number of the heaviest cell, -1 for none.
  sums(view, count, value) {
    const { starts, columns, bytes, messages, pairs } = this.cells;
    const found = {
      count, bytes: new Float64Array(count * count), messages: new Float64Array(count * count),
      pairs: new Uint32Array(count * count), heaviest: new Int32Array(count * count).fill(-1), rows: new Uint32Array(columns.length),
    };
    const weight = this.cells[value];
    for (let row = 0; row + 1 < starts.length; row++) {
      const y = this.part(this.place(row) - view.row, view.size, count);
      for (let i = starts[row]; i < starts[row + 1]; i++) {
        found.rows[i] = row;
        const x = y < 0 ? -1 : this.part(this.place(columns[i]) - view.column, view.size, count);
        if (x < 0) continue;
        const at = y * count + x;
        found.bytes[at] += bytes[i];
        found.messages[at] += messages[i];
        found.pairs[at] += pairs ? pairs[i] : 1;
        if (found.heaviest[at] < 0 || weight[i] > weight[found.heaviest[at]]) found.heaviest[at] = i;
      }
    }
    return found;
  }

  part(offset, size, count) {
    return offset >= 0 && offset < size ? Math.floor(offset * count / size) : -1;
  }

  // The ranks of positions first..last (of cells).
  ranksBetween(first, last) {
    const end = Math.min((last + 1) * this.bin, this.ranks);
    return Array.from(this.rankAt.subarray(first * this.bin, end)).sort((a, b) => a - b);
  }
}

// Lowest and highest positive number of several arrays.
function rangeOf(arrays) {
  let low = Infinity;
  let high = 0;
  for (const array of arrays) {
    for (const value of array) {
      if (value > 0) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  return high > 0 ? [low, high] : [1, 1];
}

// 0..1 on a logarithmic scale.
function logarithmic(value, [low, high]) {
  return high > low ? Math.log(value / low) / Math.log(high / low) : 1;
}
