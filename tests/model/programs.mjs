// Parses OpenUI Lang programs with the real lang-core: JSON lines {source} on stdin, one JSON line of facts for each.
//   node programs.mjs FOLDER CATALOG      FOLDER holds node_modules, CATALOG is a catalog's JSON Schema
import fs from "fs";
import path from "path";
import readline from "readline";
import { pathToFileURL } from "url";

const [folder, catalog] = process.argv.slice(2);
const entry = path.join(folder, "node_modules/@openuidev/lang-core/dist/index.mjs");
const core = await import(pathToFileURL(entry).href);
const parser = core.createParser(JSON.parse(fs.readFileSync(catalog, "utf8")), "Stack");

for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { root, meta } = parser.parse(JSON.parse(line).source);
  const { incomplete, unresolved, orphaned, errors } = meta;
  process.stdout.write(JSON.stringify({ root, incomplete, unresolved, orphaned, errors }) + "\n");
}
