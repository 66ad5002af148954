import { describe, expect, it } from 'vitest';
import { FIXED_FIELDS, GENERAL_FIELDS } from '../../../src/domain/settings/general-fields.ts';
import { ROUTER_FIELDS } from '../../../src/domain/settings/router-fields.ts';
import { SETTING_GROUPS, type GroupName } from '../../../src/domain/settings/setting-groups.ts';
import { SHARED_FIELDS } from '../../../src/domain/settings/shared-fields.ts';
import { sampled } from '../../support/sampling.ts';
import { envelope, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();

const LONG_TEXT = 'x'.repeat(100_000);
/**
 * Invalid and extreme values. The long text is first, so that a later value replaces it: as long as it is stored, it
 * slows down all reads and writes.
 */
const VALUES: readonly unknown[] = [
  LONG_TEXT,
  -1,
  -0.5,
  1.5,
  1e300,
  '-1',
  'NaN',
  'Infinity',
  '',
  'javascript:alert(1)',
  true,
  [],
  {},
  [1],
  [{}],
  { a: { b: -1 } },
];
const TOO_LARGE = 'Request size is too large. Request size is 10';
const TEXTS = VALUES.filter((value) => typeof value === 'string');

/** Values that are valid for a kind. A setting may accept fewer. */
const VALID_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  integer: [],
  number: [1.5, 1e300],
  flag: [true],
  text: TEXTS,
  duration: [],
  window: [],
  windows: [[]],
  address: [''],
  list: [[], [1], [{}]],
  texts: [[]],
  map: [{}, { a: { b: -1 } }],
  objects: [[], [{}]],
  any: VALUES,
};
const ROUTER_KINDS: Readonly<Record<string, string>> = {
  String: 'text',
  Integer: 'integer',
  Float: 'number',
  Boolean: 'flag',
  List: 'list',
  Dictionary: 'map',
};

const invalidFor = (kind: string): readonly unknown[] =>
  VALUES.filter(
    (value) => !(VALID_VALUES[kind] ?? []).some((valid) => JSON.stringify(valid) === JSON.stringify(value)),
  );

/** All settings, as YAML text. */
const storedYaml = async (): Promise<string> => {
  const { url, adminKey } = client.app();
  const answer = await fetch(`${url}/config/yaml`, { headers: { authorization: `Bearer ${adminKey}` } });
  return answer.text();
};

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/**
 * Sends invalid values, which must be refused with the name of the setting, and valid ones, which may be refused.
 * Returns a text for each unexpected answer, and one more if a refused value is stored.
 */
async function wrongAnswers(
  name: string,
  kind: string,
  writeOf: (value: unknown) => Write,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  async function send(value: unknown, isValid: boolean): Promise<void> {
    const { method, path, body } = writeOf(value);
    const answer = await client.send(method, path, body);
    const text = JSON.stringify(answer.body);
    const isRefused = [400, 422].includes(answer.status) && text.includes(name) && text.length < 2 * LONG_TEXT.length;
    if (!isRefused && !(isValid && answer.status === 200))
      wrong.push(`${JSON.stringify(value).slice(0, 60)}: ${answer.status} ${text.slice(0, 200)}`);
  }
  const before = await storedYaml();
  // oxlint-disable-next-line no-await-in-loop -- sequential writes
  for (const value of sampled(invalidFor(kind), 4, name.length)) await send(value, false);
  if ((await storedYaml()) !== before) wrong.push('a refused value is stored');
  // oxlint-disable-next-line no-await-in-loop -- sequential writes
  for (const value of VALID_VALUES[kind] ?? []) await send(value, true);
  return wrong;
}

const generalFields = [...GENERAL_FIELDS].map(([name, { kind }]) => [name, kind] as const);

describe('settings.update 400: a value that the setting does not accept', () => {
  it.each(generalFields)('%s (%s)', async (name, kind) => {
    const wrong = await wrongAnswers(name, kind, (value) => ({
      method: 'POST',
      path: '/config/field/update',
      body: { field_name: name, field_value: value, config_type: 'general_settings' },
    }));
    expect(wrong).toEqual([]);
  });
});

describe('settings.updateSections 400: a value that the setting does not accept', () => {
  const router = Object.entries(ROUTER_FIELDS).map(
    ([name, { type }]) => ['router_settings', name, ROUTER_KINDS[type] ?? ''] as const,
  );
  const sharedFlags = Object.entries(SHARED_FIELDS)
    .filter(([, { type }]) => type === 'Boolean')
    .map(([name]) => ['litellm_settings', name, 'flag'] as const);
  const storable = generalFields
    .filter(([name]) => !FIXED_FIELDS.has(name))
    .map(([name, kind]) => ['general_settings', name, kind] as const);
  const groupMembers = Object.values(SETTING_GROUPS).flatMap(({ section, member }) =>
    section === 'litellm_settings' && member !== null ? [[section, member, 'map'] as const] : [],
  );
  it.each([...storable, ...router, ...sharedFlags, ...groupMembers])('%s.%s (%s)', async (section, name, kind) => {
    const wrong = await wrongAnswers(name, kind, (value) => ({
      method: 'POST',
      path: '/config/update',
      body: { [section]: { [name]: value } },
    }));
    expect(wrong).toEqual([]);
  });
});

