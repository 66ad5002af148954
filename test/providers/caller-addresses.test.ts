import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { HttpClient } from '../../src/domain/http.ts';
import { createCallerAddresses } from '../../src/runtime/network/caller-addresses.ts';
import { createHttpClient, type HttpClientOptions } from '../../src/runtime/http-client/client.ts';
import { openUndiciClient } from '../../src/runtime/http-client/undici-transport.ts';

/** Stands for a public address: the setting allows it. All other loopback addresses are private. */
const PUBLIC = '127.0.0.2';
const PRIVATE = '127.0.0.1';

let server: Server;
let port: number;
/** Local addresses on which the server received a call. */
let reached: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    reached.push(request.socket.localAddress ?? '');
    request.resume().on('end', () => response.end('ok'));
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

type OpenClient = (options: HttpClientOptions) => HttpClient | Promise<HttpClient>;

const CLIENTS = [
  { client: 'native', open: createHttpClient },
  { client: 'undici', open: openUndiciClient },
] as const satisfies readonly { client: string; open: OpenClient }[];

/** Runs `use` with a client whose DNS lookups return the lists of `lookupResults` in order. */
async function withClient(
  open: OpenClient,
  lookupResults: readonly string[][],
  use: (http: HttpClient) => Promise<void>,
): Promise<void> {
  reached = [];
  let lookups = 0;
  const callerAddresses = createCallerAddresses([PUBLIC], (_hostname, _options, callback) => {
    const addresses = lookupResults[lookups] ?? [];
    lookups += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  });
  const http = await open({ callerAddresses });
  try {
    await use(http);
  } finally {
    await http.close();
  }
}

/** Text of the answer, or the error as text. */
async function outcomeOfCall(http: HttpClient, host: string, chosenByCaller = true, method: 'post' | 'send' = 'post') {
  const options = { signal: AbortSignal.timeout(10_000), headersTimeoutMs: 10_000, chosenByCaller };
  const url = `http://${host}:${port}/v1`;
  try {
    const answer =
      method === 'post'
        ? await http.post(url, {}, Buffer.from('{}'), options)
        : await http.send('GET', url, {}, [], options);
    return Buffer.from((await collect(answer.body, 100)) ?? []).toString();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : error;
  }
}

const REFUSED = 'AddressRefused: The upstream could not be called: its address is refused.';

describe.each(CLIENTS)('calls to an address chosen by a caller ($client)', ({ open }) => {
  it('are checked at the connected address, so that DNS rebinding has no effect', async () => {
    await withClient(open, [[PUBLIC], [PRIVATE]], async (http) => {
      expect(await outcomeOfCall(http, 'rebinding.example')).toBe('ok');
      // The keep-alive connection still uses the checked address.
      expect(await outcomeOfCall(http, 'rebinding.example')).toBe('ok');
      server.closeIdleConnections();
      // The first call may be sent on the closed idle connection, and fail.
      let answer = await outcomeOfCall(http, 'rebinding.example');
      if (answer !== REFUSED) answer = await outcomeOfCall(http, 'rebinding.example');
      expect(answer).toBe(REFUSED);
      expect(new Set(reached)).toEqual(new Set([PUBLIC]));
    });
  });

  it.each(['post', 'send'] as const)('never use a connection that was not checked (%s)', async (method) => {
    await withClient(open, [], async (http) => {
      expect(await outcomeOfCall(http, PRIVATE, false, method)).toBe('ok');
      expect(await outcomeOfCall(http, PRIVATE, true, method)).toBe(REFUSED);
      expect(await outcomeOfCall(http, PRIVATE, false, method)).toBe('ok');
      expect(reached).toEqual([PRIVATE, PRIVATE]);
    });
  });

  it('get the same error for unknown names, private names and addresses', async () => {
    await withClient(open, [[], [PRIVATE], ['169.254.169.254']], async (http) => {
      for (const host of ['unknown.example', 'internal.example', 'metadata.example', PRIVATE, '[::1]', '0x7f000001'])
        expect([host, await outcomeOfCall(http, host)]).toEqual([host, REFUSED]);
      expect(reached).toEqual([]);
    });
  });

  it('are refused by a client without `callerAddresses`', async () => {
    const http = await open({});
    expect(await outcomeOfCall(http, PRIVATE)).toBe(REFUSED);
    await http.close();
  });

  it('are still checked after calls to 120 hosts', async () => {
    await withClient(
      open,
      Array.from({ length: 300 }, () => [PUBLIC]),
      async (http) => {
        for (let nth = 0; nth < 120; nth += 1) {
          expect(await outcomeOfCall(http, `host-${nth}.example`)).toBe('ok');
          server.closeIdleConnections();
        }
        expect(await outcomeOfCall(http, 'host-0.example')).toBe('ok');
        expect(await outcomeOfCall(http, PRIVATE)).toBe(REFUSED);
      },
    );
  });
});
