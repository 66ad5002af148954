import { describe, expect, it } from 'vitest';
import { faultsFrom, settingsFrom, warningsFrom } from '../../support/read-settings.ts';

/** Sections with keys from the documentation of LiteLLM. */
const LITELLM = `model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_key: sk-upstream
default_vertex_config:
  vertex_project: a-project
  vertex_location: europe-west1
  vertex_credentials:
    private_key: sk-vertex
    type: service_account
litellm_settings:
  drop_params: true
  set_verbose: false
  cache: true
  cache_params:
    type: redis
    password: sk-redis
  callbacks: [otel, langfuse, presidio]
general_settings:
  master_key: sk-a-long-admin-key
`;

const EXPECTED = [
  'config.yaml:6: default_vertex_config: has no effect: no Vertex AI credential is taken from it',
  'config.yaml:19: litellm_settings.callbacks: "langfuse", "presidio" have no effect: no call is sent there',
];

describe('sections and keys without an effect', () => {
  it('cause one warning each, with file and line', () => {
    expect(warningsFrom({ yaml: LITELLM })).toEqual(EXPECTED);
  });

  it('are errors of the start with strict_config', () => {
    expect(faultsFrom({ yaml: `${LITELLM}strict_config: true\n` })).toEqual(EXPECTED);
    expect(faultsFrom({ yaml: `${LITELLM}strict_config: false\n` })).toEqual([]);
    expect(faultsFrom({ yaml: 'strict_config: true\ngeneral_settings: { demo_model: true }\n' })).toEqual([]);
  });

  it('are reported without values', () => {
    const yaml = `${LITELLM}router_settings: { redis_password: sk-router }
mystery: sk-mystery
environment_variables: { KEY: sk-variable }
`;
    const warnings = warningsFrom({ yaml: yaml.replace('langfuse', '"https://user:sk-callback@host"') });
    // Those of `EXPECTED`, and one for `mystery`. The other two added settings have an effect.
    expect(warnings).toHaveLength(3);
    expect(warnings.join('\n')).not.toContain('sk-');
    expect(warnings).toContain(
      'config.yaml:19: litellm_settings.callbacks: an entry, "presidio" have no effect: no call is sent there',
    );
  });

  it.each(['false', 'null', '[]', '{}', '""'])('cause no warning when they are disabled: %s', (off) => {
    const yaml = `guardrails: ${off}\npolicies: ${off}\nlitellm_settings: { cache: ${off}, cache_params: { type: redis }, callbacks: ${off} }\n`;
    expect(warningsFrom({ yaml })).toEqual([]);
  });

  it('in models cause one warning for all models that have the key', () => {
    const yaml = `model_list:
  - { model_name: a, litellm_params: { model: demo, max_retries: 5 } }
  - model_name: b
    timeout: 5
    litellm_params:
      model: demo
      max_retries: 7
      api_bas: http://127.0.0.1:1
      input_cost_per_token: 0
    model_info: { id: b, team_id: red, supports_vision: true }
`;
    expect(warningsFrom({ yaml })).toEqual([
      'config.yaml:2: model_list.0.litellm_params.max_retries: has no effect: set `num_retries` in its place (in 2 models)',
      'config.yaml:4: model_list.1.timeout: has no effect here; did you mean litellm_params.timeout?',
      'config.yaml:8: model_list.1.litellm_params.api_bas: has no effect; did you mean api_base?',
    ]);
  });
});

describe('unknown keys', () => {
  it.each([
    ['general_setings: { demo_model: true }', '1: general_setings', '; did you mean general_settings?'],
    ['general_settings:\n  databse_url: x', '2: general_settings.databse_url', '; did you mean database_url?'],
    ['litellm_settings:\n  callbakcs: [x]', '2: litellm_settings.callbakcs', '; did you mean callbacks?'],
    ['general_settings:\n  alertting: [x]', '2: general_settings.alertting', '; did you mean alerting?'],
    [
      'general_settings:\n  tracing:\n    store:\n      retention_dais: 3',
      '4: general_settings.tracing.store.retention_dais',
      '; did you mean retention_days?',
    ],
    [
      'general_settings:\n  drop_params: true',
      '2: general_settings.drop_params',
      ' here; did you mean litellm_settings.drop_params?',
    ],
    [
      'general_settings:\n  strict_config: true',
      '2: general_settings.strict_config',
      ' here; it belongs to the top level of the file',
    ],
    ['general_settings:\n  something_else: 1', '2: general_settings.something_else', ''],
  ])('cause a warning, with a hint where a similar or equal name is known: %j', (yaml, place, hint) => {
    expect(warningsFrom({ yaml })).toEqual([`config.yaml:${place}: is not a known setting${hint}`]);
  });
});

