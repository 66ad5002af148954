import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, configOver, formOf, lineFor, newKey, send, serveFiles } from '../files/file-client.ts';
import { offered } from './tool-server.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const guardrail = (name: string, mode: string) => ({
    guardrail_name: name,
    litellm_params: { guardrail: 'tool_policy', mode },
  });
  app = await startApp({
    config: {
      ...configOver(upstream, { proxy_batch_polling_interval: 0 }),
      guardrails: [guardrail('before', 'pre_call'), guardrail('during', 'during_call')],
    },
  });
  await app.call('POST', '/v1/tool/policy', { tool_name: 'wire', input_policy: 'blocked' });
});
beforeEach(() => serveFiles(upstream));
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const lineWith = (tool: string): string =>
  lineFor('assistant', { messages: [{ role: 'user', content: 'x' }], tools: [offered(tool)] });
const uploadLines = (key: string, ...lines: readonly string[]): Promise<Response> =>
  send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'batch' }, lines.join('\n')) });

describe('files.create: tools in the lines of a batch', () => {
  it.each([
    ['before', 'pre_call'],
    ['during', 'during_call'],
  ])('400: a line offers a blocked tool, and a guardrail checks tools %s the call', async (name, mode) => {
    const key = await newKey(app, { metadata: { guardrails: [name] } });
    const requestsBefore = upstream.received.length;
    expect(await answerOf(await uploadLines(key, lineWith('search'), lineWith('wire')))).toEqual([
      400,
      {
        error: {
          message: '/files: Line 2 of the file: Violated tool policy',
          type: 'invalid_request_error',
          param: null,
          code: '400',
          provider_specific_fields: {
            error: 'Violated tool policy',
            blocked_tools: ['wire'],
            message: "Tool(s) ['wire'] are blocked by policy.",
            guardrail_name: name,
            guardrail_mode: mode,
            line: 2,
          },
        },
      },
    ]);
    expect(upstream.received.length).toBe(requestsBefore);
    expect((await uploadLines(key, lineWith('search'))).status).toBe(200);
  });
});
