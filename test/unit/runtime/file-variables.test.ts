import { describe, expect, it } from 'vitest';
import { faultsFrom, settingsFrom, warningsFrom } from '../../support/read-settings.ts';

const MODEL = `model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY_OF_FILE, api_base: os.environ/BASE }
`;

describe('environment_variables of the file', () => {
  it('resolve references, replace variables of the process and become texts', () => {
    const yaml = `${MODEL}environment_variables: { KEY_OF_FILE: sk-file, BASE: os.environ/OUTSIDE, COUNT: 3, ON: true, GONE: null }\n`;
    const env = { OUTSIDE: 'https://models.test/v1', KEY_OF_FILE: 'sk-process' };
    const { deployments, variables, warnings } = settingsFrom({ yaml, env });
    expect([deployments[0]?.apiBase, deployments[0]?.apiKey?.reveal()]).toEqual(['https://models.test/v1', 'sk-file']);
    expect(variables).toEqual({ KEY_OF_FILE: 'sk-file', BASE: 'https://models.test/v1', COUNT: '3', ON: 'true' });
    expect(warnings).toEqual([]);
  });

  it('include those of included files', () => {
    const files = {
      'more.yaml': 'environment_variables: { KEY_OF_FILE: sk-included, BASE: "http://models.test/v1" }\n',
    };
    expect(settingsFrom({ yaml: `${MODEL}include: [more.yaml]\n`, files }).variables['KEY_OF_FILE']).toBe(
      'sk-included',
    );
  });

  it('apply to settings that are read from variables', () => {
    const yaml = 'environment_variables: { PORT: 4321 }\n';
    expect(settingsFrom({ yaml, env: { PORT: '1234' } }).port).toBe(4_321);
  });

  it.each(['PATH', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'HOME', 'no_proxy', 'NODE_OPTIONS', 'PYTHONPATH'])(
    'exclude %s with a warning',
    (name) => {
      const yaml = `environment_variables:\n  ${name}: sk-value\n`;
      const warning = `config.yaml:2: environment_variables.${name}: is not set: this variable belongs to the machine`;
      expect([warningsFrom({ yaml }), settingsFrom({ yaml }).variables]).toEqual([[warning], {}]);
    },
  );

  it('exclude a reference to an unset variable', () => {
    const yaml = 'environment_variables: { A: os.environ/NOWHERE }\n';
    const warning =
      'config.yaml:1: environment_variables.A: is not set: the environment variable NOWHERE it refers to is not set';
    expect([warningsFrom({ yaml }), settingsFrom({ yaml }).variables]).toEqual([[warning], {}]);
  });

  it.each([
    ['[A, B]', 'config.yaml:1: environment_variables: is not a map of variables'],
    ['text', 'config.yaml:1: environment_variables: is not a map of variables'],
    ['{ A: { b: sk-c } }', 'config.yaml:1: environment_variables.A: is not a text, a number, true or false'],
    ['{ "A=B": sk-c }', 'config.yaml:1: environment_variables.A=B: is not the name and the text of a variable'],
    ['{ A: "sk\\0c" }', 'config.yaml:1: environment_variables.A: is not the name and the text of a variable'],
  ])('are refused: %s', (section, fault) => {
    expect(faultsFrom({ yaml: `environment_variables: ${section}\n` })).toEqual([fault]);
  });
});
