/**
 * Draws a run's AG-UI events. Python says what belongs to what (rows and lanes); nothing is interpreted here.
 * Everything in an event is untrusted: it reaches the page as text nodes only.
 */

const KINDS = [
  ["run", "▸"],
  ["text", "¶"],
  ["tool", "ƒ"],
  ["state", "□"],
  ["other", "○"],
];
const SYMBOLS = Object.fromEntries(KINDS);
const ZOOMS = [1, 4, 16, 64, 256];
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const LANE_HEIGHT = 40;
const ROW_HEIGHT = 24;
const OVERSCAN = 4;
const RESULT_DISTANCE = 4; // in steps of the order axis
const GAP_LABEL_WIDTH = 96;
const EDGE = 14; // px kept free at both ends of a track
const BAR = { y: 12, height: 16 };
const JSON_LIMIT = 200_000;
const ICONS = {
  first: "M3 3h2v10h-2zM13 3v10l-7 -5z",
  back: "M11 3v10l-7 -5z",
  play: "M4 2.5v11l9 -5.5z",
  pause: "M4 3h3v10h-3zM9 3h3v10h-3z",
  forward: "M5 3v10l7 -5z",
  last: "M11 3h2v10h-2zM3 3v10l7 -5z",
};
let viewCount = 0;

/** One store per widget model; it outlives its views. */
export default () => {
  const store = createStore();
  return {
    initialize({ model }) {
      store.apply(model.get("_recording"));
      const replace = () => store.apply(model.get("_recording"));
      const append = () => store.apply(model.get("_batch"));
      model.on("change:_recording", replace);
      model.on("change:_batch", append);
      return () => {
        model.off("change:_recording", replace);
        model.off("change:_batch", append);
      };
    },
    render({ model, el }) {
      return createView(model, el, store);
    },
  };
};

/** The events received so far and what Python said of them. */
function createStore() {
  const store = { revision: -1, events: [], rows: [], lanes: [], error: null, listeners: new Set() };
  store.apply = (text) => {
    try {
      if (text) addPacket(store, JSON.parse(text));
    } catch (error) {
      store.error = error;
    }
    store.listeners.forEach((listener) => listener());
  };
  return store;
}

/** A packet with a new revision replaces everything. It may repeat events already here; its lanes are always news. */
function addPacket(store, { revision, start, events, rows, lanes }) {
  if (start === 0 && revision !== store.revision) {
    Object.assign(store, { revision, events: [], rows: [], lanes: [], error: null });
  }
  if (revision !== store.revision || start > store.events.length) return;
  const skip = store.events.length - start;
  events.slice(skip).forEach((event) => store.events.push(event));
  rows.slice(skip).forEach(([type, kind, phase, lane, text]) => {
    const index = store.rows.push({ type, kind, phase, lane, text }) - 1;
    store.lanes[lane] ??= { indexes: [] };
    store.lanes[lane].indexes.push(index);
  });
  Object.entries(lanes).forEach(([place, lane]) => {
    store.lanes[place] = { ...lane, indexes: store.lanes[place].indexes };
  });
}

/** Build one view; returns its clean-up. */
function createView(model, el, store) {
  const view = { model, store, id: `esv${++viewCount}`, frame: 0, clock: null, from: 0 };
  view.guard =
    (callback) =>
    (...args) => {
      try {
        return callback(...args);
      } catch (error) {
        showError(view, error);
        return undefined;
      }
    };
  buildFrame(view, el);
  const redraw = view.guard(() => draw(view));
  view.schedule = () => {
    view.frame ||= requestAnimationFrame(() => {
      view.frame = 0;
      redraw();
    });
  };
  const onData = view.guard(() => readStore(view));
  const watched = [
    ["change:cursor", view.guard(() => readCursor(view))],
    ["change:kinds change:_violations", view.guard(() => readChoices(view))],
    ["change:speed change:axis change:zoom", view.guard(() => redrawAll(view))],
  ];
  store.listeners.add(onData);
  watched.forEach(([names, callback]) => model.on(names, callback));
  const resizing = new ResizeObserver(view.schedule);
  resizing.observe(view.root);
  onData();
  return () => {
    pause(view);
    cancelAnimationFrame(view.frame);
    clearTimeout(view.saving);
    resizing.disconnect();
    store.listeners.delete(onData);
    watched.forEach(([names, callback]) => model.off(names, callback));
  };
}

// ---------------------------------------------------------------- state

/** Take in new events: reading order of lanes, axis positions, playback times. */
function readStore(view) {
  const { lanes, events, error } = view.store;
  if (error) throw error;
  view.order = lanes.map((_, place) => place);
  view.order.sort((a, b) => lanes[a].order[0] - lanes[b].order[0] || lanes[a].order[1] - lanes[b].order[1]);
  view.run = lanes.filter((lane) => lane.family === "run").at(-1);
  view.times = readTimes(events);
  view.places = orderPlaces(view.store.rows);
  view.moments = playbackMoments(view.times ?? view.places);
  readChoices(view);
}

