import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { ENGINES } from '../ports/engines.ts';
import { randomFrom } from '../support/random.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

/** How often a process is killed on each engine; `.ci/run` does it more often. */
const KILL_COUNT = Number(process.env['LENSGATE_KILLS'] ?? 2);
const SENDER_COUNT = 4;
const SEED = 20_261_123;

let folder: string;
let server: ServerProcess | null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-kills-'));
  server = null;
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** An export of three spans whose ids follow from a number. */
function exportOf(nth: number): { readonly traceId: string; readonly body: string } {
  const traceId = (nth + 1).toString(16).padStart(32, '0');
  const spans = [1, 2, 3].map((span) => ({
    traceId,
    spanId: (nth * 4 + span).toString(16).padStart(16, '0'),
    name: `span ${span}`,
    kind: 1,
    startTimeUnixNano: `${BigInt(Date.now()) * 1_000_000n}`,
    endTimeUnixNano: `${BigInt(Date.now() + 5) * 1_000_000n}`,
  }));
  return { traceId, body: JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }] }) };
}

for (const engine of ENGINES)
  it.skipIf(engine.skipReason !== null)(
    `a process killed ${KILL_COUNT} times while exports arrive loses no acknowledged span, on ${engine.name}`,
    { timeout: 30_000 + KILL_COUNT * 30_000 },
    async () => {
      const scratch = engine.name === 'postgresql' ? await engine.create() : null;
      onTestFinished(() => scratch?.remove());
      const env: Record<string, string> = scratch?.options.databaseUrl
        ? { DATABASE_URL: scratch.options.databaseUrl }
        : { LENSGATE_SQLITE_DRIVER: engine.name };
      const dataDir = join(folder, 'data');
      const random = randomFrom(SEED);
      const acknowledged: string[] = [];
      let exportCount = 0;
      for (let kill = 0; kill < KILL_COUNT; kill += 1) {
        const running = await spawnServer(dataDir, { env });
        server = running;
        const key = readFileSync(join(dataDir, 'admin-key'), 'utf8').trim();
        const killAfter = acknowledged.length + 20 + random(200);
        let isOver = false;
        const senders = Array.from({ length: SENDER_COUNT }, async () => {
          while (!isOver) {
            exportCount += 1;
            const { traceId, body } = exportOf(exportCount);
            const pendingAnswer = fetch(`${running.url}/v1/traces`, { method: 'POST', headers: headersOf(key), body });
            const status = await pendingAnswer.then(
              async (answer) => {
                await answer.arrayBuffer();
                return answer.status;
              },
              () => null,
            );
            // An export without an answer is not acknowledged, even if parts of it are stored.
            if (status === 200) acknowledged.push(traceId);
            if (status === null) isOver = true;
          }
        });
        await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(killAfter);
        await running.end('SIGKILL');
        await Promise.all(senders);
      }
      const restarted = await spawnServer(dataDir, { env });
      server = restarted;
      const key = readFileSync(join(dataDir, 'admin-key'), 'utf8').trim();
      const lost: string[] = [];
      for (const traceId of acknowledged) {
        const answer = await fetch(`${restarted.url}/v1/traces/${traceId}`, { headers: headersOf(key) });
        const { summary } = (await answer.json()) as { summary?: { span_count: number } };
        if (summary?.span_count !== 3) lost.push(traceId);
      }
      expect(lost).toEqual([]);
      expect(acknowledged.length).toBeGreaterThan(KILL_COUNT * 20);
      expect(restarted.errors()).toBe('');
    },
  );
