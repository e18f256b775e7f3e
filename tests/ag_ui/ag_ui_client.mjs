// Judges streams with the official client: reads [{held, events}, ...] from standard input, writes for each the
// refusal of its verifier (or null) and the messages its reducer ends with. The first argument is the folder
// that holds node_modules.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.argv[2] + "/package.json");
const { from, lastValueFrom, toArray } = require("rxjs");
const { verifyEvents, defaultApplyEvents } = require("@ag-ui/client");

async function refusal(events) {
  try {
    await lastValueFrom(from(events).pipe(verifyEvents(false), toArray()));
    return null;
  } catch (error) {
    return error.message;
  }
}

async function messagesAfter(held, events) {
  const input = { threadId: "t", runId: "r", messages: held, state: {}, tools: [], context: [], forwardedProps: {} };
  const agent = { messages: held, state: {} };
  const changes = await lastValueFrom(defaultApplyEvents(input, from(events), agent, []).pipe(toArray()));
  return changes.filter((change) => change.messages).at(-1)?.messages ?? held;
}

const verdicts = [];
for (const { held, events } of JSON.parse(readFileSync(0, "utf8"))) {
  verdicts.push({ refusal: await refusal(events), messages: await messagesAfter(held, events) });
}
process.stdout.write(JSON.stringify(verdicts));