describe('included files', () => {
  const files = {
    'models.yaml': '\nmodel_list:\n  - model_name: b\n    litellm_params: { model: demo, max_retries: 1 }\n',
    'rest.yaml': 'mcp_tools: [x]\ngeneral_settings:\n  demo_model: maybe\n',
  };

  it('extend lists, and warnings about their entries name the included file and its line', () => {
    const yaml = 'include: [models.yaml]\nmodel_list:\n  - { model_name: a, litellm_params: { model: demo } }\n';
    const { deployments } = settingsFrom({ yaml, files });
    expect(deployments.map(({ modelGroup }) => modelGroup)).toEqual(['a', 'b']);
    expect(warningsFrom({ yaml, files })).toEqual([
      'models.yaml:4: model_list.1.litellm_params.max_retries: has no effect: set `num_retries` in its place',
    ]);
  });

  it('replace other sections, and errors in these sections name the included file', () => {
    const yaml = 'include: [rest.yaml]\ngeneral_settings: { graphiql: false }\n';
    expect(faultsFrom({ yaml, files })).toEqual([
      'rest.yaml:3: general_settings.demo_model: "maybe" is neither true nor false',
    ]);
  });

  it('may include each other, and must exist', () => {
    const loop = { 'other.yaml': 'include: [config.yaml]\n' };
    expect(faultsFrom({ yaml: 'include: [other.yaml]\n', files: loop })).toEqual([]);
    expect(faultsFrom({ yaml: 'include: [missing.yaml]\n' })).toEqual([
      expect.stringMatching(
        /^config\.yaml:1: include\.0: .*missing\.yaml cannot be read: the file does not exist \(ENOENT\)$/,
      ),
    ]);
    expect(faultsFrom({ yaml: 'demo: 1\ninclude: one.yaml\n' })).toEqual([
      'config.yaml:2: include: is not a list of files, one `- name.yaml` per line',
    ]);
  });

  it('are named, with the line, in an error about an unset variable', () => {
    const referring = { 'key.yaml': '# key\ngeneral_settings:\n  master_key: os.environ/MISSING\n' };
    expect(faultsFrom({ yaml: 'include: [key.yaml]\n', files: referring })).toEqual([
      'key.yaml:3: general_settings.master_key: the environment variable MISSING it refers to is not set',
    ]);
  });
});

it('an empty file causes a warning, and an empty section does not', () => {
  expect(warningsFrom({ yaml: '# nothing yet\n' })).toEqual(['config.yaml: is empty: every setting has its default']);
  expect(warningsFrom({ yaml: 'model_list:\ngeneral_settings:\n' })).toEqual([]);
});

it.each([
  ['{ model: openai/tiny-1, input_cost_per_token: 0.1 }', '{}', 1],
  ['{ model: openai/tiny-1, input_cost_per_token: 0.1, output_cost_per_token: 0 }', '{}', 0],
  ['{ model: openai/tiny-1, input_cost_per_token: 0.1 }', '{ output_cost_per_token: 0.2 }', 0],
  ['{ model: openai/tiny-1, input_cost_per_token: 0 }', '{}', 0],
  ['{ model: openai/text-embedding-3-small, input_cost_per_token: 0.1 }', '{}', 0],
  ['{ model: openai/tiny-1, input_cost_per_token: 0.1 }', '{ mode: embedding }', 0],
])('a model with parameters %s and model_info %s causes %i warnings about free output', (params, info, count) => {
  const yaml = `model_list:\n  - model_name: m\n    litellm_params: ${params.replace('}', ', api_key: k }')}\n    model_info: ${info}\n`;
  const warning =
    'config.yaml:3: model_list.0.litellm_params.input_cost_per_token: prices input alone: output is free unless the catalog has a price for the model; set output_cost_per_token, 0 for free output';
  expect(warningsFrom({ yaml })).toEqual(Array.from({ length: count }, () => warning));
});

it('anchors and merge keys that many models share are read', () => {
  const models = Array.from(
    { length: 150 },
    (_none, index) => `  - { model_name: m${index}, litellm_params: *shared }\n`,
  );
  const yaml = `model_list:
  - model_name: first
    litellm_params: &shared { model: demo, timeout: 5 }
  - model_name: second
    litellm_params: { <<: *shared, timeout: 7 }
${models.join('')}`;
  const { deployments } = settingsFrom({ yaml });
  const timeouts = deployments.map(({ modelGroup, timeoutSeconds }) => [modelGroup, timeoutSeconds]);
  expect(timeouts.slice(0, 3)).toEqual([
    ['first', 5],
    ['second', 7],
    ['m0', 5],
  ]);
  expect(deployments.filter(({ timeoutSeconds }) => timeoutSeconds === 5)).toHaveLength(151);
});
