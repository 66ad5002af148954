import { expect, it } from 'vitest';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import type { HttpClient } from '../../../src/domain/http.ts';
import { upstreamFailure } from '../../../src/runtime/mcp/failures.ts';
import { createMcpFetch } from '../../../src/runtime/mcp/mcp-fetch.ts';

it('a refusal of a server does not repeat the credential of the request, also where JSON escapes it', async () => {
  const credential = 'mcp/to"ken';
  const message = `wrong token ${JSON.stringify(credential)} in ${credential}`;
  const http: Pick<HttpClient, 'send'> = {
    send: async () => ({
      status: 403,
      headers: { 'www-authenticate': `Bearer error_description="${credential} has expired"` },
      body: streamOfBytes(Buffer.from(JSON.stringify({ error: { message } }))),
    }),
  };
  const mcpFetch = createMcpFetch({
    http,
    server: 'notes',
    hasOpenStream: false,
    headers: async () => ({ authorization: `Bearer ${credential}` }),
    streamEnded() {},
  });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  await expect(mcpFetch('http://127.0.0.1/', { method: 'POST', body })).rejects.toMatchObject({
    message: 'The MCP server notes refused the request (HTTP 403): wrong token "<secret>" in <secret>',
    upstreamHeaders: { 'www-authenticate': 'Bearer error_description="<secret> has expired"' },
  });
});

it('an error in the format of JSON-RPC does not repeat the credential of the request', () => {
  const error = Object.assign(new Error('the key sk-mcp is wrong'), { code: -32_000 });
  expect(upstreamFailure('notes', error, ['sk-mcp']).message).toBe('the key <secret> is wrong');
});
