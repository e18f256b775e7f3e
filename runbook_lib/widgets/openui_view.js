/**
 * Draws a program in OpenUI Lang with OpenUI's own React components, in a frame that the program cannot leave.
 *
 * The frame is sandboxed (scripts only, an origin of its own) and its policy allows no network. It gets the components
 * and the program through a message port; heights, actions, links and problems come back the same way. Whatever
 * comes out of it is untrusted: it reaches the page as text nodes, and Python as plain data.
 */

const SHARED = Symbol.for("runbook.openui.bundle");
const LINKS = new Set(["http:", "https:", "mailto:", "tel:"]);
const HEIGHT = { least: 24, most: 20_000 };
const HELLO_MS = 10_000;
const DRAW_MS = 20_000;

export default {
  render({ model, el }) {
    return createView(model, el);
  },
};

// ---------------------------------------------------------------- bundle

/** Script and styles as text, once for all views of the page; a failure is tried again by the next view. */
function loadBundle(model) {
  globalThis[SHARED] ??= askPython(model)
    .then(({ content, buffers }) => (buffers.length ? buffers.map(decode) : fetchFiles(content.cdn)))
    .then(([script, styles]) => ({ script, styles }))
    .catch((error) => {
      globalThis[SHARED] = null;
      throw error;
    });
  return globalThis[SHARED];
}

function askPython(model) {
  return new Promise((resolve) => {
    const answer = (content, buffers) => {
      if (content.kind !== "bundle") return;
      model.off("msg:custom", answer);
      resolve({ content, buffers: buffers ?? [] });
    };
    model.on("msg:custom", answer);
    model.send({ kind: "bundle" });
  });
}

const decode = (bytes) => new TextDecoder().decode(bytes);

/** The browser itself compares each file with its hash, and refuses one that differs. */
async function fetchFiles(files) {
  if (!files.length) throw new Error("the components are not installed, and no CDN is set");
  try {
    const answers = await Promise.all(
      files.map(({ url, integrity }) => fetch(url, { integrity, credentials: "omit", referrerPolicy: "no-referrer" })),
    );
    const missing = answers.find((answer) => !answer.ok);
    if (missing) throw new Error(`status ${missing.status}`);
    return await Promise.all(answers.map((answer) => answer.text()));
  } catch (error) {
    throw new Error(`the components did not come from ${new URL(files[0].url).host} (${error.message})`);
  }
}

// ---------------------------------------------------------------- view

/** Build one view; returns its clean-up. */
function createView(model, el) {
  const view = { model, drawn: false, fault: "", problems: [], sequence: 0 };
  buildFrame(view, el);
  const send = () => sendProgram(view);
  const names = "change:program change:catalog change:streaming change:_refused";
  model.on(names, send);
  const onHello = (event) => greet(view, event);
  window.addEventListener("message", onHello);
  const unwatch = watchTheme(() => applyTheme(view));
  applyTheme(view);
  show(view);
  loadBundle(model).then(
    (bundle) => openFrame(view, bundle),
    (error) => fail(view, `Shown as text: ${error.message}.`),
  );
  return () => {
    model.off(names, send);
    window.removeEventListener("message", onHello);
    unwatch();
    closeFrame(view);
  };
}

/** Everything around the frame. */
function buildFrame(view, el) {
  view.note = make("p", { class: "ouv-note", role: "status" });
  view.text = make("pre", { class: "ouv-text", tabindex: "0", "aria-label": "Program" });
  view.place = make("div", { class: "ouv-place" });
  view.consent = make("div", { class: "ouv-consent", role: "alertdialog", "aria-label": "Open a link?", hidden: "" });
  view.refusal = make("p", { class: "ouv-refusal", role: "alert", hidden: "" });
  view.list = make("details", { class: "ouv-problems", hidden: "" });
  view.root = make("section", { class: "ouv", "aria-label": "OpenUI" });
  view.root.append(view.note, view.place, view.text, view.consent, view.refusal, view.list);
  el.append(view.root);
}

