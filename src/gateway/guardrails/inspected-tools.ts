import type { InspectedTools } from '../../domain/guardrails/guardrail.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { calledTools, offeredTools, toolsInConversation } from '../../domain/tools/tool-names.ts';
import type { RunningCall } from './guarding.ts';

/** Runs a function at the first use only. */
function once<Value>(read: () => Value): () => Value {
  let result: { readonly value: Value } | null = null;
  return () => (result ??= { value: read() }).value;
}

const resultsIn = (body: JsonObject): (() => readonly string[]) => once(() => toolsInConversation(body).resultsOf);

/** A call whose guardrails can read the tools that its request offers. */
export const withRequestTools = (call: RunningCall, body: JsonObject): RunningCall => ({
  ...call,
  tools: once(() => ({ used: offeredTools(body), resultsOf: resultsIn(body) })),
});

/** A call whose guardrails can read the tools that its answer calls. `body` is that of the request. */
export const withAnswerTools = (call: RunningCall, body: JsonObject, answer: unknown): RunningCall => ({
  ...call,
  tools: once(() => ({ used: calledTools(answer), resultsOf: resultsIn(body) })),
});

/** A call of a tool, which may have several names. */
export const withTool = (call: RunningCall, names: readonly string[]): RunningCall => ({
  ...call,
  tools: () => ({ used: names, resultsOf: () => [] }),
});

/** Tools that a stream calls. */
export interface StreamTools {
  /** Adds the tools of one JSON value of the stream. */
  add(value: unknown): void;
  addName(name: string): void;
  /** Whether tools were added after the last check. */
  isCheckDue(): boolean;
  /** The tools so far. The next check is due when further ones are added. */
  checked(): InspectedTools;
}

/** Collects the tools that a stream calls. `body` is that of the request. */
export function createStreamTools(body: JsonObject): StreamTools {
  const names = new Set<string>();
  const resultsOf = resultsIn(body);
  let checkedCount = 0;
  return {
    add(value) {
      for (const name of calledTools(value)) names.add(name);
    },
    addName: (name) => void names.add(name),
    isCheckDue: () => names.size > checkedCount,
    checked() {
      checkedCount = names.size;
      return { used: [...names], resultsOf };
    },
  };
}
