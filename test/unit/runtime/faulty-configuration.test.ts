import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/runtime/settings/config-fault.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function read(yaml: string | null, env: Record<string, string> = {}, args: string[] = []): Settings {
  const file = join(folder, 'config.yaml');
  if (yaml !== null) writeFileSync(file, yaml);
  return readSettings(
    [...(yaml === null ? [] : ['--config', file]), ...args],
    { LENSGATE_DATA_DIR: join(folder, 'data'), ...env },
    keyGenerator,
  );
}

function refusal(...args: Parameters<typeof read>): string {
  try {
    read(...args);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(folder, '<folder>');
    throw error;
  }
  return 'accepted';
}

describe('a configuration that cannot be used', () => {
  it.each([
    [
      'a model without parameters',
      'model_list:\n  - model_name: smart\n',
      '<folder>/config.yaml:2: model_list.0.litellm_params: Invalid input: expected object, received undefined',
    ],
    [
      'a wrong type deep inside',
      'model_list:\n  - model_name: smart\n    litellm_params:\n      model: [a]\n',
      '<folder>/config.yaml:4: model_list.0.litellm_params.model: Invalid input: expected string, received array',
    ],
    [
      'a wrong type of a setting',
      'general_settings:\n  failed_login_window_seconds: soon\n',
      '<folder>/config.yaml:2: general_settings.failed_login_window_seconds: "soon" is not a whole number from 1 to 86400',
    ],
    [
      'a limit of a network that is none',
      'general_settings:\n  max_failed_login_attempts_per_source_overrides:\n    10.0.0.0/8: 5\n    here: 5\n    10.1.0.0/16: many\n',
      '<folder>/config.yaml:4: general_settings.max_failed_login_attempts_per_source_overrides.here: "here" is neither an IP address nor a block such as 10.0.0.0/8 or fd00::/8\n' +
        '<folder>/config.yaml:5: general_settings.max_failed_login_attempts_per_source_overrides.10.1.0.0/16: "many" is not a whole number from 0 to 1000000',
    ],
    [
      'a reference to nothing',
      'general_settings:\n  master_key: os.environ/NOT_THERE\n',
      '<folder>/config.yaml:2: general_settings.master_key: the environment variable NOT_THERE it refers to is not set',
    ],
    [
      'two faults at once',
      'model_list: 3\ngeneral_settings:\n  demo_model: perhaps\n',
      '<folder>/config.yaml:1: model_list: Invalid input: expected array, received number\n' +
        '<folder>/config.yaml:3: general_settings.demo_model: "perhaps" is neither true nor false',
    ],
    [
      'an admin key in the wrong form',
      'general_settings:\n  master_key: hunter2\n',
      '<folder>/config.yaml:2: general_settings.master_key: must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces',
    ],
    [
      'an admin key that is nothing but its beginning',
      'general_settings:\n  master_key: sk-\n',
      '<folder>/config.yaml:2: general_settings.master_key: must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces',
    ],
    [
      'an address that is none',
      'model_list:\n  - model_name: smart\n    litellm_params:\n      model: openai/x\n      api_base: localhost\n',
      '<folder>/config.yaml:5: model_list.0.litellm_params.api_base: must be an http:// or https:// address',
    ],
    [
      'a price that is none',
      'model_list:\n  - model_name: smart\n    litellm_params:\n      model: openai/x\n      input_cost_per_token: cheap\n',
      '<folder>/config.yaml:5: model_list.0.litellm_params.input_cost_per_token: is not a price in USD',
    ],
    [
      'a key twice',
      'general_settings:\n  master_key: sk-one\n  master_key: sk-two\n',
      '<folder>/config.yaml:3: general_settings.master_key: is set in line 2 already; a map has each key once',
    ],
    [
      'a key twice in a list',
      'model_list:\n  - model_name: a\n    litellm_params:\n      model: b\n      model: c\n',
      '<folder>/config.yaml:5: model_list.0.litellm_params.model: is set in line 4 already; a map has each key once',
    ],
    [
      'an include that does not exist',
      'general_settings: {}\ninclude:\n  - none.yaml\n',
      '<folder>/config.yaml:3: include.0: <folder>/none.yaml cannot be read (ENOENT)',
    ],
    [
      'a bomb of anchors',
      `a: &a [x, x, x, x, x, x, x, x, x]\n${'abcdefgh'
        .split('')
        .map((name, at, all) =>
          at === 0
            ? ''
            : `${name}: &${name} [${Array(9)
                .fill(`*${all[at - 1]}`)
                .join(', ')}]\n`,
        )
        .join('')}model_list: *h\n`,
      '<folder>/config.yaml:9: model_list: Excessive alias count indicates a resource exhaustion attack. Aliases may stand for at most 100 values in all.',
    ],
    [
      'a credential without a name',
      'credential_list:\n  - credential_values: { api_key: x }\n',
      '<folder>/config.yaml:2: credential_list.0.credential_name: Invalid input: expected string, received undefined',
    ],
    [
      'an alias of nothing',
      'model_list: *nothing\n',
      '<folder>/config.yaml:1: model_list: Unresolved alias (the anchor must be set before the alias): nothing',
    ],
  ])('is refused with file, line and key: %s', (_name, yaml, message) => {
    expect(refusal(yaml)).toBe(message);
  });

  it('is refused where it has 10 MB', () => {
    const yaml = `general_settings: {}\n${'# a comment of a file that nobody writes\n'.repeat(260_000)}`;
    expect(refusal(yaml)).toBe(
      `<folder>/config.yaml: has ${yaml.length} characters; a configuration file has at most 8000000`,
    );
  });

  it('is refused where it is no YAML', () => {
    expect(refusal('model_list: [\n')).toMatch(/^<folder>\/config\.yaml:\d+: /);
  });

  it('is refused where the file is missing', () => {
    expect(refusal(null, {}, ['--config', join(folder, 'none.yaml')])).toBe(
      '<folder>/none.yaml: cannot be read (ENOENT)',
    );
  });

  it('is refused for an unknown argument or an invalid number', () => {
    expect(refusal(null, {}, ['--prot', '1'])).toContain('arguments: Unknown option');
    expect(refusal(null, { PORT: 'http' })).toBe('environment: PORT: "http" is not a whole number from 0 to 65535');
    expect(refusal(null, {}, ['--port', '1e3'])).toBe('arguments: --port: "1e3" is not a whole number from 0 to 65535');
  });

  it('never repeats a secret', () => {
    expect(refusal('general_settings:\n  master_key: [hunter2]\n')).not.toContain('hunter2');
  });
});
