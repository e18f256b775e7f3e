/**
 * The conversation of `AgentPlayground`: turns, tools, decisions, and the box to type in.
 * Everything said by reader, model or tool reaches the page as text nodes only.
 */

const STATUS = { running: "Working …", stopped: "Stopped.", waiting: "Waits for your decision." };

export default {
  render({ model, el }) {
    const view = { model, el, decisions: new Map() };
    buildFrame(view);
    const redraw = () => draw(view);
    model.on("change:turns change:note change:shown", redraw);
    redraw();
    return () => model.off("change:turns change:note change:shown", redraw);
  },
};

function buildFrame(view) {
  view.turns = make("ol", { class: "apg-turns", "aria-live": "polite", "aria-label": "Conversation" });
  view.input = make("textarea", { class: "apg-input", rows: "2", placeholder: "Ask the agent", "aria-label": "Message" });
  view.send = button("Send", () => send(view));
  view.stop = button("Stop", () => view.model.send({ kind: "stop" }));
  view.send.classList.add("apg-primary");
  view.note = make("p", { class: "apg-note", role: "alert" });
  view.input.addEventListener("input", () => enable(view));
  view.input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send(view);
  });
  const buttons = make("div", { class: "apg-buttons" }, view.stop, view.send);
  const composer = make("div", { class: "apg-composer" }, view.input, buttons);
  view.el.append(make("section", { class: "apg", "aria-label": "Playground" }, view.turns, composer, view.note));
}

/** The text stays in the box until a turn with it has come back. */
function send(view) {
  const text = view.input.value;
  if (view.send.disabled || !text.trim()) return;
  view.sent = { text, turns: view.model.get("turns").length };
  view.model.send({ kind: "ask", text });
}

function draw(view) {
  const turns = view.model.get("turns");
  if (view.sent && turns.length > view.sent.turns && turns.at(-1).asked === view.sent.text) {
    if (view.input.value === view.sent.text) view.input.value = "";
    view.sent = null;
  }
  const asked = turns.at(-1)?.questions ?? [];
  if (JSON.stringify(asked) !== view.asked) {
    view.asked = JSON.stringify(asked);
    view.decisions.clear();
  }
  view.turns.replaceChildren(...turns.map((turn, place) => drawTurn(view, turn, place, place === turns.length - 1)));
  view.turns.hidden = !turns.length;
  view.turns.scrollTop = view.turns.scrollHeight;
  view.note.textContent = view.model.get("note");
  view.note.hidden = !view.note.textContent;
  enable(view);
}

function enable(view) {
  const status = view.model.get("turns").at(-1)?.status;
  view.stop.hidden = status !== "running";
  view.send.disabled = status === "running" || status === "waiting" || !view.input.value.trim();
}

function drawTurn(view, turn, place, isLast) {
  const item = make("li", { class: `apg-turn apg-${turn.status}` }, make("div", { class: "apg-asked" }, turn.asked));
  turn.calls.forEach((call) => item.append(drawCall(call)));
  if (turn.status in STATUS) item.append(make("div", { class: "apg-status" }, STATUS[turn.status]));
  if (isLast) turn.questions.forEach((question, index) => item.append(drawQuestion(view, turn, question, index)));
  if (turn.error) item.append(make("div", { class: "apg-error", role: "alert" }, turn.error));
  if (isLast && ["failed", "stopped"].includes(turn.status)) {
    item.append(button("Go on from here", () => view.model.send({ kind: "retry" })));
  }
  if (turn.answer && turn.status !== "running") item.append(drawAnswer(view, turn, place));
  return item;
}

function drawCall({ name, arguments: given, result }) {
  const summary = make("summary", {}, make("b", {}, name), ` ${given} `, result === null ? "…" : "✓");
  return make("details", { class: "apg-call" }, summary, make("pre", {}, result ?? "No result yet."));
}

function drawAnswer(view, turn, place) {
  if (view.model.get("shown") === place) return make("div", { class: "apg-status" }, "Answer shown ▸");
  return button("Show answer", () => view.model.send({ kind: "show", turn: place }));
}

function drawQuestion(view, turn, question, index) {
  const box = make("div", { class: "apg-question" }, make("code", {}, question.text));
  const decide = (decision) => {
    view.decisions.set(index, decision);
    if (view.decisions.size < turn.questions.length) draw(view);
    else view.model.send({ kind: "decide", decisions: turn.questions.map((_, at) => view.decisions.get(at)) });
  };
  if (view.decisions.has(index)) {
    box.append(make("div", { class: "apg-status" }, `Decided: ${view.decisions.get(index)}`));
  } else if (question.approval) {
    const [approve, reject] = ["Approve", "Reject"].map((word) => button(word, () => decide(word.toLowerCase())));
    approve.classList.add("apg-primary");
    box.append(make("div", { class: "apg-buttons" }, reject, approve));
  } else {
    const answer = make("input", { class: "apg-input", "aria-label": "Your answer" });
    answer.addEventListener("keydown", (event) => event.stopPropagation());
    box.append(answer, make("div", { class: "apg-buttons" }, button("Answer", () => decide(answer.value))));
  }
  return box;
}

function button(label, onClick) {
  const element = make("button", { type: "button" }, label);
  element.addEventListener("click", onClick);
  return element;
}

/** Make an element; children are elements or text, and text stays text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}
