/** Draws the attempts of a recorded run. Python says what happened; nothing is computed here but places. */

const SVG = "http://www.w3.org/2000/svg";
const LABEL = 190, ROW = 34, WIDTH = 900, TOP = 8, AXIS = 26;
const LETTERS = {
  "model start": "M", "model chunk": "·", "model end": "M", "child event": "c", "child task": "t",
  "subgraph part": "s", "stream writer": "w", "channel write": "W", heartbeat: "♥",
};

export default {
  render({ model, el }) {
    const root = html("div", { class: "ttl" });
    el.append(root);
    const draw = () => root.replaceChildren(...view(model.get("_headline"), model.get("_lanes")));
    model.on("change:_lanes", draw);
    draw();
    return () => model.off("change:_lanes", draw);
  },
};

function view(headline, lanes) {
  const last = Math.max(0.001, ...lanes.flatMap((lane) => [lane.end, lane.stopped ?? lane.end, ...late(lane)]));
  const end = last * 1.04;
  const x = (seconds) => LABEL + (seconds / end) * (WIDTH - LABEL - 12);
  const height = TOP + lanes.length * ROW + AXIS;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${headline}. The table below says the same.` });
  picture.append(...axis(x, end, height), ...lanes.flatMap((lane, index) => drawLane(lane, TOP + index * ROW, x, end)));
  return [html("div", { class: "ttl-head" }, headline), picture, legend(), table(lanes)];
}

const late = (lane) => lane.signals.filter(([, , isLate]) => isLate).map(([, at]) => at);

/** A bar from start to end, what went on after it, the pause before it, its signals and its deadlines. */
function drawLane(lane, top, x, end) {
  const middle = top + ROW / 2;
  const label = svg("text", { x: 4, y: middle + 4, class: "ttl-label" }, `${short(lane.node)} · attempt ${lane.number}`);
  const bar = rect(x(lane.start), top + 7, x(lane.end) - x(lane.start), ROW - 14, `ttl-bar ttl-${lane.outcome.replace(" ", "-")}`,
    `${lane.outcome} after ${seconds(lane.end - lane.start)}`);
  const parts = [label, bar];
  if (lane.pause > 0) parts.push(line(x(lane.start - lane.pause), middle, x(lane.start), middle, "ttl-pause", `back-off ${seconds(lane.pause)}`));
  const goesOn = lane.stopped === null ? end : lane.stopped;
  if (goesOn > lane.end + 0.002) {
    parts.push(rect(x(lane.end), top + 11, x(goesOn) - x(lane.end), ROW - 22, "ttl-after", `went on for ${seconds(goesOn - lane.end)} after the decision`));
  }
  for (const [kind, at] of [["run", lane.run], ["idle", lane.idle]]) {
    if (at !== null && at <= end) parts.push(line(x(at), top + 2, x(at), top + ROW - 2, `ttl-deadline ttl-${kind}-clock`, `${kind} deadline at ${seconds(at)}`));
  }
  return [...parts, ...lane.signals.map((signal) => drawSignal(signal, middle, x))];
}

function drawSignal([kind, at, isLate], middle, x) {
  const mark = svg("text", { x: x(at), y: middle + 4, class: isLate ? "ttl-signal ttl-late" : "ttl-signal" }, LETTERS[kind] ?? "?");
  mark.append(svg("title", {}, `${isLate ? "too late: " : ""}${kind} at ${seconds(at)}`));
  return mark;
}

function axis(x, end, height) {
  const step = 10 ** Math.floor(Math.log10(end));
  const unit = end / step < 2 ? step / 5 : end / step < 5 ? step / 2 : step;
  const marks = [];
  for (let at = 0; at <= end; at += unit) {
    marks.push(line(x(at), TOP, x(at), height - AXIS + 4, "ttl-grid"), svg("text", { x: x(at), y: height - 8, class: "ttl-tick" }, seconds(at)));
  }
  return marks;
}

function legend() {
  const deadlines = [["run", "run deadline"], ["idle", "idle deadline"]].map(([kind, text]) =>
    html("span", {}, html("span", { class: `ttl-key ttl-${kind}-key` }), text));
  const letters = Object.entries(LETTERS).filter(([kind]) => kind !== "model end").map(([kind, letter]) =>
    html("span", {}, html("b", {}, letter), ` ${kind}`));
  const rest = [html("span", {}, html("span", { class: "ttl-key ttl-after-key" }), "still running after the decision")];
  return html("div", { class: "ttl-legend", "aria-hidden": "true" }, ...deadlines, ...rest, ...letters);
}

function table(lanes) {
  const head = ["node", "attempt", "from", "to", "outcome", "stopped", "signals", "writes"].map((name) => html("th", { scope: "col" }, name));
  const rows = lanes.map((lane) => html("tr", {}, ...[
    lane.node, lane.number, seconds(lane.start), seconds(lane.end), lane.outcome,
    lane.stopped === null ? "still running" : seconds(lane.stopped), lane.said, lane.wrote,
  ].map((cell) => html("td", {}, String(cell)))));
  return html("div", { class: "ttl-table" }, html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows)));
}

const seconds = (value) => `${value.toFixed(value < 10 ? 2 : 0)} s`;
const short = (name) => (name.length > 16 ? `${name.slice(0, 15)}…` : name);

function rect(x, y, width, height, name, title) {
  const shape = svg("rect", { x, y, width: Math.max(1, width), height, rx: 3, class: name });
  shape.append(svg("title", {}, title));
  return shape;
}

function line(x1, y1, x2, y2, name, title) {
  const shape = svg("line", { x1, y1, x2, y2, class: name });
  if (title) shape.append(svg("title", {}, title));
  return shape;
}

function svg(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
