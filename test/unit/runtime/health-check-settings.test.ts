import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEFAULT_PROBE_SETTINGS } from '../../../src/domain/deployments/probe-settings.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-health-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function read(config: object): Settings {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  return readSettings(['--config', file], { LENSGATE_DATA_DIR: join(folder, 'data') }, keyGenerator);
}

it('a model may configure its own health check, or has the default one', () => {
  const defaults = read({ model_list: [{ model_name: 'a', litellm_params: { model: 'openai/x' } }] });
  expect(defaults.deployments[0]?.probe).toEqual(DEFAULT_PROBE_SETTINGS);
  const model_info = {
    mode: 'embedding',
    health_check_model: 'y',
    health_check_max_tokens: 7,
    health_check_timeout: 9,
    disable_background_health_check: true,
  };
  const { deployments } = read({
    model_list: [{ model_name: 'a', litellm_params: { model: 'openai/x' }, model_info }],
  });
  expect(deployments[0]?.probe).toEqual({
    mode: 'embedding',
    model: 'y',
    maxTokens: 7,
    timeoutSeconds: 9,
    onDemandOnly: true,
    decision: {},
  });
});

it('background health checks run where the file enables them, at the default interval or the configured one', () => {
  const checks = (general_settings: object) => read({ general_settings }).healthChecks;
  // An interval alone does not enable the checks: `everySeconds` is 0.
  expect(checks({ health_check_interval: 10 })).toEqual({ everySeconds: 0, details: true });
  expect(checks({ background_health_checks: true })).toEqual({ everySeconds: 300, details: true });
  expect(checks({ background_health_checks: true, health_check_interval: 10, health_check_details: false })).toEqual({
    everySeconds: 10,
    details: false,
  });
  expect(() => checks({ health_check_interval: 0 })).toThrow('general_settings.health_check_interval');
});
