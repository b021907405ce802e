// Puts the page together from the document.
function figure(value, text) {
  return html("div", { class: "figure" }, html("b", {}, value), html("small", {}, text));
}

function figures(report) {
  const { verdict, levels, traffic, program } = report;
  const items = [];
  if (report.runs && report.runs.comparison) items.push(timesFigure(report.runs.comparison));
  if (levels && levels.before) items.push(...placementFigures(levels));
  else if (verdict.gain !== null) items.push(figure(percentText(verdict.gain), "gain"));
  items.push(figure(traffic.bytes ? bytesText(traffic.bytes) : countText(traffic.messages),
    `in ${countText(traffic.messages)} messages, ${countText(traffic.pairs)} pairs of ${countText(program.ranks)} ranks`));
  return items;
}

function timesFigure(comparison) {
  return figure(`${comparison.ratio.toFixed(2)}x`, `as fast, measured (95 % interval ${comparison.low.toFixed(2)} to ${comparison.high.toFixed(2)})`);
}

function placementFigures(levels) {
  const before = levels.placements.find((each) => each.name === levels.before);
  const plan = levels.placements.find((each) => each.name === "plan");
  const text = levels.metric === "size" ? bytesText : countText;
  const crossing = (each) => levels.kinds.reduce((sum, kind, index) => sum + (/^(Cluster|Switch|Network)/.test(kind) ? each.weight[index] : 0), 0);
  const items = [];
  if (crossing(before) > 0) {
    items.push(figure(`${text(crossing(before))} \u2192 ${text(crossing(plan))}`, `${levels.unit} between nodes: ${before.label} \u2192 plan`));
  }
  const less = before.total > 0 ? 1 - plan.total / before.total : 0;
  items.push(figure(percentText(Math.abs(less)), `${less < 0 ? "higher" : "lower"} cost (${levels.cost_unit}) by the plan`));
  if (levels.gap !== null) {
    items.push(figure(levels.gap === 0 ? "optimal" : percentText(levels.gap).replace(/^(?=\d)/, "\u2264 "), levels.gap === 0 ? "no placement costs less" : "above the best placement that could exist"));
  }
  return items;
}

function facts(program) {
  const hosts = program.hosts.length ? `; traced on ${countText(program.hosts.length)} ${program.hosts.length === 1 ? "host" : "hosts"}` : "";
  const lost = program.missing.length;
  const nothing = lost ? `, nothing from ${countText(lost)} ${lost === 1 ? "rank" : "ranks"}` : "";
  const missing = program.complete ? "" : `; incomplete: not every rank came through MPI_Finalize${nothing}`;
  return [program.command, program.mpi.split(",")[0]].filter(Boolean).join(", ") + hosts + missing;
}

function orders(report) {
  const { heat_map: heat, machine, program } = report;
  const placements = machine ? [...machine.placements] : [];
  if (!placements.length || placements[0].name === "plan") placements.unshift({ name: "ranks", label: "rank order", slot_of: null });
  return placements.map((each) => {
    const cells = heat.maps.find((map) => map.order === each.name) || heat.maps[0];
    const order = new OrderedTraffic(each.name, each.label, each.slot_of, cells, heat.bin, program.ranks);
    order.title = each.name === "plan" ? "By the plan" : each.slot_of ? `Before: ${each.label}` : "Rank order";
    return order;
  });
}

function heatSection(report, machine) {
  const view = new HeatView(orders(report), machine, report.traffic.bytes > 0);
  const about = "Row: the sending rank; column: the receiving rank. Ranks stand in the order of their slots, so what is near the diagonal stays near in the machine. "
    + "The pair under the cursor is marked in both pictures; + and - zoom, arrow keys move, 0 shows all.";
  return [view, section("heat", "Who talks to whom", html("p", {}, about), view.controls(), view.frame, view.status)];
}

function machineSection(report, machine) {
  const picture = new MachinePicture(machine, report);
  const about = picture.small
    ? "Boxes are the objects of the machine, tiles its slots with the ranks in them; lines are the heaviest pairs that cross the highest levels."
    : "Boxes are the objects of the machine. Point at a tile, or move there with the arrow keys, to see its ranks and the tiles it exchanges most with.";
  return [picture, section("machine", "Machine and ranks", html("p", {}, about), picture.controls(), picture.legend, html("div", { class: "scroll" }, picture.drawing), picture.status)];
}

function setTheme(dark, views) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "Light colours" : "Dark colours";
  views.forEach((view) => view.draw());
}

async function show() {
  const packed = JSON.parse(document.getElementById("data").textContent);
  const report = await unpackAll(packed);
  const views = [];
  const sections = [];
  const machine = report.machine ? new Machine(report.machine) : null;
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches, views);
  const add = ([view, part]) => { views.push(view); sections.push(part); };
  add(heatSection(report, machine));
  if (report.levels) sections.push(levelsSection(report.levels));
  if (machine) add(machineSection(report, machine));
  if (report.links.length) sections.push(linksSection(report));
  if (report.limits.length) sections.push(limitsSection(report.limits));
  if (report.node_traffic) add(nodesSection(report));
  if (report.top_pairs.length) sections.push(pairsSection(report));
  if (report.message_sizes.length) sections.push(sizesSection(report));
  sections.push(sharesSection(report), recordingSection(report));
  if (report.collective_decisions.length) sections.push(decisionsSection(report));
  if (report.runs) sections.push(timesSection(report.runs));
  sections.push(commandsSection(report), absentSection(report));
  document.getElementById("main").append(...sections);
  document.getElementById("figures").append(...figures(report));
  document.getElementById("verdict").replaceChildren(...prose(report.verdict.sentence));
  document.getElementById("facts").textContent = facts(report.program);
  document.getElementById("notes").append(...report.notes.map((note) => html("li", {}, prose(note))));
  document.getElementById("contents").append(...sections.map((each) => html("a", { href: `#${each.id}` }, each.querySelector("h2").textContent)));
  document.getElementById("theme").addEventListener("click", () => setTheme(!isDark(), views));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches, views));
  for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => views.forEach((view) => view.draw()));
  PRINT.addEventListener("change", () => views.forEach((view) => view.draw()));
  new ResizeObserver(() => views[0].draw()).observe(document.getElementById("heat-maps"));
  views.forEach((view) => view.draw());
  document.documentElement.dataset.ready = "true";
}

show().catch((error) => {
  document.getElementById("main").append(html("p", { role: "alert" }, `The charts cannot be shown: ${error.message}`));
  throw error;
});
