import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';
import { SettingsChangedDocument, SettingsDocument, UpdateSettingDocument } from './generated/graphql.ts';
import { overEventStream } from './subscribers.ts';
import { POLLING } from '../support/polling.ts';

type Json = Readonly<Record<string, unknown>>;
interface Answer {
  readonly data: Json | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

let app: TestApp;
let userKey = '';

async function graph(query: { toString(): string }, variables: object = {}, key = app.adminKey): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await app.call('POST', '/graphql', { query: query.toString(), variables }, headers);
  return (await answer.json()) as Answer;
}

async function settingOf(section: string, name: string): Promise<unknown> {
  const { data } = await graph(SettingsDocument, { sections: [section], names: [name] });
  const settings = data?.['settings'] as readonly Json[] | undefined;
  return settings?.[0];
}

const update = async (section: string, name: string, value: unknown): Promise<Json> =>
  (await graph(UpdateSettingDocument, { input: { section, name, value } })).data?.['updateSetting'] as Json;

const FILE_SETTINGS = {
  max_parallel_requests: 100,
  max_response_size_mb: 'os.environ/SIZE_OF_TEST',
  max_request_size_mb: null,
};

beforeAll(async () => {
  const env = { SIZE_OF_TEST: '77' };
  // The first app stores settings in the database. The second one also has settings in its configuration file.
  const firstApp = await startApp({ env });
  await firstApp.call('POST', '/config/update', { general_settings: { max_parallel_requests: 5 } });
  await firstApp.call('POST', '/config/update', { environment_variables: { OF_A_TEST: 'plain-text-secret' } });
  await firstApp.stop({ keepData: true });
  app = await startApp({ config: { general_settings: FILE_SETTINGS }, env, dataDir: firstApp.dataDir });
  const response = await app.call('POST', '/key/generate', {});
  userKey = ((await response.json()) as { readonly key: string }).key;
});
afterAll(() => app.stop());

const UNSET_SETTING = {
  source: 'UNSET',
  editable: true,
  declaredValue: null,
  ignoredStoredValue: null,
  defaultValue: null,
};

describe('settings', () => {
  it('in the configuration file override a stored value, which is shown as ignored', async () => {
    expect(await settingOf('GENERAL', 'max_parallel_requests')).toEqual({
      section: 'GENERAL',
      name: 'max_parallel_requests',
      description: 'Maximum number of parallel requests of each key. Not in force yet.',
      source: 'CONFIG',
      editable: false,
      declaredValue: 100,
      effectiveValue: 100,
      ignoredStoredValue: 5,
      defaultValue: null,
    });
  });

  it('have environment references resolved in the effective value only, and may be declared as null', async () => {
    expect(await settingOf('GENERAL', 'max_response_size_mb')).toMatchObject({
      source: 'CONFIG',
      declaredValue: 'os.environ/SIZE_OF_TEST',
      effectiveValue: '77',
    });
    expect(await settingOf('GENERAL', 'max_request_size_mb')).toMatchObject({
      source: 'CONFIG',
      editable: false,
      declaredValue: null,
      effectiveValue: null,
    });
  });

  it('have default values, may be unset, and do not show the values of environment variables', async () => {
    expect(await settingOf('GENERAL', 'admission_queue_timeout_seconds')).toMatchObject({
      source: 'DEFAULT',
      effectiveValue: 1,
    });
    expect(await settingOf('GENERAL', 'max_file_size_mb')).toMatchObject({ ...UNSET_SETTING, effectiveValue: null });
    expect(await settingOf('ENVIRONMENT', 'OF_A_TEST')).toMatchObject({
      source: 'DATABASE',
      effectiveValue: 'REDACTED',
    });
  });

  it('are refused for a caller that is not an administrator', async () => {
    const { data, errors } = await graph(SettingsDocument, {}, userKey);
    expect([data, errors?.[0]?.extensions.code]).toEqual([{ settings: null }, 'FORBIDDEN']);
  });
});

