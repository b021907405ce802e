// The sections that are tables with bars, and the times.
const KIND_OF = { traced: "before", identity: "before", plan: "plan", "round-robin": "other" };

function kindOf(name, before) {
  return name === "identity" && before === "traced" ? "other" : KIND_OF[name];
}

function levelsSection(levels) {
  const text = levels.metric === "size" ? bytesText : countText;
  const most = Math.max(...levels.placements.flatMap((each) => each.weight), 1);
  const used = levels.kinds.map((_, index) => index).filter((index) => levels.placements.some((each) => each.weight[index] > 0));
  const rows = used.flatMap((index) => groupRows(
    index + 1 === levels.kinds.length ? `same ${levels.kinds[index]}` : levels.kinds[index],
    levels.placements.map((each) => [each.label, each.weight[index], kindOf(each.name, levels.before)]), most, text));
  return section("levels", "Traffic by level",
    html("p", {}, `${levels.unit[0].toUpperCase()}${levels.unit.slice(1)} of the pairs of ranks that meet on each level of the machine, the most distant level first.`),
    table(`${levels.unit} by level`, ["level", "placement", "", levels.unit], rows, { id: "levels-table" }),
    html("h3", { class: "after" }, "Cost"), html("p", { class: "quiet" }, costText(levels)), costTable(levels));
}

// Rows of one level: a name once, then a bar a placement.
function groupRows(name, items, most, text) {
  return items.map(([label, value, kind], index) => html("tr", { class: index + 1 < items.length ? "group" : "last" },
    index === 0 ? html("th", { scope: "rowgroup", rowspan: items.length, class: "left" }, name) : null,
    html("td", { class: "left" }, label), html("td", { class: "bar" }, bar(value / most, kind)), html("td", {}, text(value))));
}

function costText(levels) {
  const costs = levels.kinds.map((kind, index) => `${kind} ${threeDigits(levels.costs[index])}`).join(", ");
  return `${levels.cost_unit}: ${levels.unit} times the cost of the level (${costs}).`;
}

function costTable(levels) {
  const items = levels.placements.map((each) => [each.label, each.total, kindOf(each.name, levels.before)]);
  if (levels.bound !== null) items.push(["lower bound: no placement costs less", levels.bound, "bound"]);
  const most = Math.max(...items.map((item) => item[1]), 1);
  const rows = items.map(([label, total, kind]) => [label, bar(total / most, kind), total.toLocaleString("en-US", { maximumSignificantDigits: 6 })]);
  return table("cost by placement", ["placement", "", levels.cost_unit], rows, { id: "cost-table" });
}

function linksSection(report) {
  const names = report.machine.placements.map((each) => each.name);
  const unit = report.traffic.bytes ? "bytes" : "messages";
  const text = unit === "bytes" ? bytesText : countText;
  const most = Math.max(...report.links.flatMap((link) => names.map((name) => link[name][unit])), 1);
  const rows = report.links.flatMap((link) => groupRows(link.link,
    names.map((name) => [report.machine.placements.find((each) => each.name === name).label, link[name][unit], KIND_OF[name]]), most, text));
  return section("links", "Loaded links",
    html("p", {}, "What leaves and enters each object of the machine, both directions together."),
    table(`${unit} over each link`, ["link", "placement", "", unit], rows, { id: "links-table" }));
}

function limitsSection(limits) {
  const parts = limits.flatMap((limit) => [html("h3", { class: "after" }, prose(`${limit.sentence[0].toUpperCase()}${limit.sentence.slice(1)}`)),
    html("ul", {}, limit.would_help.map((remedy) => html("li", {}, prose(remedy.sentence))))]);
  return section("limits", "What would help",
    html("p", {}, prose("What limits each placement by the model of `ranktree map --objective time`, and what would shorten the modelled time. Where the machine gives no latency and bandwidth, the model has usual ones: measure before you change the program.")), parts);
}

function nodesSection(report) {
  const traffic = report.node_traffic;
  const unit = report.traffic.bytes ? "bytes" : "messages";
  const text = unit === "bytes" ? bytesText : countText;
  const parts = traffic.placements.map((each) => {
    const label = report.machine.placements.find((one) => one.name === each.name).label;
    const about = `${label}: ${text(each[unit])} between ${countText(each.pairs_of_nodes)} ${each.pairs_of_nodes === 1 ? "pair" : "pairs"} of nodes`;
    return traffic.complete ? nodeMatrix(traffic.nodes, each, about, unit, text) : nodeList(each, about, text, unit);
  });
  const draw = () => parts.forEach((part) => part.querySelectorAll("td[data-share]").forEach(colourCell));
  return [{ draw }, section("nodes", "Between nodes", html("p", {}, "Both directions together."), html("div", { class: "pair" }, parts))];
}