/** Put a fresh frame on the page; it greets us once its own script runs. */
function openFrame(view, bundle) {
  view.bundle = bundle;
  view.secret = crypto.randomUUID();
  view.frame = make("iframe", {
    class: "ouv-frame ouv-waiting",
    sandbox: "allow-scripts",
    title: "Answer",
    referrerpolicy: "no-referrer",
    srcdoc: frameDocument(view.secret),
  });
  view.frame.addEventListener("load", () => {
    clearTimeout(view.greeting);
    view.greeting = setTimeout(() => fail(view, "The frame left its page and was removed."), HELLO_MS);
    if (view.greeted) clearTimeout(view.greeting);
    view.greeted = false;
  });
  view.place.replaceChildren(view.frame);
}

/** Only our own document knows the secret; a notebook that moves the frame makes it load, and greet, again. */
function greet(view, event) {
  if (!view.frame || event.source !== view.frame.contentWindow || event.data?.hello !== view.secret) return;
  clearTimeout(view.greeting);
  view.greeted = true;
  const { port1, port2 } = new MessageChannel();
  view.port?.close();
  view.port = port1;
  view.port.onmessage = ({ data }) => receive(view, data);
  view.frame.contentWindow.postMessage({ ...view.bundle, dark: isDark() }, "*", [port2]);
  sendProgram(view);
}

function sendProgram(view) {
  view.refusal.hidden = view.consent.hidden = true;
  const { model } = view;
  view.isRefused = Boolean(model.get("_refused"));
  if (view.port && !view.isRefused) {
    view.sequence += 1;
    clearTimeout(view.drawing);
    view.drawing = setTimeout(() => fail(view, "Drawing took too long, so the frame was removed."), DRAW_MS);
    const [program, catalog, streaming] = ["program", "catalog", "streaming"].map((name) => model.get(name));
    view.port.postMessage({ kind: "program", sequence: view.sequence, program, catalog, streaming });
  }
  show(view);
}

/** One message from the frame. Its shape is checked, its words are only ever shown. */
function receive(view, data) {
  if (data.kind === "drawn") {
    if (data.sequence !== view.sequence) return;
    clearTimeout(view.drawing);
    Object.assign(view, { drawn: data.drawn === true, fault: String(data.fault ?? "") });
    view.problems = (Array.isArray(data.problems) ? data.problems : []).slice(0, 20).map(String);
    show(view);
  } else if (data.kind === "height" && view.frame) {
    const height = Math.min(Math.max(Number(data.height) || 0, HEIGHT.least), HEIGHT.most);
    view.frame.style.height = `${Math.ceil(height)}px`;
  } else if (data.kind === "link") {
    offerLink(view, String(data.url ?? ""));
  } else if (data.kind === "action") {
    view.model.send({ kind: "action", action: data.action });
  }
}

function fail(view, reason) {
  view.fault = reason;
  view.drawn = false;
  closeFrame(view);
  show(view);
}

function closeFrame(view) {
  clearTimeout(view.greeting);
  clearTimeout(view.drawing);
  view.port?.close();
  view.frame?.remove();
  view.port = view.frame = null;
}

/** The components when they are drawn, else the program as text, and why. */
function show(view) {
  const program = view.model.get("program");
  const drawn = view.drawn && !view.isRefused;
  view.frame?.classList.toggle("ouv-waiting", !drawn);
  const [note, isFault] = explain(view, program, drawn);
  view.note.textContent = note;
  view.note.hidden = !note;
  view.note.classList.toggle("ouv-fault", isFault);
  view.text.textContent = program;
  view.text.hidden = drawn || !program;
  listProblems(view, drawn ? view.problems : view.problems.slice(1));
}