describe('updateSetting', () => {
  it('stores settings of several sections, and removes them', async () => {
    expect(await update('GENERAL', 'max_file_size_mb', 9)).toEqual({
      __typename: 'Setting',
      ...UNSET_SETTING,
      section: 'GENERAL',
      name: 'max_file_size_mb',
      source: 'DATABASE',
      effectiveValue: 9,
    });
    expect(await update('GENERAL', 'max_file_size_mb', null)).toMatchObject({ source: 'UNSET', effectiveValue: null });
    expect(await update('ROUTER', 'allowed_fails', 4)).toMatchObject({ source: 'DATABASE', effectiveValue: 4 });
    expect(await update('ROUTER', 'allowed_fails', null)).toMatchObject({ source: 'UNSET' });
    expect(await update('LITELLM', 'budget_rollover', true)).toMatchObject({ effectiveValue: true });
  });

  it('stores and removes allowed addresses, with the checks of their HTTP routes', async () => {
    expect(await update('GENERAL', 'allowed_ips', ['127.0.0.0/8', '::1'])).toMatchObject({
      source: 'DATABASE',
      effectiveValue: ['127.0.0.0/8', '::1'],
    });
    expect(await (await app.call('GET', '/get/allowed_ips')).json()).toEqual({ data: ['127.0.0.0/8', '::1'] });
    for (const [list, message] of [
      [['203.0.113.7'], expect.stringMatching(/^The list would refuse your own address /) as unknown],
      [['nowhere'], '"nowhere" is neither an IP address nor a block such as 10.0.0.0/8.'],
      [[], expect.stringMatching(/^The list would refuse your own address /) as unknown],
    ] as const)
      // oxlint-disable-next-line no-await-in-loop -- the changes are sequential
      expect(await update('GENERAL', 'allowed_ips', list)).toMatchObject({ __typename: 'InvalidInputError', message });
    expect(await update('GENERAL', 'allowed_ips', null)).toMatchObject({ source: 'UNSET', effectiveValue: null });
    expect(await (await app.call('GET', '/get/allowed_ips')).json()).toEqual({ data: null });
  });

  it('refuses settings that the configuration file declares', async () => {
    // Lines 1 to 3 of the file are `router_settings` of `startApp`, line 4 is `general_settings`.
    const result = await update('GENERAL', 'max_parallel_requests', 7);
    expect({ ...result, resolution: String(result['resolution']).replace(/edit \S*\//, 'edit ') }).toEqual({
      __typename: 'SettingOwnedByFileError',
      code: 'CONFLICT',
      message:
        "general_settings key 'max_parallel_requests' is set in the config file, so only the file can change it. The database has another value for max_parallel_requests, which is ignored.",
      owningSection: 'general_settings',
      keys: ['max_parallel_requests'],
      storedValueIgnored: true,
      resolution: 'edit config.yaml:5 to change it, or remove it from the file to store it in the database',
    });
  });

  it('refuses unknown settings and wrong values', async () => {
    expect(await update('GENERAL', 'zzz', 7)).toMatchObject({
      __typename: 'InvalidInputError',
      message: 'Invalid field=zzz passed in.',
    });
    expect(await update('GENERAL', 'max_file_size_mb', 'abc')).toMatchObject({ __typename: 'InvalidInputError' });
    expect(await update('ROUTER', 'zzz', 7)).toMatchObject({ __typename: 'InvalidInputError' });
  });
});

describe('settingsChanged', () => {
  it('sends the section and name of a changed setting', async () => {
    const follower = overEventStream(`${app.url}/graphql`, SettingsChangedDocument, {}, app.adminKey);
    try {
      let size = 10;
      await vi.waitFor(
        async () => {
          size += 1;
          await update('GENERAL', 'max_file_size_mb', size);
          if (follower.received.length === 0) throw new Error('No update yet.');
        },
        { ...POLLING, interval: 200 },
      );
      expect(follower.received[0]).toEqual({
        data: {
          settingsChanged: { changed: [{ section: 'general_settings', name: 'max_file_size_mb' }], droppedUpdates: 0 },
        },
      });
    } finally {
      await follower.leave();
    }
  });

  it('is refused for a caller that is not an administrator', async () => {
    const refused = overEventStream(`${app.url}/graphql`, SettingsChangedDocument, {}, userKey);
    await refused.ended;
    expect(JSON.stringify(refused.received)).toContain('FORBIDDEN');
  });
});