/** Take in what to list and what to mark. */
function readChoices(view) {
  const found = view.model.get("_violations") ?? [];
  view.violations = new Map();
  found.forEach((each) => {
    if (each.index !== null)
      view.violations.set(each.index, [...(view.violations.get(each.index) ?? []), each]);
  });
  view.wholeRun = found.filter((each) => each.index === null);
  view.kinds = new Set(view.model.get("kinds"));
  view.shown = view.store.rows.flatMap((row, index) => (view.kinds.has(row.kind) ? [index] : []));
  readCursor(view);
  redrawAll(view);
}

/** -1 stays with the latest event. */
function readCursor(view) {
  const cursor = view.model.get("cursor");
  const last = view.store.events.length - 1;
  const now = cursor < 0 ? last : Math.min(cursor, last);
  if (now === view.cursor) return;
  view.cursor = now;
  view.followCursor = true;
  view.schedule();
}

function redrawAll(view) {
  view.stale = true;
  view.schedule();
}

/** Milliseconds since the first event, never running backwards; null when an event has no timestamp. */
function readTimes(events) {
  const times = new Float64Array(events.length);
  let latest = -Infinity;
  for (let i = 0; i < events.length; i += 1) {
    if (!Number.isFinite(events[i].timestamp)) return null;
    latest = Math.max(latest, events[i].timestamp);
    times[i] = latest - events[0].timestamp;
  }
  return latest > (events[0]?.timestamp ?? Infinity) ? times : null;
}

/**
 * Where events lie when only their order is known. Repeats of one phase take ever less room, so that a long
 * answer does not squeeze the rest; a RESULT keeps its distance, so that the tool is seen to run.
 */
function orderPlaces(rows) {
  const places = new Float64Array(rows.length);
  let repeats = 0;
  for (let i = 1; i < rows.length; i += 1) {
    repeats = rows[i].lane === rows[i - 1].lane && rows[i].phase === rows[i - 1].phase ? repeats + 1 : 0;
    places[i] = places[i - 1] + (rows[i].phase === "RESULT" ? RESULT_DISTANCE : 1 / (repeats + 1));
  }
  return places;
}

/** When each event appears at speed 1, in ms: gaps in proportion, long ones capped, 3 to 20 s in all. */
function playbackMoments(positions) {
  const count = positions.length;
  const moments = new Float64Array(count);
  for (let i = 1; i < count; i += 1) {
    const gap = ((positions[i] - positions[i - 1]) / positions[count - 1]) * (count - 1);
    moments[i] = moments[i - 1] + 1 + Math.min(gap, 12);
  }
  const scale = Math.min(Math.max(count * 90, 3000), 20000) / (moments[count - 1] || 1);
  return moments.map((moment) => moment * scale);
}

/** Select an event (clamped); Python hears of it at most every 150 ms. */
function moveTo(view, index) {
  const last = view.store.events.length - 1;
  view.model.set("cursor", index >= last ? -1 : Math.max(0, index));
  view.saving ??= setTimeout(() => {
    view.saving = null;
    view.model.save_changes();
  }, 150);
}

function saveState(view, name, value) {
  view.model.set(name, value);
  view.model.save_changes();
}

/** The next listed event before or after the cursor. */
function step(view, direction) {
  pause(view);
  const place = lowerBound(view.shown, view.cursor + (direction > 0 ? 1 : 0)) + (direction > 0 ? 0 : -1);
  if (place >= 0 && place < view.shown.length) moveTo(view, view.shown[place]);
}

function play(view) {
  const last = view.store.events.length - 1;
  if (last < 1) return;
  if (view.cursor >= last) moveTo(view, 0);
  view.clock = { moment: view.moments[view.cursor], at: performance.now() };
  const tick = view.guard((now) => {
    if (!view.clock) return;
    advance(view, now);
    if (view.clock) view.clock.frame = requestAnimationFrame(tick);
  });
  view.clock.frame = requestAnimationFrame(tick);
  view.schedule();
}

function advance(view, now) {
  view.clock.moment += Math.max(0, now - view.clock.at) * view.model.get("speed");
  view.clock.at = now;
  const next = lowerBound(view.moments, view.clock.moment + 1e-9) - 1;
  if (next > view.cursor) moveTo(view, next);
  if (view.cursor >= view.store.events.length - 1) pause(view);
}

function pause(view) {
  if (!view.clock) return;
  cancelAnimationFrame(view.clock.frame);
  view.clock = null;
  view.schedule();
}

const togglePlay = (view) => (view.clock ? pause(view) : play(view));

function nextViolation(view) {
  const places = [...view.violations.keys()].sort((a, b) => a - b);
  if (!places.length) return;
  pause(view);
  moveTo(view, places.find((place) => place > view.cursor) ?? places[0]);
}

/** First place in an ascending array whose value is at least `value`. */
function lowerBound(values, value) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---------------------------------------------------------------- frame

