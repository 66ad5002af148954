import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, expect, it } from 'vitest';
import { ConfigError } from '../../../src/runtime/settings/config-fault.ts';
import { createConfigReader } from '../../../src/runtime/settings/reload.ts';

const folder = mkdtempSync(join(tmpdir(), 'lensgate-reader-'));
const file = join(folder, 'config.yaml');
const reader = createConfigReader(['--config', file], () => ({ LENSGATE_DATA_DIR: folder }));
afterAll(() => {
  reader.stop();
  rmSync(folder, { recursive: true, force: true });
});

const model = (name: string): string =>
  `model_list:\n  - model_name: ${name}\n    litellm_params:\n      model: openai/${name}\n      api_key: secret-${name}\n`;
async function namesIn(text: string): Promise<readonly string[]> {
  writeFileSync(file, text);
  const { deployments } = await reader.read();
  return deployments.map(({ modelGroup, apiKey }) => `${modelGroup} ${apiKey?.reveal()}`);
}

it('a config reader reads a changed file, also after an invalid one and after a stop', async () => {
  expect(await namesIn(model('one'))).toEqual(['one secret-one']);
  expect(await namesIn(model('two'))).toEqual(['two secret-two']);
  // This text is outside the subset of plain YAML.
  expect(await namesIn(`${model('three')}# é\nrouter_settings: { num_retries: 1 }\n`)).toEqual(['three secret-three']);
  writeFileSync(file, 'model_list: [');
  await expect(reader.read()).rejects.toThrow(ConfigError);
  expect(await namesIn(model('four'))).toEqual(['four secret-four']);
  reader.stop();
  expect(await namesIn(model('five'))).toEqual(['five secret-five']);
});

it('a config reader returns the lines of settings', async () => {
  writeFileSync(file, `${model('one')}\ngeneral_settings:\n  demo_model: true\n  max_file_size_mb: 3\n`);
  const { config } = await reader.read();
  expect(config.placeOf('general_settings', 'max_file_size_mb')).toEqual({ source: file, line: 9 });
});

it('a config reader replaces an idle thread that has ended', async () => {
  reader.stop();
  const started = once(process, 'worker') as Promise<[Worker]>;
  expect(await namesIn(model('one'))).toEqual(['one secret-one']);
  const [worker] = await started;
  await worker.terminate();
  expect(await namesIn(model('two'))).toEqual(['two secret-two']);
  expect(await namesIn(model('three'))).toEqual(['three secret-three']);
});
