// CPU of the record of a call, in process: encoding, committing, and unfolding into the rows of its spend and span.
// Prints one line of JSON.
//   node bench/calls.ts <checkout> [calls of a round] [rounds]
// Records differ only in ids, times and token counts, like calls of one key and model. Prints the best round of
// committing, with encoding, and the best one of unfolding.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type * as orm from '../src/persistence/database/orm.ts';

const [root = '.', ...sizes] = process.argv.slice(2);
const [CALLS = 20_000, ROUNDS = 6] = sizes.map(Number);
/** As in `call-records.ts`: records encoded in one turn of the event loop, and calls of a commit. */
const ENCODED_A_TURN = 32;
const BATCH = 4_000;
type Orm = typeof orm;
const { openStores } = (await import(resolve(root, 'src/persistence/database/orm.ts'))) as Orm;
const folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-'));
const stores = await openStores({
  databaseUrl: null,
  dataDir: folder,
  log: { warn: (facts, event) => console.error(event, facts) },
});
type Call = Parameters<typeof stores.calls.encode>[0];
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const START_MS = 1_700_000_000_000;
const PROMPT = 'lorem ipsum dolor sit amet '.repeat(15);
const resourceAttributes = { 'service.name': 'lensgate' };

function aCall(number: number): Call {
  const [traceId, spanId] = [`${hex(START_MS + number, 12)}${hex(number, 20)}`, hex(number + 1, 16)];
  const [startMs, durationNs] = [START_MS + number, 5_000_000 + (number % 1_000)];
  const usage = {
    inputTokens: 100 + (number % 50),
    outputTokens: 20 + (number % 9),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  const [responseId, id] = [`chatcmpl-${number}`, `call-${number}`];
  const startNs = BigInt(startMs) * 1_000_000n;
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'bench-model',
    'gen_ai.response.model': 'bench-model',
    'gen_ai.response.id': responseId,
    'gen_ai.usage.input_tokens': String(usage.inputTokens),
    'gen_ai.usage.output_tokens': String(usage.outputTokens),
    'lensgate.call_id': id,
    'gen_ai.output.type': 'text',
    'gen_ai.response.finish_reasons': '["stop"]',
  };
  return {
    spend: {
      id,
      callId: id,
      responseId,
      callType: 'acompletion',
      keyHash: 'k'.repeat(64),
      teamId: 'team',
      userId: null,
      endUser: null,
      sessionId: null,
      tags: [],
      modelGroup: 'bench-model',
      model: 'bench-model',
      deploymentId: 'bench-1',
      provider: 'openai',
      usage,
      cost: 1_250_000n as NonNullable<Call['spend']['cost']>,
      status: 'success',
      startedAt: new Date(startMs),
      endedAt: new Date(startMs + Math.floor(durationNs / 1e6)),
      firstByteAt: new Date(startMs + 2),
      traceId,
      spanId,
      error: null,
    },
    span: {
      traceId,
      spanId,
      parentSpanId: null,
      name: 'chat bench-model',
      kind: 'CLIENT',
      type: 'llm',
      agent: '',
      service: 'lensgate',
      startNs,
      endNs: startNs + BigInt(durationNs),
      status: 'ok',
      error: null,
      model: 'bench-model',
      provider: 'openai',
      framework: '',
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      inputPreview: PROMPT.slice(0, 240),
      requestId: responseId,
      callId: null,
      gateway: true,
      cost: 1_250_000n as NonNullable<Call['spend']['cost']>,
      estimate: null,
      source: null,
      input: PROMPT,
      output: 'an answer of a few words',
      attributes,
      resourceAttributes,
      events: [],
      links: [],
    },
  };
}

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

async function commitCalls(first: number): Promise<void> {
  let batch: ReturnType<typeof stores.calls.encode>[] = [];
  for (let number = first; number < first + CALLS; number += 1) {
    batch.push(stores.calls.encode(aCall(number)));
    if (batch.length % ENCODED_A_TURN === 0) await endOfTurn();
    if (batch.length < BATCH) continue;
    await stores.calls.append(batch);
    batch = [];
  }
  await stores.calls.append(batch);
}

let [commit, unfold] = [Infinity, Infinity];
for (let round = 0; round < ROUNDS; round += 1) {
  const beganAt = cpuUs();
  await commitCalls(round * CALLS);
  const between = cpuUs();
  while (stores.calls.backlog() > 0) await stores.calls.unfold();
  const end = cpuUs();
  commit = Math.min(commit, (between - beganAt) / CALLS);
  unfold = Math.min(unfold, (end - between) / CALLS);
}
console.log(JSON.stringify({ commitUs: commit, unfoldUs: unfold }));
await stores.close();
rmSync(folder, { recursive: true });
