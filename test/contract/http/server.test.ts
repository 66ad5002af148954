import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../src/http/server.ts';

let server: Server;
let onHeldRequest: (response: ServerResponse) => void = () => {};

beforeAll(async () => {
  const timeouts = {
    keepAliveTimeout: 5_000,
    headersTimeout: 100,
    requestTimeout: 100,
    smallBodyTimeout: 100,
    connectionsCheckingInterval: 20,
  };
  server = createHttpServer(
    (received, answer) => {
      // Without hot paths, Node's server parses every request.
      const [request, response] = [received as IncomingMessage, answer as ServerResponse];
      if (request.url === '/held') onHeldRequest(response);
      else if (request.url === '/whole') request.on('end', () => response.end('whole')).resume();
      else response.end(request.url);
    },
    { timeouts },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function openSocket(text: string): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(text);
  return socket;
}

/** All bytes until the server closes the connection. */
async function allOf(socket: Socket): Promise<string> {
  let receivedText = '';
  for await (const chunk of socket) receivedText += String(chunk);
  return receivedText;
}

describe('a request target', () => {
  it.each([
    ['http://gateway.example/v1/models?a=http://x', '/v1/models?a=http://x'],
    ['HTTPS://gateway.example:443', '/'],
    ['http://gateway.example?a', '/?a'],
    ['http://[broken/docs', '/docs'],
    ['*', '/*'],
    ['//double', '//double'],
  ])('%s is served as %s', async (target, served) => {
    const answer = await allOf(openSocket(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`));
    expect(answer.split('\r\n\r\n')[1]).toBe(served);
  });
});

describe('a request that never ends', () => {
  const unfinished = (path: string): string => `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc`;

  it('is answered 408, and its connection is closed', async () => {
    expect(await allOf(openSocket(unfinished('/whole')))).toMatch(/^HTTP\/1\.1 408 /);
    expect(await allOf(openSocket('GET /whole HTTP/1.1\r\nhost:'))).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('has its connection closed after an early answer, too', async () => {
    expect(await allOf(openSocket(unfinished('/answered')))).toMatch(/^HTTP\/1\.1 200 .*\/answered/s);
  });

  it('times out, while a complete request may wait for its answer', async () => {
    const arrived = new Promise<ServerResponse>((resolve) => {
      onHeldRequest = resolve;
    });
    const heldAnswer = allOf(openSocket('GET /held HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'));
    const response = await arrived;
    expect(await allOf(openSocket(unfinished('/whole')))).toMatch(/^HTTP\/1\.1 408 /);
    response.end('at last');
    expect(await heldAnswer).toMatch(/^HTTP\/1\.1 200 .*at last$/s);
  });
});