/** Make an element; children are elements or text, and text stays text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

function makeSvg(tag, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  if (text) element.textContent = text;
  return element;
}

function makeIcon(name) {
  const icon = makeSvg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" });
  icon.append(makeSvg("path", { d: ICONS[name], fill: "currentColor" }));
  return icon;
}

/** Everything that is built once. */
function buildFrame(view, el) {
  view.error = make("div", { class: "esv-error", role: "alert", hidden: "" });
  view.summary = make("div", { class: "esv-summary" });
  view.alarm = make("button", { class: "esv-alarm", type: "button", hidden: "" });
  view.alarm.addEventListener(
    "click",
    view.guard(() => nextViolation(view)),
  );
  buildFilters(view);
  buildAxisChoice(view);
  buildLanes(view);
  buildTransport(view);
  buildList(view);
  view.note = make("div", { class: "esv-note" });
  view.json = make("pre", { class: "esv-json", tabindex: "0", "aria-label": "Selected event as JSON" });
  view.spoken = make("div", { class: "esv-spoken", "aria-live": "polite" });
  view.root = make(
    "section",
    { class: "esv", "aria-label": "AG-UI event stream", id: view.id },
    make("header", { class: "esv-header" }, view.summary, view.alarm, view.axisChoice),
    view.error,
    view.lanesPanel,
    view.transport,
    view.filters,
    make(
      "div",
      { class: "esv-detail" },
      view.list,
      make("div", { class: "esv-event" }, view.note, view.json),
    ),
    view.spoken,
  );
  view.root.addEventListener(
    "keydown",
    view.guard((event) => onKey(view, event)),
  );
  el.append(view.root);
}

function buildFilters(view) {
  view.filters = make("div", {
    class: "esv-filters",
    role: "toolbar",
    "aria-label": "Kinds of events listed",
  });
  view.chips = KINDS.map(([kind, symbol], place) => {
    const count = make("span", { class: "esv-count" });
    const mark = make("span", { class: "esv-symbol", "aria-hidden": "true" }, symbol);
    const attributes = { class: `esv-chip esv-${kind}`, type: "button", tabindex: place ? "-1" : "0" };
    const chip = make("button", { ...attributes, "data-kind": kind }, mark, kind, count);
    chip.addEventListener(
      "click",
      view.guard(() => toggleKind(view, kind)),
    );
    view.filters.append(chip);
    return { kind, chip, count };
  });
}

function toggleKind(view, kind) {
  const kinds = KINDS.map(([name]) => name).filter((name) => view.kinds.has(name) !== (name === kind));
  saveState(view, "kinds", kinds);
}

function buildAxisChoice(view) {
  const select = make(
    "select",
    { "aria-label": "Lanes along" },
    make("option", { value: "time" }, "by time"),
  );
  select.append(make("option", { value: "order" }, "by order"));
  select.addEventListener(
    "change",
    view.guard(() => saveState(view, "axis", select.value)),
  );
  view.axis = select;
  view.zoom = make("select", { "aria-label": "Zoom of the lanes" });
  ZOOMS.forEach((zoom) =>
    view.zoom.append(make("option", { value: String(zoom) }, zoom === 1 ? "whole run" : `${zoom}×`)),
  );
  view.zoom.addEventListener(
    "change",
    view.guard(() => saveState(view, "zoom", Number(view.zoom.value))),
  );
  view.axisChoice = make("div", { class: "esv-choice" }, "Lanes", select, view.zoom);
}

function buildLanes(view) {
  view.laneRows = make("div", { class: "esv-lane-rows" });
  view.veil = make("div", { class: "esv-veil", "aria-hidden": "true" });
  view.lanes = make(
    "div",
    {
      class: "esv-lanes",
      tabindex: "0",
      role: "listbox",
      "aria-label": "Lanes: messages, tool calls and the run",
    },
    view.laneRows,
  );
  view.ruler = make("div", { class: "esv-ruler", "aria-hidden": "true" });
  view.legend = buildLegend();
  view.lanesPanel = make("div", { class: "esv-lanes-panel" }, view.lanes, view.veil, view.ruler, view.legend);
  view.lanes.addEventListener("scroll", view.schedule);
  const point = view.guard((event) => pointAt(view, event));
  view.lanes.addEventListener("pointerdown", point);
  view.lanes.addEventListener("pointermove", (event) => event.buttons === 1 && point(event));
}

function buildLegend() {
  const entries = [
    ["esv-key-bar", "START to END"],
    ["esv-key-gap", "tool is running: END is not done"],
    ["esv-key-result", "RESULT"],
    ["esv-key-state", "state"],
    ["esv-key-cross", "violation"],
  ];
  const items = entries.map(([name, text]) =>
    make("li", {}, make("i", { class: name, "aria-hidden": "true" }), text),
  );
  return make("ul", { class: "esv-legend" }, ...items);
}

