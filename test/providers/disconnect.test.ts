import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import { createHttpProvider } from '../../src/providers/http-provider.ts';
import { openAiCompatible } from '../../src/providers/openai-compatible/openai-compatible.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { aModelRequest, aDeployment } from '../support/chat.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

const http = createHttpClient();
const provider = createHttpProvider(http, openAiCompatible);
const NEVER = new AbortController().signal;
const STREAM = { stream: true, stream_options: { include_usage: true } };

let faults: FaultServer;
let deployment: Deployment;

beforeAll(async () => {
  faults = await startFaultServer();
  deployment = aDeployment({ apiBase: `${faults.url}/v1` });
});

afterAll(async () => {
  await http.close();
  await faults.stop();
});

const ask = (content: string, more: object = {}) =>
  aModelRequest({ model: 'm', messages: [{ role: 'user', content }], ...more });

describe('a caller that disconnects', () => {
  const nextCall = (respond: (response: ServerResponse) => void): Promise<void> =>
    new Promise((resolve) => {
      faults.answer((response) => {
        respond(response);
        resolve();
      });
    });

  it('before the head of the answer, cancels the upstream call immediately', async () => {
    const leaving = new AbortController();
    const callArrived = nextCall(() => {});
    const sending = provider.send(deployment, ask('x'), leaving.signal);
    await callArrived;
    const reason = new Error('the caller left');
    leaving.abort(reason);
    await expect(sending).rejects.toBe(reason);
    await expect(faults.nextDisconnect()).resolves.toBeUndefined();
  });

  it('during a whole answer or a stream, cancels the upstream call as well', async () => {
    for (const more of [{}, STREAM]) {
      const leaving = new AbortController();
      const callArrived = nextCall((response) => {
        response.writeHead(200, more === STREAM ? { 'content-type': 'text/event-stream' } : {});
        response.write(more === STREAM ? 'data: {"choices":[]}\n\n' : '{"choices":');
      });
      const sending = provider.send(deployment, ask('x', more), leaving.signal);
      await callArrived;
      if (more === STREAM) await sending;
      leaving.abort(new Error('the caller left'));
      await sending.catch(() => {});
      await expect(faults.nextDisconnect()).resolves.toBeUndefined();
    }
  });

  it('while it awaits a delta, cancels the upstream call as well', async () => {
    const callArrived = nextCall((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
    });
    const exchange = await provider.send(deployment, ask('x', STREAM), NEVER);
    await callArrived;
    const deltas = exchange.deltas();
    expect(await deltas.next()).toEqual({ done: false, value: { kind: 'text', text: 'a' } });
    const waiting = deltas.next();
    await deltas.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await expect(faults.nextDisconnect()).resolves.toBeUndefined();
  });

  it('leaves no connection open when the client closes; calls stay within the limit of connections', async () => {
    const limitedHttp = createHttpClient({ connections: 4 });
    const limitedProvider = createHttpProvider(limitedHttp, openAiCompatible);
    const server = await startFaultServer();
    const otherDeployment = { ...deployment, apiBase: server.url };
    server.answer((response) => setImmediate(() => response.end('{"choices":[]}')));
    await Promise.all(Array.from({ length: 40 }, () => limitedProvider.send(otherDeployment, ask('x'), NEVER)));
    expect(await server.connections()).toBeLessThanOrEqual(4);
    server.answer(() => {});
    const leaving = new AbortController();
    const calls = Array.from({ length: 12 }, () =>
      limitedProvider.send(otherDeployment, ask('x'), leaving.signal).catch(() => 'left'),
    );
    leaving.abort(new Error('gone'));
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['left']));
    await limitedHttp.close();
    await expect.poll(() => server.connections()).toBe(0);
    await server.stop();
  });
});
