import { describe, expect, it } from 'vitest';
import { faultsFrom, settingsFrom, warningsFrom } from '../../support/read-settings.ts';

const FILE = `guardrails:
  - guardrail_name: words
    litellm_params:
      guardrail: litellm_content_filter
      mode: [post_call, pre_call]
      default_on: true
      blocked_words: [{ keyword: bad, action: BLOCK }]
    guardrail_info: { params: [{ name: tone }] }
  - guardrail_name: remote
    litellm_params:
      guardrail: generic_guardrail_api
      mode: during_call
      api_key: os.environ/GUARD_KEY
`;

const env = { GUARD_KEY: 'sk-guard' };

/** Warning for every configuration with a guardrail that runs on every call. */
const UNCHECKED = 'Guardrails that run on every call do not check files, batches, realtime sessions or moderations.';

describe('guardrails of the configuration file', () => {
  it('are read in order, with references to secrets unresolved', () => {
    const { guardrails } = settingsFrom({ yaml: FILE, env });
    expect(guardrails.definitions).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        name: 'words',
        kind: 'litellm_content_filter',
        // Modes have a fixed order, not that of the file.
        modes: ['pre_call', 'post_call'],
        defaultOn: true,
        params: {
          guardrail: 'litellm_content_filter',
          mode: ['post_call', 'pre_call'],
          default_on: true,
          blocked_words: [{ keyword: 'bad', action: 'BLOCK' }],
        },
        info: { params: [{ name: 'tone' }] },
        isFromConfig: true,
        teamId: null,
        createdAt: null,
        updatedAt: null,
      },
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        name: 'remote',
        kind: 'generic_guardrail_api',
        modes: ['during_call'],
        defaultOn: false,
        params: { guardrail: 'generic_guardrail_api', mode: 'during_call', api_key: 'os.environ/GUARD_KEY' },
        info: null,
        isFromConfig: true,
        teamId: null,
        createdAt: null,
        updatedAt: null,
      },
    ]);
    expect(warningsFrom({ yaml: FILE, env })).toEqual([UNCHECKED]);
  });

  it('have references to variables resolved at run time', () => {
    const { guardrails } = settingsFrom({ yaml: FILE, env });
    const [, remote] = guardrails.definitions;
    expect(guardrails.readParams(remote?.params ?? {})).toMatchObject({ api_key: 'sk-guard' });
    expect(guardrails.readParams({ api_key: 'os.environ/OTHER', a: ['os.environ/GUARD_KEY'] })).toEqual({
      api_key: null,
      a: ['sk-guard'],
    });
  });

  it('keep their ids when another guardrail is inserted before them', () => {
    const ids = (yaml: string): readonly string[] =>
      settingsFrom({ yaml, env }).guardrails.definitions.map(({ id }) => id);
    const inserted = '  - guardrail_name: first\n    litellm_params: { guardrail: presidio, mode: pre_call }\n';
    const [words, remote] = ids(FILE);
    expect(ids(FILE.replace('guardrails:\n', `guardrails:\n${inserted}`)).slice(1)).toEqual([words, remote]);
  });

  it('may share a name', () => {
    const twice = FILE.replace('guardrail_name: remote', 'guardrail_name: words');
    const definitions = settingsFrom({ yaml: `${twice}${FILE.slice('guardrails:\n'.length)}`, env }).guardrails
      .definitions;
    expect(definitions.map(({ name }) => name)).toEqual(['words', 'words', 'words', 'remote']);
    expect(new Set(definitions.map(({ id }) => id)).size).toBe(4);
  });

  it.each([
    ['mode: during_call', 'mode: durin_call', '12: guardrails.1.litellm_params.mode: must be one or more of pre_call'],
    ['      mode: during_call\n', '', '10: guardrails.1.litellm_params.mode: Invalid input'],
    ['mode: during_call', 'mode: []', '12: guardrails.1.litellm_params.mode: must be one or more of pre_call'],
    ['default_on: true', 'default_on: maybe', '6: guardrails.0.litellm_params.default_on: Invalid input'],
    ['guardrail_name: words', 'guardrail_name: "a,b"', '2: guardrails.0.guardrail_name: must have no comma'],
    ['guardrail_name: words', 'guardrail_name: ""', '2: guardrails.0.guardrail_name: must not be blank'],
    ['guardrail: litellm_content_filter', 'guardrail: ""', '4: guardrails.0.litellm_params.guardrail: must name'],
    ['- guardrail_name: remote', '- x: remote', '9: guardrails.1.guardrail_name: Invalid input'],
    ['GUARD_KEY', 'ABSENT', '13: guardrails.1.litellm_params.api_key: the environment variable ABSENT it refers to'],
  ])('are refused with file and line: %s -> %s', (from, to, fault) => {
    const faults = faultsFrom({ yaml: FILE.replace(from, to), env });
    expect(faults).toEqual([expect.stringContaining(`config.yaml:${fault}`)]);
  });

  it('are refused where two guardrails have the same id', () => {
    const yaml = FILE.replaceAll('    litellm_params:', '    guardrail_id: same\n    litellm_params:');
    expect(faultsFrom({ yaml, env })).toEqual([
      'config.yaml:11: guardrails.1.guardrail_id: is the id of another guardrail, too',
    ]);
  });

  it.each([
    [
      'guardrail: litellm_content_filter',
      'guardrail: lakera_v2',
      '4: guardrails.0.litellm_params.guardrail: has no effect: guardrails of this kind do not run here',
    ],
    [
      'mode: during_call',
      'mode: [during_call, pre_mcp_call]',
      '12: guardrails.1.litellm_params.mode: pre_mcp_call: has no effect, nothing runs in this mode here',
    ],
    [
      'mode: during_call',
      'mode: { tags: { a: pre_call }, default: [post_call] }',
      '12: guardrails.1.litellm_params.mode: has no effect by tag: the guardrail runs in each of these modes',
    ],
    [
      '    guardrail_info:',
      '    guardrail_inf:',
      '8: guardrails.0.guardrail_inf: is not a known setting; did you mean guardrail_info?',
    ],
    [
      '    guardrail_info:',
      '    default_on:',
      '8: guardrails.0.default_on: has no effect here; did you mean litellm_params.default_on?',
    ],
  ])('cause a warning where a part has no effect: %s -> %s', (from, to, warning) => {
    const yaml = FILE.replace(from, to);
    expect(new Set(warningsFrom({ yaml, env }))).toEqual(new Set([`config.yaml:${warning}`, UNCHECKED]));
    expect(faultsFrom({ yaml: `${yaml}strict_config: true\n`, env })).toEqual([`config.yaml:${warning}`]);
  });

  it('run in the modes of all tags and in the default modes', () => {
    const yaml = FILE.replace('mode: during_call', 'mode: { tags: { a: pre_call }, default: [post_call] }');
    const [, remote] = settingsFrom({ yaml, env }).guardrails.definitions;
    expect(remote?.modes).toEqual(['pre_call', 'post_call']);
  });
});