function buildTransport(view) {
  const button = (label, icon, action) => {
    const attributes = { class: "esv-button", type: "button", "aria-label": label, title: label };
    const element = make("button", attributes, makeIcon(icon));
    element.addEventListener("click", view.guard(action));
    return element;
  };
  const last = () => view.store.events.length - 1;
  const jump = (index) => {
    pause(view);
    moveTo(view, index);
  };
  view.playButton = button("Play", "play", () => togglePlay(view));
  view.scrub = make("input", {
    class: "esv-scrub",
    type: "range",
    min: "0",
    step: "1",
    "aria-label": "Event",
  });
  view.scrub.addEventListener(
    "input",
    view.guard(() => jump(Number(view.scrub.value))),
  );
  view.position = make("span", { class: "esv-position" });
  view.speed = make("select", { "aria-label": "Playback speed" });
  SPEEDS.forEach((speed) => view.speed.append(make("option", { value: String(speed) }, `${speed}×`)));
  view.speed.addEventListener(
    "change",
    view.guard(() => saveState(view, "speed", Number(view.speed.value))),
  );
  view.transport = make(
    "div",
    { class: "esv-transport", role: "group", "aria-label": "Playback" },
    button("First event (Home)", "first", () => jump(0)),
    button("Step back (←)", "back", () => step(view, -1)),
    view.playButton,
    button("Step forward (→)", "forward", () => step(view, 1)),
    button("Last event (End)", "last", () => jump(last())),
    view.scrub,
    view.position,
    make("label", { class: "esv-choice" }, "Speed", view.speed),
  );
}

function buildList(view) {
  view.listRows = make("div", { class: "esv-list-rows", role: "presentation" });
  const attributes = { class: "esv-list", tabindex: "0", role: "listbox", "aria-label": "Events" };
  view.list = make("div", attributes, view.listRows);
  view.list.addEventListener("scroll", view.schedule);
  view.list.addEventListener(
    "click",
    view.guard((event) => {
      const row = event.target.closest("[data-index]");
      if (!row) return;
      pause(view);
      moveTo(view, Number(row.dataset.index));
    }),
  );
}

// ---------------------------------------------------------------- input

const KEYS = {
  ArrowRight: (view) => step(view, 1),
  ArrowLeft: (view) => step(view, -1),
  ArrowDown: (view) => step(view, 1),
  ArrowUp: (view) => step(view, -1),
  PageDown: (view) => stepPage(view, 1),
  PageUp: (view) => stepPage(view, -1),
  Home: (view) => stepTo(view, 0),
  End: (view) => stepTo(view, view.shown.length - 1),
  " ": togglePlay,
};

function stepTo(view, place) {
  pause(view);
  if (view.shown.length) moveTo(view, view.shown[Math.max(0, Math.min(place, view.shown.length - 1))]);
}

function stepPage(view, direction) {
  const page = Math.max(1, Math.floor(view.list.clientHeight / ROW_HEIGHT) - 1);
  stepTo(view, lowerBound(view.shown, view.cursor) + direction * page);
}

/** Space plays, arrows step; controls that have their own use for a key keep it. */
function onKey(view, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const { target } = event;
  const action = keyAction(view, target, event.key);
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action(view);
}

function keyAction(view, target, key) {
  if (target.matches("select") || target === view.json)
    return key === " " && target === view.json ? togglePlay : null;
  if (target.matches("button") && (key === " " || key === "Enter")) return null;
  if (view.filters.contains(target)) return chipAction(view, target, key);
  if (target === view.lanes && (key === "ArrowDown" || key === "ArrowUp")) {
    return () => stepLane(view, key === "ArrowDown" ? 1 : -1);
  }
  return KEYS[key];
}

/** Roving focus in the filter toolbar. */
function chipAction(view, target, key) {
  const direction = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!direction) return null;
  return () => {
    const place = view.chips.findIndex(({ chip }) => chip === target);
    const next = (place + direction + view.chips.length) % view.chips.length;
    view.chips.forEach(({ chip }, each) => chip.setAttribute("tabindex", each === next ? "0" : "-1"));
    view.chips[next].chip.focus();
  };
}

/** Go to the first event of the lane above or below. */
function stepLane(view, direction) {
  const lane = view.store.rows[view.cursor]?.lane;
  const place = view.order.indexOf(lane) + direction;
  if (place < 0 || place >= view.order.length) return;
  pause(view);
  moveTo(view, view.store.lanes[view.order[place]].first);
}

/** A press in a track selects the nearest event in time; on a lane's name, its first event. */
function pointAt(view, event) {
  const row = event.target.closest("[data-lane]");
  if (!row || event.button > 0) return;
  const lane = view.store.lanes[Number(row.dataset.lane)];
  const box = row.lastElementChild.getBoundingClientRect();
  pause(view);
  if (event.clientX < box.left) moveTo(view, lane.first);
  else moveTo(view, nearest(view, lane.indexes, event.clientX - box.left));
}

function nearest(view, indexes, x) {
  return indexes.reduce((best, index) =>
    Math.abs(xOf(view, index) - x) < Math.abs(xOf(view, best) - x) ? index : best,
  );
}

