// lang-core's results for programs on standard input: one JSON line {catalog, source, chunks?} in, one result out.
// A result of more than 200,000 characters (a cycle that is entered many times) is {skipped: true}.
// With `chunks` (a list of texts) the result is the list of a streaming parser's results after each of them.
// usage: node lang_core.mjs PACKAGE_FOLDER SCHEMA_FOLDER
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

delete process.env.OPENUI_RUNTIME_TELEMETRY_ENABLED;
const [packages, schemas] = process.argv.slice(2);
const core = await import(pathToFileURL(`${packages}/node_modules/@openuidev/lang-core/dist/index.mjs`).href);
const roots = { general: "Stack", chat: "Card" };
const parsers = {};
for (const name of Object.keys(roots)) {
  const schema = JSON.parse(readFileSync(`${schemas}/${name}.schema.json`, "utf8"));
  parsers[name] = { whole: core.createParser(schema, roots[name]), stream: () => core.createStreamingParser(schema, roots[name]) };
}

/** A copy JSON can hold: NaN and Infinity are spelled out, -0 is 0, what is undefined is left out. */
function plain(value) {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 || 0 : { $num: String(value) };
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => plain(item) ?? null);
  const copy = Object.create(null);
  for (const key of Object.keys(value)) if (value[key] !== undefined) copy[key] = plain(value[key]);
  return copy;
}

function shape(result) {
  const errors = result.meta.errors.map(({ code, component, path, statementId }) => ({ code, component, path, statementId }));
  return plain({ ...result, meta: { ...result.meta, errors } });
}

function answer({ catalog, source, chunks }) {
  try {
    if (!chunks) return shape(parsers[catalog].whole.parse(source));
    const parser = parsers[catalog].stream();
    return chunks.map((chunk) => shape(parser.push(chunk)));
  } catch (error) {
    return { throws: error.name };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const text = JSON.stringify(answer(JSON.parse(line)));
  process.stdout.write((text.length > 200_000 ? '{"skipped": true}' : text) + "\n");
}
