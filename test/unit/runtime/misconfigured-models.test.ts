import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../../src/domain/chat/provider.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-models-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function read(yaml: string, env: Record<string, string> = {}): Settings {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, yaml);
  return readSettings(['--config', file], { LENSGATE_DATA_DIR: join(folder, 'data'), ...env }, keyGenerator);
}

const hidden = (text: string): string => text.replaceAll(folder, '<folder>');

const NO_KEY = 'The model "smart" has no key: set api_key, or one of GROQ_API_KEY.';
const AT_MODEL = '<folder>/config.yaml:4: model_list.0.litellm_params.model: ';

/** Title, model, further parameters, environment, and the reason and place in the report. */
const CASES: readonly (readonly [string, string, string, Record<string, string>, string, string])[] = [
  ['no key', 'groq/x', '', {}, NO_KEY, AT_MODEL],
  ['a key that is null', 'groq/x', 'api_key: null', {}, NO_KEY, AT_MODEL],
  [
    'a key from an unset variable',
    'groq/x',
    'api_key: os.environ/NOT_THERE',
    {},
    'the environment variable NOT_THERE it refers to is not set',
    '<folder>/config.yaml:5: model_list.0.litellm_params.api_key: ',
  ],
  [
    'an address from an unset variable',
    'openai/x',
    'api_base: os.environ/NOT_THERE',
    {},
    'the environment variable NOT_THERE it refers to is not set',
    '<folder>/config.yaml:5: model_list.0.litellm_params.api_base: ',
  ],
  [
    'an unknown provider',
    'acme/large',
    '',
    {},
    `the provider "acme" is not known (${PROVIDER_NAMES.join(', ')}); set api_base if its API is chat-completions`,
    AT_MODEL,
  ],
  [
    'no address',
    'vllm/large',
    '',
    {},
    'the provider "vllm" has no address of its own; set api_base, or VLLM_API_BASE',
    AT_MODEL,
  ],
  [
    'an invalid address in the environment',
    'groq/x',
    'api_key: k',
    { GROQ_API_BASE: 'localhost' },
    '"localhost", from the environment, is not an http:// or https:// address',
    AT_MODEL,
  ],
];

const yamlOf = (model: string, further: string): string =>
  `model_list:\n  - model_name: smart\n    litellm_params:\n      model: ${model}\n      ${further}\n`;

describe('a model that cannot be called', () => {
  it.each(CASES)(
    'is reported with its place, and does not stop the start: %s',
    (_name, model, further, env, reason, place) => {
      const { deployments, warnings } = read(yamlOf(model, further), env);
      expect(deployments.map(({ misconfigured }) => misconfigured)).toEqual([reason]);
      expect(warnings.map(hidden)).toEqual([`${place}${reason}`]);
    },
  );

  it.each(CASES)(
    'stops the start where the configuration is strict: %s',
    (_name, model, further, env, reason, place) => {
      const yaml = `${yamlOf(model, further)}strict_config: true\n`;
      const refused = (): string => {
        try {
          read(yaml, env);
        } catch (error) {
          return hidden(error instanceof Error ? error.message : '');
        }
        return 'accepted';
      };
      expect(refused()).toBe(`${place}${reason}`);
    },
  );
});

it('a model can be called with a key from the environment, or, with a warning, with keys of callers', () => {
  expect(read(yamlOf('groq/x', ''), { GROQ_API_KEY: 'k' }).deployments[0]?.misconfigured).toBeUndefined();
  const withCallerKeys = yamlOf('groq/x', 'configurable_clientside_auth_params: [api_key]');
  const { deployments, warnings } = read(withCallerKeys);
  expect(deployments[0]?.misconfigured).toBeUndefined();
  expect(warnings).toEqual([NO_KEY]);
});

it('null members and settings are absent', () => {
  const yaml = [
    'model_list:',
    '  - model_name: smart',
    '    litellm_params: { model: demo, timeout: null, api_base: null }',
    '    model_info: { id: null, mode: null }',
    'general_settings: { max_request_size_mb: null, master_key: null, demo_model: null, pass_through_endpoints: null }',
    'router_settings: null',
  ].join('\n');
  const { deployments, warnings } = read(yaml);
  expect([deployments.length, warnings]).toEqual([1, []]);
});