// ---------------------------------------------------------------- drawing

function draw(view) {
  const count = view.store.events.length;
  view.root.classList.toggle("esv-narrow", view.root.clientWidth < 620);
  view.trackWidth = Math.max(80, view.lanes.clientWidth - labelWidth(view));
  if (view.stale) drawHeader(view, count);
  drawTransport(view, count);
  scrollToCursor(view);
  slideToCursor(view);
  drawLanes(view);
  drawVeil(view);
  drawList(view);
  drawEvent(view);
  view.stale = false;
}

function labelWidth(view) {
  return view.root.clientWidth < 620 ? 176 : 248;
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function drawHeader(view, count) {
  const { rows, lanes } = view.store;
  const checked = view.model.get("_violations"); // null when nobody checked
  const found = checked ?? [];
  const none = checked && !found.length ? ` · ${plural(0, "violation")}` : "";
  const facts = ` in ${plural(lanes.length, "lane")} · ${runState(view)}${none}`;
  view.summary.replaceChildren(make("strong", {}, plural(count, "event")), facts);
  view.alarm.hidden = !found.length;
  view.alarm.textContent = `✕ ${plural(found.length, "violation")}`;
  view.alarm.title = found.map((each) => each.rule).join(", ");
  view.axis.value = view.times ? view.model.get("axis") : "order";
  view.axis.disabled = !view.times;
  view.root.style.setProperty("--esv-rows", count);
  view.zoom.value = String(view.model.get("zoom"));
  view.chips.forEach(({ kind, chip, count: badge }) => {
    chip.setAttribute("aria-pressed", String(view.kinds.has(kind)));
    badge.textContent = rows.reduce((sum, row) => sum + (row.kind === kind), 0).toLocaleString("en");
  });
}

function runState({ run, store }) {
  if (!store.events.length) return "no events yet";
  if (!run || run.end === null) return "run is open";
  return run.failed ? "✕ run failed" : "run finished";
}

function drawTransport(view, count) {
  const playing = Boolean(view.clock);
  const label = playing ? "Pause (space)" : "Play (space)";
  if (view.playButton.title !== label) {
    view.playButton.replaceChildren(makeIcon(playing ? "pause" : "play"));
    view.playButton.setAttribute("aria-label", label);
    view.playButton.title = label;
  }
  view.scrub.max = String(Math.max(0, count - 1));
  view.scrub.value = String(Math.max(0, view.cursor));
  view.scrub.setAttribute("aria-valuetext", describe(view, view.cursor));
  view.scrub.style.setProperty("--esv-done", `${count > 1 ? (view.cursor / (count - 1)) * 100 : 0}%`);
  view.position.textContent = `${(view.cursor + 1).toLocaleString("en")} / ${count.toLocaleString("en")}`;
  if (view.stale) view.speed.value = String(view.model.get("speed"));
  if (!playing) view.spoken.textContent = describe(view, view.cursor);
}

function describe(view, index) {
  const row = view.store.rows[index];
  if (!row) return "no events";
  const broken = (view.violations.get(index) ?? []).map((each) => `, violates ${each.rule}`).join("");
  return `event ${index}, ${row.type}, ${view.store.lanes[row.lane].name}${broken}`;
}

/** What the lanes run along: ascending positions of the events. */
function positionsOf(view) {
  return view.times && view.model.get("axis") === "time" ? view.times : view.places;
}

/** Position of an event in the run, from 0 to 1. */
function shareOf(view, index) {
  const positions = positionsOf(view);
  return index > 0 ? positions[index] / positions[positions.length - 1] : 0;
}

/** Position of an event on a track, in px; zoomed in, it may be off either end. */
function xOf(view, index) {
  return xOfShare(view, shareOf(view, index));
}

function xOfShare(view, share) {
  return EDGE + (share - view.from) * view.model.get("zoom") * (view.trackWidth - 2 * EDGE);
}

/** Zoomed in, move the tracks when the cursor nears their edge. */
function slideToCursor(view) {
  const width = 1 / view.model.get("zoom");
  const share = view.store.events.length ? shareOf(view, view.cursor) : 0;
  const inside = share >= view.from + width * 0.1 && share <= view.from + width * 0.9;
  const from = inside ? view.from : share - width / 2;
  view.from = Math.max(0, Math.min(from, 1 - width));
}

/** Keep the selected event's row and lane in sight, once per move, so that scrolling by hand stays possible. */
function scrollToCursor(view) {
  if (!view.followCursor) return;
  view.followCursor = false;
  const place = lowerBound(view.shown, view.cursor);
  view.listRows.style.height = `${view.shown.length * ROW_HEIGHT}px`;
  scrollInto(view.list, place * ROW_HEIGHT, ROW_HEIGHT, 2 * ROW_HEIGHT);
  view.laneRows.style.height = `${view.order.length * LANE_HEIGHT}px`;
  const lane = view.order.indexOf(view.store.rows[view.cursor]?.lane);
  if (lane >= 0) scrollInto(view.lanes, lane * LANE_HEIGHT, LANE_HEIGHT, LANE_HEIGHT / 2);
}

/** Scroll as little as needed to show an entry and some of its neighbours. */
function scrollInto(box, top, height, margin) {
  const bottom = top + height + margin;
  if (top - margin < box.scrollTop) box.scrollTop = top - margin;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}

/** The places of a fixed-height list that are on screen. */
function onScreen(box, height, count) {
  const first = Math.max(0, Math.floor(box.scrollTop / height) - OVERSCAN);
  const last = Math.min(count, Math.ceil((box.scrollTop + box.clientHeight) / height) + OVERSCAN);
  return Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
}

function drawLanes(view) {
  const places = onScreen(view.lanes, LANE_HEIGHT, view.order.length);
  const selected = view.store.rows[view.cursor]?.lane;
  const key = `${places[0]} ${places.length} ${view.trackWidth} ${view.from}`;
  if (view.stale || key !== view.laneKey) {
    view.laneKey = key;
    view.laneRows.replaceChildren(...places.map((place) => drawLane(view, place)));
    drawRuler(view);
  }
  [...view.laneRows.children].forEach((row) => {
    const place = Number(row.dataset.lane);
    row.setAttribute("aria-selected", String(place === selected));
    const status = laneStatus(view, view.store.lanes[place]);
    if (row.status.textContent !== status) row.status.textContent = status;
  });
  view.lanes.setAttribute("aria-activedescendant", `${view.id}-lane${selected}`);
}

function drawLane(view, place) {
  const index = view.order[place];
  const lane = view.store.lanes[index];
  const status = make("span", { class: "esv-status" });
  const name = make("div", { class: "esv-lane-name" }, make("b", {}, lane.short_name), status);
  const detail = [lane.detail, lane.agent && `↳ ${lane.agent}`].filter(Boolean).join("  ");
  const label = make("div", { class: "esv-lane-label" }, name);
  if (detail) label.append(make("div", { class: "esv-lane-detail" }, detail));
  label.title = lane.agent ? `${lane.name} (${lane.agent})` : lane.name;
  const row = make("div", {
    class: `esv-lane esv-${lane.family}${lane.agent ? " esv-owned" : ""}`,
    style: `top:${place * LANE_HEIGHT}px`,
    role: "option",
    id: `${view.id}-lane${index}`,
    "data-lane": index,
    "aria-label": `${lane.name}${lane.agent ? ` of ${lane.agent}` : ""}: ${lane.steps}`,
    "aria-setsize": view.order.length,
    "aria-posinset": place + 1,
  });
  row.append(label, drawTrack(view, lane));
  row.status = status;
  return row;
}

/** True when the run the events belong to has ended by then. */
function isOver(view, cursor) {
  return Boolean(view.run) && view.run.end !== null && view.run.end <= cursor;
}

/** What a lane is doing when the cursor's event has just happened. */
function laneStatus(view, lane) {
  const { cursor } = view;
  if (cursor < lane.first) return "not started";
  const reached = (index) => index !== null && index <= cursor;
  if (lane.family === "call") {
    if (reached(lane.result)) return "◆ result";
    if (!reached(lane.end)) return "writing arguments";
    return isOver(view, cursor) ? "✕ no result" : "tool is running";
  }
  if (reached(lane.end)) return lane.failed ? "✕ failed" : "✓ done";
  return lane.family === "run" || lane.family === "subagent" ? "running" : "writing";
}

/** A lane's track: bar, gap, marks and violations; a handful of elements however many events it has. */
function drawTrack(view, lane) {
  const size = { width: view.trackWidth, height: LANE_HEIGHT };
  const svg = makeSvg("svg", { class: "esv-track", ...size, "aria-hidden": "true" });
  if (xOf(view, lane.last) < 0 || xOf(view, lane.first) > view.trackWidth) return svg;
  const x = (index) => Math.max(-EDGE, Math.min(xOf(view, index), view.trackWidth + EDGE));
  const written = lane.indexes.filter((index) => index !== lane.result);
  const from = x(lane.start ?? lane.first);
  const until = x(lane.end ?? written.at(-1) ?? lane.first);
  if (lane.family === "run") drawLine(svg, from, until);
  else if (written.length) drawBar(svg, lane, from, until);
  if (lane.family === "call" && lane.end !== null) drawGap(view, svg, lane, x);
  drawMarks(view, svg, written, lane);
  if (lane.result !== null) svg.append(makeSvg("path", { class: "esv-result", d: diamond(x(lane.result)) }));
  lane.indexes.forEach((index) => view.violations.has(index) && drawViolation(view, svg, index));
  return svg;
}

function drawLine(svg, from, until) {
  svg.append(makeSvg("path", { class: "esv-line", d: `M${from} 20H${Math.max(until, from + 1)}` }));
}

function drawBar(svg, lane, from, until) {
  const width = Math.max(until - from, 3);
  const box = { x: from, y: BAR.y, width, height: BAR.height, rx: Math.min(3, width / 2) };
  svg.append(makeSvg("rect", { class: `esv-bar${lane.end === null ? " esv-unfinished" : ""}`, ...box }));
}

/** From END to RESULT the tool runs: hatched, named, and open-ended while there is no result. */
function drawGap(view, svg, lane, x) {
  const from = x(lane.end);
  const until = x(lane.result ?? view.store.events.length - 1);
  const width = Math.max(until - from, 3);
  svg.append(makeSvg("rect", { class: "esv-gap", x: from, y: BAR.y + 2, width, height: BAR.height - 4 }));
  const hatch = [];
  for (let at = from + 4; at < from + width; at += 6) hatch.push(`M${at} 26l4 -12`);
  svg.append(makeSvg("path", { class: "esv-hatch", d: hatch.join("") }));
  drawGapLabel(view, svg, lane, x(lane.start ?? lane.first), from, until);
}

/** The gap's name in it, or beside the lane's drawing where there is room; the lane's status says it too. */
function drawGapLabel(view, svg, lane, start, from, until) {
  const fits = (room) => room >= GAP_LABEL_WIDTH;
  const text =
    lane.result === null && isOver(view, view.store.events.length) ? "no result came" : "tool is running";
  let place = null;
  if (fits(until - from)) place = { x: (from + until) / 2, "text-anchor": "middle" };
  else if (fits(view.trackWidth - until - 12)) place = { x: until + 12, "text-anchor": "start" };
  else if (fits(start - 12)) place = { x: start - 12, "text-anchor": "end" };
  if (place) svg.append(makeSvg("text", { class: "esv-gap-label", y: 24, ...place }, text));
}

/** Single events: ticks in a bar, shapes on the run's line; events that fall on the same spot are drawn once. */
function drawMarks(view, svg, indexes, lane) {
  const spacing = lane.family === "run" ? 7 : 2;
  const paths = {};
  let previous = -Infinity;
  indexes.forEach((index) => {
    const at = Math.round(xOf(view, index) * 2) / 2;
    const crowded = at - previous < spacing && index !== lane.end;
    if (crowded || at < -EDGE || at > view.trackWidth + EDGE) return;
    previous = at;
    const shape = markShape(view, lane, index);
    paths[shape] = (paths[shape] ?? "") + SHAPES[shape](at);
  });
  Object.entries(paths).forEach(([shape, d]) =>
    svg.append(makeSvg("path", { class: `esv-mark esv-mark-${shape}`, d })),
  );
}

function markShape(view, lane, index) {
  if (lane.family !== "run") return "tick";
  if (index === lane.end) return lane.failed ? "fail" : "stop";
  return view.store.rows[index].kind;
}

const diamond = (x) => `M${x} 13l7 7l-7 7l-7 -7z`;
const SHAPES = {
  tick: (x) => `M${x} ${BAR.y + 4}v${BAR.height - 8}`,
  run: (x) => `M${x - 4} 14l8 6l-8 6z`,
  fail: (x) => `M${x - 5} 15l10 10M${x + 5} 15l-10 10`,
  stop: (x) => `M${x - 4} 15h9v10h-9z`,
  state: (x) => `M${x - 4} 16h8v8h-8z`,
  other: (x) => `M${x - 4} 20a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`,
};

function drawViolation(view, svg, index) {
  const x = xOf(view, index);
  const rules = view.violations
    .get(index)
    .map((each) => each.rule)
    .join(", ");
  const left = x > view.trackWidth / 2;
  svg.append(makeSvg("path", { class: "esv-cross", d: `M${x - 6} 14l12 12M${x + 6} 14l-12 12` }));
  const attributes = {
    class: "esv-rule",
    x: left ? x - 12 : x + 12,
    y: 9,
    "text-anchor": left ? "end" : "start",
  };
  svg.append(makeSvg("text", attributes, rules));
}

/** Times (or event numbers) under the tracks. */
function drawRuler(view) {
  const positions = positionsOf(view);
  const span = positions[positions.length - 1];
  const zoom = view.model.get("zoom");
  const shares = span > 0 ? [0, 0.25, 0.5, 0.75, 1].map((share) => view.from + share / zoom) : [];
  const marks =
    positions === view.times
      ? shares.map((share) => [share, duration(span * share, span / zoom)])
      : [...new Set(shares.map((share) => lowerBound(positions, span * share - 1e-9)))].map((index) => [
          shareOf(view, index),
          `#${index.toLocaleString("en")}`,
        ]);
  view.ruler.replaceChildren(
    ...marks.map(([share, text]) =>
      make("span", { style: `left:${labelWidth(view) + xOfShare(view, share)}px` }, text),
    ),
  );
}

/** A time as text, as fine as the span it is read in. */
function duration(ms, span = ms) {
  if (span < 1000 && ms < 10_000) return `${Math.round(ms).toLocaleString("en")} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(span < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${((ms % 60_000) / 1000).toFixed(span < 10_000 ? 2 : 0)} s`;
}

/** Veils what has not happened yet at the cursor. */
function drawVeil(view) {
  const count = view.store.events.length;
  const left = view.lanes.clientWidth - view.trackWidth + (count ? xOf(view, view.cursor) : 0);
  view.veil.hidden = view.cursor >= count - 1;
  view.veil.style.left = `${left}px`;
  view.veil.style.width = `${Math.max(0, view.lanes.clientWidth - left)}px`;
  view.veil.style.height = `${view.lanes.clientHeight}px`;
}

function drawList(view) {
  view.listRows.style.height = `${view.shown.length * ROW_HEIGHT}px`;
  const places = onScreen(view.list, ROW_HEIGHT, view.shown.length);
  while (view.listRows.children.length > places.length) view.listRows.lastChild.remove();
  places.forEach((place, at) => fillRow(view, view.listRows.children[at] ?? addRow(view), place));
  view.list.setAttribute("aria-activedescendant", `${view.id}-event${view.cursor}`);
}

function addRow(view) {
  const cells = ["number", "symbol", "type", "lane", "rule", "text"].map((name) =>
    make("span", { class: `esv-cell-${name}` }),
  );
  const body = make("span", { class: "esv-cell-body" }, ...cells.slice(4));
  const row = make("div", { class: "esv-row", role: "option" }, ...cells.slice(0, 4), body);
  row.cells = cells;
  view.listRows.append(row);
  return row;
}

function fillRow(view, row, place) {
  const index = view.shown[place];
  const { type, kind, lane, text } = view.store.rows[index];
  const rules = (view.violations.get(index) ?? []).map((each) => each.rule).join(", ");
  const texts = [
    String(index),
    rules ? "✕" : SYMBOLS[kind],
    type,
    view.store.lanes[lane].short_name,
    rules,
    text,
  ];
  texts.forEach((value, cell) => {
    if (row.cells[cell].textContent !== value) row.cells[cell].textContent = value;
  });
  row.className = `esv-row esv-${kind}${rules ? " esv-broken" : ""}${index > view.cursor ? " esv-future" : ""}`;
  row.id = `${view.id}-event${index}`;
  row.dataset.index = index;
  row.style.top = `${place * ROW_HEIGHT}px`;
  row.setAttribute("aria-selected", String(index === view.cursor));
  row.setAttribute("aria-setsize", view.shown.length);
  row.setAttribute("aria-posinset", place + 1);
}

/** The selected event: what it is paired with, what it violates, and its JSON. */
function drawEvent(view) {
  const event = view.store.events[view.cursor];
  if (event === view.drawnEvent && !view.stale) return;
  view.drawnEvent = event;
  view.note.replaceChildren(...(event ? eventNotes(view) : ["Events appear here as the run goes on."]));
  const text = event ? JSON.stringify(event, null, 2) : "";
  view.json.textContent = text.length > JSON_LIMIT ? `${text.slice(0, JSON_LIMIT)}\n… cut here` : text;
  view.json.scrollTop = 0;
}

function eventNotes(view) {
  const row = view.store.rows[view.cursor];
  const lane = view.store.lanes[row.lane];
  const title = make(
    "div",
    { class: "esv-title" },
    make("b", {}, row.type),
    ` ${lane.name}${lane.agent ? ` · ${lane.agent}` : ""}`,
  );
  const faults = [...(view.violations.get(view.cursor) ?? []), ...view.wholeRun].map((each) =>
    make("p", { class: "esv-fault" }, make("b", {}, `✕ ${each.rule}`), ` ${each.message}`),
  );
  return [title, ...pairLinks(view, lane), ...faults];
}

/** Buttons to the lane's START, END and RESULT. */
function pairLinks(view, lane) {
  const ends = [
    ["start", "START"],
    ["end", "END"],
    ["result", "RESULT"],
  ].filter(([name]) => lane[name] !== null);
  if (ends.length < 2) return [];
  const buttons = ends.map(([name, text]) => {
    const button = make("button", { class: "esv-pair", type: "button" }, `${text} ${lane[name]}`);
    if (lane[name] === view.cursor) button.setAttribute("aria-current", "true");
    button.addEventListener(
      "click",
      view.guard(() => {
        pause(view);
        moveTo(view, lane[name]);
      }),
    );
    return button;
  });
  const gap = lane.end !== null && lane.result !== null ? [make("span", {}, gapText(view, lane))] : [];
  return [make("div", { class: "esv-pairs" }, ...buttons, ...gap)];
}

function gapText(view, lane) {
  const events = `${lane.result - lane.end} events`;
  return `tool ran for ${view.times ? duration(view.times[lane.result] - view.times[lane.end]) : events} after END`;
}

/** A fault in this view is shown in it, not only in the console. */
function showError(view, error) {
  view.error.hidden = false;
  view.error.textContent = `The view could not be drawn: ${error?.message ?? error}. The events are safe in Python; run the cell again.`;
}
