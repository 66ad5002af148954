import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { spawnServer } from '../support/spawn-server.ts';
import { POLLING } from '../support/polling.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-reload-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A configuration with one model. Its file is not watched, so that only the signal causes a reload. */
const yamlOf = (model: string): string =>
  `model_list:\n  - model_name: ${model}\n    litellm_params: { model: demo }\ngeneral_settings: { config_watch_seconds: 0 }\n`;

it('a process reads its configuration again on SIGHUP', async () => {
  const config = join(folder, 'config.yaml');
  writeFileSync(config, yamlOf('before'));
  const env = { LITELLM_MASTER_KEY: 'sk-of-the-reload-test-1234' };
  const server = await spawnServer(join(folder, 'data'), { args: ['--config', config], env });
  const models = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${env.LITELLM_MASTER_KEY}` };
    return (await fetch(`${server.url}/v1/models`, { headers })).text();
  };
  try {
    expect(await models()).toContain('"before"');
    writeFileSync(config, yamlOf('after'));
    server.process.kill('SIGHUP');
    await vi.waitFor(
      async () => {
        if (!(await models()).includes('"after"')) throw new Error('Not read yet.');
      },
      { ...POLLING, interval: 200 },
    );
    expect(await models()).not.toContain('"before"');
  } finally {
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  }
});
