import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createConnections } from '../../../src/runtime/mcp/connections.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

const SERVER = anMcpServer({ id: 's', url: 'http://127.0.0.1:9/mcp' });
const SIGNAL = new AbortController().signal;

/** Connections that are open at once. `closed` counts closed ones. */
function someConnections() {
  const counts = { closed: 0 };
  const connections = createConnections(
    async () => ({
      client: undefined as never,
      async close() {
        counts.closed += 1;
      },
    }),
    { monotonicMs: () => 0 },
  );
  const lease = (owner: string, header: number) =>
    connections.lease(SERVER, { owner, headers: { 'x-header': String(header) } }, SIGNAL);
  return { connections, counts, lease };
}

describe('connections with headers of a caller', () => {
  it('are at most 32 in use, and others are not affected', async () => {
    const { lease, connections } = someConnections();
    for (let header = 0; header < 32; header += 1) await lease('one', header);
    await expect(lease('one', 32)).rejects.toThrow(Unavailable);
    await lease('other', 0);
    expect(connections.size).toBe(33);
  });

  it('replace the longest unused one of the same caller', async () => {
    const { lease, connections, counts } = someConnections();
    for (let header = 0; header < 32; header += 1) {
      const { release } = await lease('one', header);
      release();
    }
    await lease('one', 32);
    expect(connections.size).toBe(32);
    await expect.poll(() => counts.closed).toBe(1);
  });
});
