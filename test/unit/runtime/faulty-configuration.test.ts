import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** The error message for a configuration, or `accepted`. */
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
      '<folder>/config.yaml:2: model_list.0.litellm_params: is missing; expected a map',
    ],
    [
      'a wrong type deep inside',
      'model_list:\n  - model_name: smart\n    litellm_params:\n      model: [a]\n',
      '<folder>/config.yaml:4: model_list.0.litellm_params.model: is a list; expected a text',
    ],
    [
      'a wrong type of a setting',
      'general_settings:\n  failed_login_window_seconds: soon\n',
      '<folder>/config.yaml:2: general_settings.failed_login_window_seconds: "soon" is not a whole number from 1 to 86400',
    ],
    [
      'an invalid network, and a network with an invalid limit',
      'general_settings:\n  max_failed_login_attempts_per_source_overrides:\n    10.0.0.0/8: 5\n    here: 5\n    10.1.0.0/16: many\n',
      '<folder>/config.yaml:4: general_settings.max_failed_login_attempts_per_source_overrides.here: "here" is neither an IP address nor a block such as 10.0.0.0/8 or fd00::/8\n' +
        '<folder>/config.yaml:5: general_settings.max_failed_login_attempts_per_source_overrides.10.1.0.0/16: "many" is not a whole number from 0 to 1000000',
    ],
    [
      'a reference to an unset variable',
      'general_settings:\n  master_key: os.environ/NOT_THERE\n',
      '<folder>/config.yaml:2: general_settings.master_key: the environment variable NOT_THERE it refers to is not set',
    ],
    [
      'two faults together',
      'model_list: 3\ngeneral_settings:\n  demo_model: perhaps\n',
      '<folder>/config.yaml:1: model_list: is a number; expected a list\n' +
        '<folder>/config.yaml:3: general_settings.demo_model: "perhaps" is neither true nor false',
    ],
    [
      'an admin key in the wrong form',
      'general_settings:\n  master_key: hunter2\n',
      '<folder>/config.yaml:2: general_settings.master_key: must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces',
    ],
    [
      'an admin key with a prefix only',
      'general_settings:\n  master_key: sk-\n',
      '<folder>/config.yaml:2: general_settings.master_key: must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces',
    ],
    [
      'an invalid address',
      'model_list:\n  - model_name: smart\n    litellm_params:\n      model: openai/x\n      api_base: localhost\n',
      '<folder>/config.yaml:5: model_list.0.litellm_params.api_base: must be an http:// or https:// address',
    ],
    [
      'an invalid price',
      'model_list:\n  - model_name: smart\n    litellm_params:\n      model: openai/x\n      input_cost_per_token: cheap\n',
      '<folder>/config.yaml:5: model_list.0.litellm_params.input_cost_per_token: is not a price in USD',
    ],
    [
      'a repeated key',
      'general_settings:\n  master_key: sk-one\n  master_key: sk-two\n',
      '<folder>/config.yaml:3: general_settings.master_key: is set in line 2 already; a map has each key once',
    ],
    [
      'a repeated key in a list item',
      'model_list:\n  - model_name: a\n    litellm_params:\n      model: b\n      model: c\n',
      '<folder>/config.yaml:5: model_list.0.litellm_params.model: is set in line 4 already; a map has each key once',
    ],
    [
      'an include that does not exist',
      'general_settings: {}\ninclude:\n  - none.yaml\n',
      '<folder>/config.yaml:3: include.0: <folder>/none.yaml cannot be read: the file does not exist (ENOENT)',
    ],
    [
      'exponentially nested anchors',
      `a: &a [x, x, x, x, x, x, x, x, x]\n${'abcdefgh'
        .split('')
        .map((name, index, names) => {
          const aliases = Array(9)
            .fill(`*${names[index - 1]}`)
            .join(', ');
          return index === 0 ? '' : `${name}: &${name} [${aliases}]\n`;
        })
        .join('')}model_list: *h\n`,
      '<folder>/config.yaml:6: f.0: aliases stand for more than 100000 values in all',
    ],
    [
      'a credential without a name',
      'credential_list:\n  - credential_values: { api_key: x }\n',
      '<folder>/config.yaml:2: credential_list.0.credential_name: is missing; expected a text',
    ],
    [
      'parameters that are not indented below their key',
      'model_list:\n  - model_name: a\n    litellm_params:\n    model: openai/x\n',
      '<folder>/config.yaml:3: model_list.0.litellm_params: is missing; expected a map. Indent its lines deeper than `litellm_params:`',
    ],
    [
      'a model without a name',
      'model_list:\n  - litellm_params: { model: demo }\n',
      '<folder>/config.yaml:2: model_list.0.model_name: is missing; expected a text',
    ],
    [
      'a wrong type of parameters of a model',
      'model_list:\n  - model_name: a\n    litellm_params: { model: demo, timeout: soon, drop_params: 1 }\n',
      '<folder>/config.yaml:3: model_list.0.litellm_params.timeout: is a text; expected a number\n' +
        '<folder>/config.yaml:3: model_list.0.litellm_params.drop_params: is a number; expected true or false',
    ],
    [
      'tabs',
      'general_settings:\n\tgraphiql: true\n',
      '<folder>/config.yaml:2: Tabs are not allowed as indentation; indent with spaces',
    ],
    [
      'a second document',
      'general_settings: {}\n---\nmodel_list: []\n',
      '<folder>/config.yaml:2: begins a second document; a configuration file has one, without `---` in between',
    ],
    ['an unclosed quote', 'general_settings:\n  "graphiql: true\n', '<folder>/config.yaml:3: Missing closing "quote'],
    [
      'a key without a space after its colon',
      'general_settings:\n  master_key:sk-secret-of-mine\n',
      '<folder>/config.yaml:1: general_settings: is not a map of settings',
    ],
    [
      'a list in place of sections',
      '- model_list\n',
      '<folder>/config.yaml:1: is not a map of sections such as `model_list:` and `general_settings:`',
    ],
    [
      'one file in place of a list of included ones',
      'include: other.yaml\n',
      '<folder>/config.yaml:1: include: is not a list of files, one `- name.yaml` per line',
    ],
    [
      '20,000 nested lists',
      `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`,
      '<folder>/config.yaml:1: is nested too deeply',
    ],
    [
      'an anchor that contains itself',
      'general_settings: {}\na: &a [x, *a]\n',
      '<folder>/config.yaml:2: a.1: contains itself',
    ],
    [
      'exponentially nested merge keys',
      `a: &a { k: 1 }\n${'bcdefgh'
        .split('')
        .map((name, index) => {
          const aliases = Array(9).fill(`*${'abcdefgh'[index]}`).join(', ');
          return `${name}: &${name} { <<: [${aliases}] }\n`;
        })
        .join('')}`,
      '<folder>/config.yaml:6: f.<<.5: aliases stand for more than 100000 values in all',
    ],
    [
      'an alias of an unknown anchor',
      'model_list: *nothing\n',
      '<folder>/config.yaml:1: model_list: *nothing has no anchor &nothing before it',
    ],
  ])('is refused with the whole message: %s', (_name, yaml, message) => {
    expect(refusal(yaml)).toBe(message);
  });

  it('is refused above the size limit', () => {
    const yaml = `general_settings: {}\n${'# one of many comments of a large file\n'.repeat(260_000)}`;
    expect(refusal(yaml)).toBe(
      `<folder>/config.yaml: has ${yaml.length} characters; a configuration file has at most 8000000 characters`,
    );
  });

  it.each([
    [
      'not UTF-8',
      Buffer.from('general_settings: {}\n# caf\xe9\n', 'latin1'),
      ':2: is not UTF-8 text; save it as UTF-8',
    ],
    ['UTF-16', Buffer.from('\ufeffgeneral_settings: {}\n', 'utf16le'), ': is UTF-16 text; save it as UTF-8'],
    [
      'binary',
      Buffer.from('general_settings: {}\n\0'),
      ':2: has a character U+0000; a configuration file is plain text',
    ],
  ])('is refused where it is %s', (_title, bytes, message) => {
    const file = join(folder, 'bytes.yaml');
    writeFileSync(file, bytes);
    expect(refusal(null, {}, ['--config', file])).toBe(`<folder>/bytes.yaml${message}`);
    expect(refusal('include: [bytes.yaml]\n')).toContain('<folder>/config.yaml:1: include.0: <folder>/bytes.yaml');
  });

  it('is refused where it is a directory', () => {
    mkdirSync(join(folder, 'directory.yaml'));
    expect(refusal(null, {}, ['--config', join(folder, 'directory.yaml')])).toBe(
      '<folder>/directory.yaml: cannot be read: it is a directory, not a file (EISDIR)',
    );
  });

  it.skipIf(process.getuid?.() === 0)('is refused where the process has no permission', () => {
    const file = join(folder, 'closed.yaml');
    writeFileSync(file, '', { mode: 0o000 });
    expect(refusal(null, {}, ['--config', file])).toBe(
      '<folder>/closed.yaml: cannot be read: the user of this process has no permission to read it (EACCES)',
    );
  });

  it('is refused where it is not YAML', () => {
    expect(refusal('model_list: [\n')).toMatch(/^<folder>\/config\.yaml:\d+: /);
  });

  it('is refused where the file is missing', () => {
    expect(refusal(null, {}, ['--config', join(folder, 'none.yaml')])).toBe(
      '<folder>/none.yaml: cannot be read: the file does not exist (ENOENT)',
    );
  });

  it('is refused for an unknown argument or an invalid number', () => {
    expect(refusal(null, {}, ['--prot', '1'])).toContain('arguments: Unknown option');
    expect(refusal(null, { PORT: 'http' })).toBe('environment: PORT: "http" is not a whole number from 0 to 65535');
    expect(refusal(null, {}, ['--port', '1e3'])).toBe('arguments: --port: "1e3" is not a whole number from 0 to 65535');
  });

  it('is reported without secrets', () => {
    expect(refusal('general_settings:\n  master_key: [hunter2]\n')).not.toContain('hunter2');
  });
});