function explain(view, program, drawn) {
  if (drawn) return ["", false];
  if (view.isRefused) return [`Not drawn: ${view.model.get("_refused")}`, true];
  if (view.fault) return [view.fault, true];
  if (!program.trim()) return ["Nothing to draw yet.", false];
  if (!view.port) return ["Loading the components …", false];
  if (view.model.get("streaming")) return ["Waiting for the first component …", false];
  return view.problems.length ? [`Nothing to draw: ${view.problems[0]}`, true] : ["Drawing …", false];
}

function listProblems(view, problems) {
  view.list.hidden = !problems.length;
  if (!problems.length) return;
  const noun = problems.length === 1 ? "problem" : "problems";
  const items = make("ul");
  items.append(...problems.map((problem) => make("li", {}, problem)));
  view.list.replaceChildren(make("summary", {}, `${problems.length} ${noun} in the program`), items);
}

// ---------------------------------------------------------------- links

/** Ask before leaving; refuse, and say so, what is not a plain absolute link. */
function offerLink(view, text) {
  const url = readLink(text);
  view.consent.hidden = !url;
  view.refusal.hidden = Boolean(url);
  if (!url) {
    view.refusal.textContent = `Link refused (only absolute web, mail and telephone links open): ${text.slice(0, 300)}`;
    return;
  }
  const open = make("button", { type: "button" }, "Open");
  const cancel = make("button", { type: "button" }, "Cancel");
  open.addEventListener("click", () => {
    view.consent.hidden = true;
    window.open(url.href, "_blank", "noopener,noreferrer");
  });
  cancel.addEventListener("click", () => {
    view.consent.hidden = true;
  });
  view.consent.replaceChildren(make("span", {}, "The answer links to ", make("b", {}, url.href)), open, cancel);
  cancel.focus();
}

