import { expect, it } from 'vitest';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import type { CallTools } from '../../../src/gateway/calls/call.ts';
import { createMcpGateway } from '../../../src/gateway/mcp/create-mcp-gateway.ts';
import { NO_MCP_UPSTREAM } from '../../../src/gateway/mcp/no-upstream.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

/** Deadline of a listing, in ms. */
const LIST_MS = 30_000;
/** Servers that the gateway asks at once. */
const FIRST_SERVERS = 64;

// With a deadline for each server, the last server would take 30 s more.
it('servers that wait for their turn share the deadline of the whole listing', { timeout: 10_000 }, async () => {
  let nowMs = 0;
  const tools = { clock: { monotonicMs: () => nowMs } } as unknown as CallTools;
  const gateway = createMcpGateway(
    {
      ...NO_MCP_UPSTREAM,
      listTools({ id }) {
        if (id === 'last') return new Promise(() => undefined);
        nowMs = LIST_MS;
        return Promise.reject(new UpstreamFailed('away', { provider: 'mcp', upstreamStatus: null }));
      },
    },
    tools,
    null,
  );
  const first = Array.from({ length: FIRST_SERVERS }, (_, index) => anMcpServer({ id: `s${index}` }));
  const sender = { caller: aCaller(aKey()), clientHeaders: {}, callerToken: null, sessionId: null };
  const options = { signal: new AbortController().signal, isRecorded: false };
  const listed = await gateway.listTools([...first, anMcpServer({ id: 'last' })], sender, options);
  expect(listed.at(-1)?.outcome).toEqual({ status: 'timeout', httpStatus: null });
});