// A cell of the matrix in the colours of the theme.
function colourCell(cell) {
  const colour = scaleColour(0.05 + 0.95 * Number(cell.dataset.share));
  cell.style.background = `rgb(${colour.join(" ")})`;
  cell.style.color = readableOn(colour);
}

function nodeMatrix(nodes, placement, about, unit, text) {
  const values = new Map(placement.heaviest.flatMap((row) => [[row.nodes.join(" "), row[unit]], [[...row.nodes].reverse().join(" "), row[unit]]]));
  const most = Math.max(...values.values(), 1);
  const rows = nodes.map((node) => html("tr", {}, html("th", { scope: "row" }, node), nodes.map((other) => {
    const value = values.get(`${node} ${other}`) || 0;
    if (!value) return html("td", { class: "heat quiet" }, node === other ? "" : "0");
    return html("td", { class: "heat", "data-share": value / most }, text(value));
  })));
  return table(about, ["", ...nodes], rows, { class: "nodes" });
}

function nodeList(placement, about, text, unit) {
  const most = Math.max(...placement.heaviest.map((row) => row[unit]), 1);
  const rows = placement.heaviest.slice(0, 20).map((row) => [`${row.nodes[0]} - ${row.nodes[1]}`, bar(row[unit] / most, KIND_OF[placement.name]), text(row[unit])]);
  return table(`${about}; the heaviest`, ["nodes", "", unit], rows, { class: "nodes" });
}

function pairsSection(report) {
  const kinds = report.machine ? report.machine.kinds : [];
  const keys = [["before", "met on"], ["after", "meet by the plan on"]].filter(([key]) => report.top_pairs.length && key in report.top_pairs[0]);
  const rows = report.top_pairs.slice(0, 25).map((pair) => [`${pair.from} \u2192 ${pair.to}`, countText(pair.messages), bytesText(pair.bytes), ...keys.map(([key]) => kinds[pair[key]])]);
  return section("pairs", "Heaviest pairs",
    table("the pairs of ranks that exchange most", ["ranks", "messages", "bytes", ...keys.map(([, label]) => label)], rows, { id: "pairs-table" }));
}

function sizesSection(report) {
  const parts = report.message_sizes.map((histogram) => {
    const most = Math.max(...histogram.buckets.map((bucket) => bucket.count), 1);
    const rows = histogram.buckets.map((bucket) => [bucket.from ? `${powerText(bucket.from)} to ${powerText(bucket.to)}` : "empty", bar(bucket.count / most, "plan"), countText(bucket.count)]);
    return table(histogram.label, ["size", "", histogram.counts], rows, { class: "sizes" });
  });
  return section("sizes", "Message sizes", html("div", { class: "pair" }, parts));
}

function sharesSection(report) {
  const { traffic } = report;
  const all = traffic.bytes || traffic.messages || 1;
  const share = (each) => (traffic.bytes ? each.bytes : each.messages) / all;
  const classes = traffic.classes.map((each) => [each.label, bar(share(each), "plan"), percentText(share(each)), countText(each.messages), bytesText(each.bytes)]);
  const model = traffic.collectives_model ? ` Collective calls are counted as the messages that ${modelText(traffic.collectives_model)}.` : "";
  const parts = [html("p", {}, `What the ${bytesText(traffic.bytes)} are made of.${model}`),
    table("by class", ["class", "", "share", "messages", "bytes"], classes, { id: "classes-table" })];
  if (report.sends.calls.length) {
    parts.push(callTable("point-to-point messages by call", report.sends.calls, "call", (row) => row.call, "sends-table", "messages"));
    parts.push(callTable("point-to-point messages by communicator", report.sends.communicators.slice(0, 20), "communicator", communicatorText, "send-communicators-table", "messages"));
  }
  if (report.calls.length) {
    parts.push(callTable("collective calls by operation, summed over the ranks", report.calls, "operation", (row) => row.operation, "calls-table"));
    parts.push(callTable("collective calls by communicator", report.communicators.slice(0, 20), "communicator", communicatorText, "communicators-table"));
  }
  return section("shares", "Shares", parts);
}