function readLink(text) {
  try {
    const url = new URL(text);
    return LINKS.has(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

// ---------------------------------------------------------------- theme

function isDark() {
  const { jpThemeLight } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false";
  return document.body.classList.contains("vscode-dark") || matchMedia("(prefers-color-scheme: dark)").matches;
}

function applyTheme(view) {
  view.root.classList.toggle("ouv-dark", isDark());
  view.port?.postMessage({ kind: "theme", dark: isDark() });
}

function watchTheme(callback) {
  const observer = new MutationObserver(callback);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", callback);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", callback);
  };
}

/** Make an element; children are elements or text, and text stays text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

// ---------------------------------------------------------------- inside the frame

/** The frame's document: no network, no script but those with the nonce, images only from data. */
function frameDocument(secret) {
  const nonce = crypto.randomUUID();
  const policy = `default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  return `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}; base-uri 'none'; form-action 'none'">
<style>
html, body { margin: 0; background: transparent; overflow-x: hidden; }
#root { padding: 12px; box-sizing: border-box; font-family: var(--openui-font-body); }
.runbook-stack { display: flex; min-width: 0; }
.runbook-stack-row > .openui-card { flex: 1 1 0; min-width: 0; }
.runbook-stack > .openui-card:not(:only-child), .runbook-card-sunk > .openui-card {
  padding: var(--openui-space-m-l);
  border: 1px solid var(--openui-border-interactive);
  border-radius: var(--openui-radius-xl);
}
.runbook-card-sunk > .openui-card { background: var(--openui-sunk); }
</style><style id="styles"></style></head><body><div id="root"></div>
<script nonce="${nonce}">(${inFrame})(${JSON.stringify(secret)})</script></body></html>`;
}

/** Runs inside the frame, so it may use nothing from outside itself. */
function inFrame(secret) {
  const { nonce } = document.currentScript;
  const host = window.parent;
  const place = document.getElementById("root");
  const state = { problems: [], fault: "", epoch: 0, program: "" };
  const post = (message) => state.port?.postMessage(message);
  const postLink = (url) => post({ kind: "link", url: String(url ?? "") });

  window.addEventListener("message", function start(event) {
    if (event.source !== host || !event.ports[0]) return;
    window.removeEventListener("message", start);
    [state.port] = event.ports;
    state.port.onmessage = ({ data }) => (data.kind === "theme" ? applyTheme(data.dark) : draw(data));
    state.styles = event.data.styles;
    applyTheme(event.data.dark);
    loadComponents(event.data.script);
  });
  host.postMessage({ hello: secret }, "*");

  function loadComponents(source) {
    const script = document.createElement("script");
    script.nonce = nonce;
    script.textContent = source;
    document.head.append(script);
    script.remove();
    state.ui = window.__OpenUI;
    state.libraries = { chat: state.ui.openuiChatLibrary, general: generalLibrary(state.ui) };
    state.root = state.ui.createRoot(place);
    state.Boundary = boundary(state.ui.React);
    new ResizeObserver(postHeight).observe(place);
    new MutationObserver(postHeight).observe(document.body, { childList: true });
  }

  /** The stylesheet asks the system for dark; here the page decides. */
  function applyTheme(dark) {
    const asked = /\(\s*prefers-color-scheme:\s*dark\s*\)/g;
    const fonts = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans CJK KR', sans-serif";
    const names = ["body", "heading", "label", "numbers"];
    const own = names.map((name) => `--openui-font-${name}: ${fonts};`).join(" ");
    const ink = "--openui-foreground: oklch(0.205 0 0) !important; --openui-text-neutral-primary: oklch(0.97 0 0) !important";
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    document.getElementById("styles").textContent =
      `${state.styles.replace(asked, dark ? " all" : " not all")} :root { ${own} }` +
      (dark ? ` .openui-chart-container { ${ink} }` : "");
  }

  function draw({ sequence, program, catalog, streaming }) {
    if (!state.root) return post({ kind: "drawn", sequence, drawn: false, fault: "The components did not start." });
    const { React, Renderer } = state.ui;
    if (!program.startsWith(state.program) || state.fault) state.epoch += 1; // another program: forms start afresh
    Object.assign(state, { program, sequence, problems: [], fault: "" });
    const library = state.libraries[catalog];
    const options = { response: program, library, isStreaming: streaming, publishObservability: false };
    const answer = React.createElement(Renderer, { ...options, onAction, onError });
    state.root.render(React.createElement(state.Boundary, { key: `${catalog}${state.epoch}` }, answer));
    return setTimeout(report, 0);
  }

  function report() {
    const drawn = !state.fault && place.getBoundingClientRect().height > 25;
    post({ kind: "drawn", sequence: state.sequence, drawn, fault: state.fault, problems: state.problems });
  }

  function onError(errors) {
    const brief = (text) => String(text ?? "").replace(/\s*Available components:.*$/s, "").replace(/\.$/, "");
    state.problems = errors.map(({ message, hint }) => [brief(message), brief(hint)].filter(Boolean).join(". "));
    report();
  }

  function onAction({ type, params, humanFriendlyMessage, formName, formState }) {
    if (type === "open_url") return postLink(params?.url);
    const fields = formState?.[formName] ?? formState ?? {};
    const plain = (value) => (value && typeof value === "object" && "value" in value ? value.value : value);
    const values = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
    const action = { type, message: humanFriendlyMessage ?? "", params: params ?? {}, form: formName ?? "", values };
    return post({ kind: "action", action: JSON.parse(JSON.stringify(action)) });
  }

  /** Height of the content; a menu that is open needs room below it. */
  function postHeight() {
    const isOpen = document.querySelector("[data-radix-popper-content-wrapper], [role=dialog]");
    post({ kind: "height", height: Math.max(place.getBoundingClientRect().height, isOpen ? 420 : 0) });
  }

  function boundary(React) {
    return class extends React.Component {
      constructor(props) {
        super(props);
        this.state = { failed: false };
      }

      static getDerivedStateFromError() {
        return { failed: true };
      }

      componentDidCatch(error) {
        state.fault = `The components failed: ${error.message}`;
        report();
      }

      componentDidMount() {
        report();
      }

      componentDidUpdate() {
        report();
      }

      render() {
        return this.state.failed ? null : this.props.children;
      }
    };
  }

  /** The chat library with a `Stack`, and with the `Card` that the general catalog describes. */
  function generalLibrary({ React, openuiChatLibrary: chat }) {
    const choice = (...values) => ({ type: "string", enum: values });
    const layout = {
      direction: choice("row", "column"),
      gap: choice("none", "xs", "s", "m", "l", "xl", "2xl"),
      align: choice("start", "center", "end", "stretch", "baseline"),
      justify: choice("start", "center", "end", "between", "around", "evenly"),
      wrap: { type: "boolean" },
    };
    const children = { type: "array", items: {} };
    const component = (properties) => ({ type: "object", properties, required: ["children"], additionalProperties: false });
    const schema = structuredClone(chat.toJSONSchema());
    schema.$defs.Stack = component({ children, ...layout });
    schema.$defs.Card = component({ children, variant: choice("card", "sunk", "clear"), ...layout });
    const { Card } = chat.components;
    const Stack = { ...Card, name: "Stack", description: "Flex container.", component: drawStack };
    const components = { ...chat.components, Stack, Card: { ...Card, component: drawCard } };
    return { ...chat, root: "Stack", components, toJSONSchema: () => schema };

    function drawStack({ props, renderNode }) {
      const { direction = "column", gap = "m", align = "stretch", justify = "start", wrap } = props;
      const sides = { start: "flex-start", end: "flex-end" };
      const spread = { between: "space-between", around: "space-around", evenly: "space-evenly" };
      const style = {
        flexDirection: direction,
        flexWrap: wrap ? "wrap" : "nowrap",
        gap: gap === "none" ? 0 : `var(--openui-space-${gap})`,
        alignItems: sides[align] ?? align,
        justifyContent: sides[justify] ?? spread[justify] ?? justify,
      };
      const className = `runbook-stack runbook-stack-${direction}`;
      return React.createElement("div", { className, style }, renderNode(props.children));
    }

    function drawCard({ props, ...rest }) {
      const { children: inner, variant, ...flex } = props;
      const stack = { type: "element", typeName: "Stack", props: { children: inner, ...flex }, partial: false };
      const kept = Object.values(flex).some((value) => value != null) ? [stack] : inner;
      const card = React.createElement(Card.component, { ...rest, props: { children: kept } });
      return variant && variant !== "card" ? React.createElement("div", { className: `runbook-card-${variant}` }, card) : card;
    }
  }

  // What a reader clicks goes to the page, which asks first.
  const onLink = (event) => {
    const link = event.target.closest?.("a[href], area[href]");
    const image = event.target.closest?.("img[data-remote]");
    if (!link && !image) return;
    event.preventDefault();
    event.stopPropagation();
    postLink(link ? link.getAttribute("href") : image.dataset.remote);
  };
  document.addEventListener("click", onLink, true);
  document.addEventListener("auxclick", onLink, true);
  document.addEventListener("submit", (event) => event.preventDefault(), true);
  window.open = (url) => {
    postLink(url);
    return null;
  };

  // The policy has stopped a remote image: say so in its place. A click offers its address.
  document.addEventListener(
    "error",
    ({ target }) => {
      if (target.tagName !== "IMG" || !/^\s*(https?:)?\/\//i.test(target.getAttribute("src") ?? "")) return;
      target.dataset.remote = target.src;
      target.title = `${target.alt || "Image"}: not loaded, click to open`;
      const words = "Remote image, not loaded. Click to open.";
      target.style.cursor = "pointer";
      target.src = `data:image/svg+xml,${encodeURIComponent(
        `<svg xmlns="http://www.w3.org/2000/svg" width="280" height="72"><rect width="280" height="72" rx="8" fill="#8883"/><text x="140" y="40" fill="#888" font-family="sans-serif" font-size="13" text-anchor="middle">${words}</text></svg>`,
      )}`;
    },
    true,
  );
}