const paths: Readonly<
  Record<Exclude<GroupName, 'emailEvents' | 'costDiscount' | 'costMargin'>, readonly [string, string]>
> = {
  internalUser: ['PATCH', '/update/internal_user_settings'],
  defaultTeam: ['PATCH', '/update/default_team_settings'],
  sso: ['PATCH', '/update/sso_settings'],
  ui: ['PATCH', '/update/ui_settings'],
  uiTheme: ['PATCH', '/update/ui_theme_settings'],
  userBanner: ['PATCH', '/update/user_banner'],
  mcpSemanticFilter: ['PATCH', '/update/mcp_semantic_filter_settings'],
  mcpToolSearch: ['PATCH', '/update/mcp_tool_search_settings'],
  websearch: ['PATCH', '/update/websearch_interception_settings'],
  blockUnpriced: ['PATCH', '/config/block_requests_for_models_without_pricing'],
  cloudZero: ['PUT', '/cloudzero/settings'],
  vantage: ['PUT', '/vantage/settings'],
  hashicorpVault: ['POST', '/config_overrides/hashicorp_vault'],
  cache: ['POST', '/cache/settings'],
  coordinationRedis: ['POST', '/coordination_redis/settings'],
};

describe('groups of settings: a value that the setting does not accept', () => {
  const fields = Object.entries(paths).flatMap(([group, [method, path]]) =>
    Object.entries(SETTING_GROUPS[group as GroupName].fields)
      // The server sets the revision of a banner at each write.
      .filter(([name]) => name !== 'revision')
      .map(([name, { kind }]) => [method, path, name, kind] as const),
  );
  it.each(fields)('%s %s: %s (%s)', async (method, path, name, kind) => {
    const wrong = await wrongAnswers(name, kind, (value) => ({ method, path, body: { [name]: value } }));
    expect(wrong).toEqual([]);
  });

  it.each(['cost_discount_config', 'cost_margin_config'])('%s: an invalid value of a provider is 400', async (name) => {
    const before = await storedYaml();
    // 1.5 is a valid margin, and some objects are, too.
    for (const value of VALUES.filter((candidate) => candidate !== 1.5 && typeof candidate !== 'object')) {
      // oxlint-disable-next-line no-await-in-loop -- the state is compared in between
      const { status, body } = await client.send('PATCH', `/config/${name}`, { openai: value });
      expect([value, status, JSON.stringify(body)]).toEqual([value, 400, expect.stringContaining('openai')]);
    }
    expect(await storedYaml()).toBe(before);
  });
});

it('a text of 10 MB is refused with 400 on routes that write settings, and nothing is stored', async () => {
  const before = await storedYaml();
  const body = JSON.stringify({ general_settings: { alerting_args: 'x'.repeat(10 * 1024 * 1024) } });
  const { url, adminKey } = client.app();
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  for (const [method, path] of [
    ['POST', '/config/update'],
    ['POST', '/config/field/update'],
    ...Object.values(paths),
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- sequential, because the bodies are large
    const answer = await fetch(`${url}${path}`, { method, headers, body });
    // oxlint-disable-next-line no-await-in-loop -- as above
    expect([path, answer.status, await answer.text()]).toEqual([path, 400, expect.stringContaining(TOO_LARGE)]);
  }
  expect(await storedYaml()).toBe(before);
});

it('invalid members of alerting_args are refused with 400', async () => {
  const send = (args: object) =>
    client.post('/config/field/update', {
      field_name: 'alerting_args',
      field_value: args,
      config_type: 'general_settings',
    });
  const message = (name: string) => ({
    status: 400,
    body: { detail: { error: `general_settings.alerting_args.${name} is not a whole number from 0.` } },
  });
  expect(await send({ budget_alert_ttl: -1 })).toEqual(message('budget_alert_ttl'));
  expect(await send({ daily_report_frequency: 'often' })).toEqual(message('daily_report_frequency'));
  expect(
    await client.post('/config/update', { general_settings: { alerting_args: { outage_alert_ttl: [] } } }),
  ).toEqual(
    envelope(
      400,
      'general_settings.alerting_args.outage_alert_ttl is not a whole number from 0.',
      'auth_error',
      'None',
    ),
  );
  expect((await send({ budget_alert_ttl: 60 })).status).toBe(200);
});
