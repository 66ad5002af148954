import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { traceRefOf } from '../../support/memory-trace-store.ts';
import type { TestApp } from '../../support/start-app.ts';

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
/** 2026-01-01T00:00:00Z. */
export const START_MS = 1_767_225_600_000;
/** Query for a list: from one second before `START_MS` to one day after it. */
export const WINDOW = `start_ms=${START_MS - 1000}&end_ms=${START_MS + 86_400_000}`;

type Fields = Readonly<Record<string, unknown>>;

const attributes = (values: Fields) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));

/**
 * Span in OTLP/JSON. `digit` fills its id, `from` is the offset to `START_MS` in ms, `lasts` is the duration in ms.
 * `overrides` replaces members.
 */
export function otlpSpan(digit: string, from: number, lasts: number, values: Fields = {}, overrides: Fields = {}) {
  const startNs = BigInt(START_MS + from) * 1_000_000n;
  return {
    traceId: TRACE_ID,
    spanId: digit.repeat(16),
    name: 'step',
    kind: 1,
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(startNs + BigInt(Math.round(lasts * 1_000_000))),
    attributes: attributes(values),
    ...overrides,
  };
}

export const otlpExport = (...spans: readonly unknown[]) => ({
  resourceSpans: [{ resource: { attributes: attributes({ 'service.name': 'support' }) }, scopeSpans: [{ spans }] }],
});

/** Example trace of the contract: an agent of two seconds, a model call and a failed tool. */
export const workedExample = otlpExport(
  otlpSpan(
    'a',
    0,
    2_000,
    { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'triage' },
    { name: 'triage' },
  ),
  otlpSpan(
    'b',
    100,
    500.25,
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.agent.name': 'triage',
      'gen_ai.request.model': 'm1',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.response.id': 'r-1',
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Where is my order?"}]}]',
      'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"On its way."}]}]',
    },
    { name: 'chat m1', parentSpanId: 'a'.repeat(16), kind: 3, status: { code: 1 } },
  ),
  otlpSpan(
    'c',
    700,
    300,
    { 'gen_ai.operation.name': 'execute_tool' },
    {
      name: 'execute_tool lookup',
      parentSpanId: 'a'.repeat(16),
      status: { code: 2 },
      events: [
        {
          name: 'exception',
          timeUnixNano: String(BigInt(START_MS) * 1_000_000n),
          attributes: attributes({ 'exception.message': 'no such order' }),
        },
      ],
    },
  ),
);

/** Trace ref of the example trace for a key. The key has no team by default. */
export const refFor = (key: string, teamId: string | null = null): string =>
  traceRefOf({ teamId, keyHash: keyGenerator.hash(key) }, TRACE_ID);

/** Creates a virtual key. Returns it. */
export async function makeKey(app: TestApp, draft: Fields = {}): Promise<string> {
  const { key }: { readonly key: string } = await (await app.call('POST', '/key/generate', draft)).json();
  return key;
}

/** Sends an export as JSON. */
export const send = (app: TestApp, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  app.call('POST', '/v1/traces', body, headers);

/** Sends an export as raw bytes. */
export const sendBytes = (app: TestApp, body: Uint8Array, headers: Record<string, string>): Promise<Response> =>
  fetch(`${app.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.adminKey}`, ...headers },
    body: new Uint8Array(body),
  });

export const as = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Status and body of a JSON response. */
export async function statusAndBody(response: Promise<Response>): Promise<readonly [number, unknown]> {
  const settled = await response;
  return [settled.status, await settled.json()];
}

/** Status, content type and body text of a response. */
export async function statusTypeAndBody(
  response: Promise<Response>,
): Promise<readonly [number, string | null, string]> {
  const settled = await response;
  return [settled.status, settled.headers.get('content-type'), Buffer.from(await settled.arrayBuffer()).toString()];
}
