/** Sliders and a picture. Python computes every figure; here they are only placed. */

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 720, HEIGHT = 300, LEFT = 74, BOTTOM = 34, TOP = 10, RIGHT = 12;
const SLIDERS = [
  ["turns", "turns", 2, 5000], ["message_bytes", "bytes of text", 0, 20000],
  ["k", "K", 1, 5000], ["nodes", "nodes a turn", 1, 10],
];

export default {
  render({ model, el }) {
    const root = html("div", { class: "cpx" });
    const picture = html("div", { class: "cpx-picture" });
    const summary = html("p", { class: "cpx-summary", "aria-live": "polite" });
    root.append(controls(model), summary, picture);
    el.append(root);
    const draw = () => {
      summary.textContent = model.get("_summary");
      picture.replaceChildren(chart(model.get("_curves"), model.get("_points"), model.get("_summary"), model.get("k")));
    };
    model.on("change:_summary change:_curves change:_points", draw);
    draw();
    return () => model.off("change:_summary change:_curves change:_points", draw);
  },
};

function controls(model) {
  const select = html("select", { "aria-label": "saver" });
  for (const saver of ["memory", "sqlite", "postgres"]) select.append(html("option", { value: saver }, saver));
  select.value = model.get("saver");
  select.addEventListener("change", () => save(model, "saver", select.value));
  model.on("change:saver", () => { select.value = model.get("saver"); });
  return html("div", { class: "cpx-controls" }, html("label", {}, "saver ", select), ...SLIDERS.map((each) => slider(model, ...each)));
}

/** A slider on a logarithmic scale: small values matter as much as large ones. */
function slider(model, trait, text, least, most) {
  const scale = Math.log(most - least + 1);
  const place = (value) => Math.round((1000 * Math.log(value - least + 1)) / scale);
  const value = (at) => Math.round(Math.exp((at / 1000) * scale) - 1 + least);
  const input = html("input", { type: "range", min: 0, max: 1000, "aria-label": text });
  const shown = html("output", {});
  const show = () => {
    input.value = place(model.get(trait));
    shown.textContent = model.get(trait).toLocaleString("en");
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  input.addEventListener("input", () => { save(model, trait, value(Number(input.value))); });
  model.on(`change:${trait}`, show);
  show();
  return html("label", {}, `${text} `, input, shown);
}

function save(model, trait, value) {
  model.set(trait, value);
  model.save_changes();
}

function chart(curves, points, summary, k) {
  const lastTurn = Math.max(1, ...curves.map(([turn]) => turn));
  const most = Math.max(1, ...curves.flatMap(([, full, delta]) => [full, delta]));
  const x = (turn) => LEFT + (turn / lastTurn) * (WIDTH - LEFT - RIGHT);
  const y = (bytes) => HEIGHT - BOTTOM - (bytes / most) * (HEIGHT - BOTTOM - TOP);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary });
  for (let part = 0; part <= 4; part += 1) {
    const bytes = (most * part) / 4, turn = (lastTurn * part) / 4;
    picture.append(
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(bytes), y2: y(bytes), class: "cpx-grid" }),
      svg("text", { x: LEFT - 6, y: y(bytes) + 4, class: "cpx-tick", "text-anchor": "end" }, size(bytes)),
      svg("text", { x: x(turn), y: HEIGHT - 18, class: "cpx-tick", "text-anchor": "middle" }, String(Math.round(turn))),
    );
  }
  picture.append(svg("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 3, class: "cpx-tick", "text-anchor": "middle" }, "turns"));
  const path = (column) => curves.map((row) => `${x(row[0]).toFixed(1)},${y(row[column]).toFixed(1)}`).join(" ");
  picture.append(
    svg("polyline", { points: path(1), class: "cpx-full" }), svg("polyline", { points: path(2), class: "cpx-delta" }),
    svg("text", { x: LEFT + 10, y: TOP + 12, class: "cpx-key" }, `full - - -   K=${k} ———   measured ○ full, □ K`),
    ...points.map(([turn, bytes, label]) => mark(x(turn), y(bytes), label, `${label}, ${turn} turns, measured ${size(bytes)}`)),
  );
  return picture;
}

function mark(x, y, label, title) {
  const shape = label === "full"
    ? svg("circle", { cx: x, cy: y, r: 5, class: "cpx-point" })
    : svg("rect", { x: x - 4.5, y: y - 4.5, width: 9, height: 9, class: "cpx-point" });
  shape.append(svg("title", {}, title));
  return shape;
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; unit += 1) bytes /= 1000;
  return `${bytes.toFixed(bytes < 10 && unit ? 1 : 0)} ${units[unit]}`;
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