function modelText(model) {
  return { openmpi: "Open MPI sends for them", mpich: "MPICH sends for them", flat: "a flat algorithm sends", none: "no model adds (they are left out)" }[model];
}

function communicatorText(row) {
  if (row.communicator < 0) return "members not recorded";
  return `${row.communicator}: ranks ${row.members.length > 60 ? `${row.members.slice(0, 57)}...` : row.members}`;
}

function callTable(caption, items, heading, name, id, counted = "calls") {
  const most = Math.max(...items.map((row) => row.bytes), 1);
  const rows = items.map((row) => [name(row), bar(row.bytes / most, "plan"), countText(row[counted]), bytesText(row.bytes)]);
  return table(caption, [heading, "", counted, "bytes"], rows, { id });
}

function recordingSection(report) {
  const { tracing } = report;
  const parts = [];
  if (report.not_attributed.length) {
    parts.push(table("calls that moved data and are in no pair", ["call", "count"], report.not_attributed.map((row) => [row.call, countText(row.count)]), { id: "lost-table" }));
  } else parts.push(html("p", { id: "lost-none" }, "Everything that was recorded is attributed to a pair or a call."));
  if (tracing) {
    parts.push(html("p", { id: "tracing" }, `Recording took about ${secondsText(tracing.seconds_at_the_busiest_rank)} at the busiest rank: `
      + `${countText(tracing.messages_of_the_busiest_rank)} messages at ${tracing.nanoseconds_a_message} ns, as measured in docs/benchmarks/tracing.md.`));
  }
  return section("recording", "Not attributed", parts);
}

function decisionsSection(report) {
  const rows = report.collective_decisions.map((each) => (each.text ? html("tr", {}, html("td", { colspan: 4, class: "left" }, each.text)) : [each.where, each.kind, each.choice, each.candidates.join(" | ")]));
  return section("decisions", "Collectives",
    table("by communicator and kind of call", ["communicator", "kind", "choice", "candidates"], rows, { id: "decisions-table" }));
}

function timesSection(runs) {
  const rows = runs.series.map((series) => [series.name, String(series.values.length), `${threeDigits(series.median)} ${runs.unit}`, series.command ? series.command.join(" ") : ""]);
  return section("times", "Times", runs.comparison ? html("p", {}, prose(runs.comparison.sentence)) : null, html("div", { class: "scroll" }, timesPicture(runs)),
    table("runs", ["", "runs", "median", "command"], rows, { id: "times-table" }));
}

// A dot a run, the median and its interval: a row a series.
function timesPicture(runs) {
  const values = runs.series.flatMap((series) => [...series.values, ...(series.interval || [])]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const place = (value) => 190 + (high > low ? (value - low) / (high - low) : 0.5) * 560;
  const parts = runs.series.flatMap((series, index) => {
    const y = 30 + 44 * index;
    const dots = series.values.map((value) => svg("circle", { class: "run", cx: place(value), cy: y, r: 5 }));
    const interval = series.interval ? svg("line", { class: "interval", x1: place(series.interval[0]), x2: place(series.interval[1]), y1: y + 14, y2: y + 14 }) : null;
    return [svg("text", { x: 8, y: y + 5 }, series.name), ...dots, interval, svg("circle", { class: "median", cx: place(series.median), cy: y + 14, r: 6 })];
  });
  const bottom = 30 + 44 * runs.series.length;
  const label = runs.series.map((series) => `${series.name}: median ${threeDigits(series.median)} ${runs.unit} of ${series.values.length} runs`).join("; ");
  return svg("svg", { class: "times", id: "times-picture", viewBox: `0 0 780 ${bottom + 30}`, role: "img", "aria-label": label }, parts,
    svg("line", { class: "axisline", x1: 190, x2: 750, y1: bottom, y2: bottom }),
    svg("text", { x: 190, y: bottom + 18, "text-anchor": "middle" }, `${threeDigits(low)} ${runs.unit}`),
    svg("text", { x: 750, y: bottom + 18, "text-anchor": "middle" }, `${threeDigits(high)} ${runs.unit}`));
}

function commandsSection(report) {
  const items = report.commands.flatMap((each) => [html("dt", {}, each.what), html("dd", {}, html("pre", { tabindex: "0" }, html("code", {}, each.command)))]);
  return section("commands", "Commands", html("dl", { class: "steps" }, items));
}

function absentSection(report) {
  return section("absent", "Not in the data", html("ul", {}, report.absent.map((line) => html("li", {}, prose(line)))));
}
