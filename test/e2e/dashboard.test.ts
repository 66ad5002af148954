import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { spawnServer } from '../support/spawn-server.ts';

it('a started server bundles the dashboard at the first visit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-dashboard-'));
  const server = await spawnServer(folder, {});
  try {
    const [script, style] = await Promise.all(
      ['/ui/dashboard.js', '/ui/dashboard.css'].map((path) => fetch(`${server.url}${path}`)),
    );
    expect([script?.status, style?.status]).toEqual([200, 200]);
    expect(await script?.text()).toContain('traceUpdates');
  } finally {
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
});
