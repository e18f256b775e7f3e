// The official client: reads {url, threadId, turns} from the command line, runs each turn on one HttpAgent, and
// prints its messages and the events it passed on. verifyEvents, inside runAgent, refuses an illegal stream.
import { HttpAgent } from "@ag-ui/client";

const { url, threadId, turns } = JSON.parse(process.argv[2]);
const agent = new HttpAgent({ url, threadId });
const kinds = [];
for (const [index, turn] of turns.entries()) {
  agent.addMessage({ id: `u${index}`, role: "user", content: turn });
  await agent.runAgent({ runId: `run-${index}` }, { onEvent: ({ event }) => void kinds.push(event.type) });
}
console.log(JSON.stringify({ messages: agent.messages, kinds }));
