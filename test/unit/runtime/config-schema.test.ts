import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/runtime/settings/config-schema.ts';
import { SETTING_PATHS } from '../../../src/runtime/settings/live-settings.ts';

type Json = Readonly<Record<string, unknown>>;
const schema = configSchema();

/** The schema of the setting at a path of names. Undefined for an unknown setting. */
function schemaAt(path: readonly string[], from: Json = schema): Json | undefined {
  const [name, ...innerPath] = path;
  if (name === undefined) return from;
  const inner = (from['properties'] as Json | undefined)?.[name] as Json | undefined;
  return inner === undefined ? undefined : schemaAt(innerPath, inner);
}

describe('the schema of the configuration file', () => {
  it('has every setting of the table', () => {
    expect(SETTING_PATHS.length).toBeGreaterThan(60);
    expect(SETTING_PATHS.filter((path) => schemaAt(path.split('.')) === undefined)).toEqual([]);
  });

  it('has types, bounds and patterns of settings', () => {
    expect(schemaAt(['general_settings', 'demo_model'])).toMatchObject({
      anyOf: [{ type: 'boolean' }, { type: 'string', pattern: '^os\\.environ/.+$' }, { type: 'null' }],
    });
    expect(schemaAt(['router_settings', 'num_retries'])).toMatchObject({
      anyOf: [{ type: 'integer', minimum: 0, maximum: 20 }, { type: 'string' }, { type: 'null' }],
    });
  });

  it('has the members of models, which may be null where they are optional', () => {
    const entry = schemaAt(['model_list'])?.['items'] as Json;
    expect(entry['required']).toEqual(['model_name', 'litellm_params']);
    expect(schemaAt(['litellm_params', 'api_key'], entry)).toEqual({ anyOf: [{ type: 'string' }, { type: 'null' }] });
    expect(schemaAt(['litellm_params', 'model'], entry)).toEqual({ type: 'string', minLength: 1 });
  });

  it('has the members of guardrails', () => {
    const entry = schemaAt(['guardrails'])?.['items'] as Json;
    expect(entry['required']).toEqual(['guardrail_name', 'litellm_params']);
    expect(schemaAt(['litellm_params'], entry)).toMatchObject({ required: ['guardrail', 'mode'] });
  });

  it('marks settings without an effect as deprecated', () => {
    expect(schemaAt(['mcp_tools'])).toEqual({
      description: 'Has no effect: no MCP tool is offered.',
      deprecated: true,
    });
  });
});
