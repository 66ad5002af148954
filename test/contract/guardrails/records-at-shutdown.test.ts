import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { putMigratedDatabase } from '../../support/migrated-databases.ts';
import { startApp } from '../../support/start-app.ts';

const PROMPT = 'a prompt that no guardrail has checked';

let service: FaultServer;
let dataDir: string;

beforeAll(async () => {
  service = await startFaultServer();
  dataDir = mkdtempSync(join(tmpdir(), 'lensgate-records-'));
  await putMigratedDatabase(dataDir, 'catalog');
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true });
});

it('a shutdown stores the record of a call without its texts when a guardrail of records does not answer', async () => {
  service.answer(() => undefined);
  const config = {
    general_settings: { store_prompts_in_spend_logs: true },
    guardrails: [
      {
        guardrail_name: 'silent',
        litellm_params: {
          guardrail: 'generic_guardrail_api',
          mode: 'logging_only',
          api_base: service.url,
          default_on: true,
        },
      },
    ],
  };
  const first = await startApp({ dataDir, config });
  const answer = await first.call('POST', '/v1/chat/completions', {
    model: 'demo',
    messages: [{ role: 'user', content: PROMPT }],
  });
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { readonly id: string };
  await first.stop({ keepData: true });
  expect(service.received).toHaveLength(1);

  const second = await startApp({ dataDir, config });
  try {
    const logs = await (await second.call('GET', '/spend/logs')).text();
    const rows = JSON.parse(logs) as readonly { readonly model_group: string; readonly status: string }[];
    expect([id, rows.length, rows[0]?.model_group, logs.includes(PROMPT)]).toEqual([id, 1, 'demo', false]);
  } finally {
    await second.stop({ keepData: true });
  }
});
