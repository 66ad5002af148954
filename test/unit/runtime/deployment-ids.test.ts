import { describe, expect, it } from 'vitest';
import { deploymentsById } from '../../../src/domain/chat/provider.ts';
import { withIds } from '../../../src/runtime/settings/deployment-ids.ts';
import { modelEntry, toDeployment } from '../../../src/runtime/settings/deployments.ts';

const entry = (params: object, members: object = {}) => ({
  model_name: 'm',
  litellm_params: { model: 'openai/up', api_base: 'http://127.0.0.1:1/v1', api_key: 'sk-1', ...params },
  ...members,
});

const deploymentsOf = (entries: readonly object[]) =>
  withIds(entries.map((listItem) => toDeployment(modelEntry.parse(listItem), { dropParams: false, env: {} })));

/** Ids of the deployments of these entries. */
const idsOf = (entries: readonly object[]): readonly string[] => deploymentsOf(entries).map(({ id }) => id);

const DIFFERENT = [
  entry({}),
  entry({ model: 'openai/other' }),
  entry({ model: 'mistral/up' }),
  entry({ api_base: 'http://127.0.0.1:2/v1' }),
  entry({ organization: 'o' }),
  entry({}, { model_name: 'n' }),
  entry({}, { model_info: { id: 'configured' } }),
];

describe('ids of deployments', () => {
  it('depend on the deployments, not on their order', () => {
    const ids = idsOf(DIFFERENT);
    expect(new Set(ids).size).toBe(DIFFERENT.length);
    expect(ids.at(-1)).toBe('configured');
    for (const id of ids.slice(0, -1)) expect(id).toMatch(/^[mn]#[0-9a-f]{12}$/);
    expect(idsOf(DIFFERENT.toReversed())).toEqual(ids.toReversed());
  });

  it('stay the same with another key, timeout or API version', () => {
    const changed = { api_key: 'sk-renewed', timeout: 5, api_version: '2', drop_params: true, input_cost_per_token: 1 };
    expect(idsOf([entry(changed)])).toEqual(idsOf([entry({})]));
  });

  it('differ for accounts at one address, in any order', () => {
    const accounts = [entry({}), entry({ api_key: 'sk-2' }), entry({ api_key: 'sk-3' })];
    const ids = idsOf(accounts);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^m#[0-9a-f]{12}-[0-9a-f]{4}$/);
    expect(idsOf(accounts.toReversed())).toEqual(ids.toReversed());
  });

  it('differ for AWS profiles and roles, which are accounts at one address', () => {
    const keyless = { model: 'bedrock/up', api_key: undefined };
    const callers = [{}, { aws_profile_name: 'a' }, { aws_profile_name: 'b' }, { aws_role_name: 'a' }];
    const ids = idsOf(callers.map((caller) => entry({ ...keyless, ...caller })));
    expect(new Set(ids).size).toBe(callers.length);
    for (const id of ids) expect(id).toMatch(/^m#[0-9a-f]{12}-[0-9a-f]{4}$/);
  });

  it('have numbers for equal deployments', () => {
    const [first, second, third] = idsOf([entry({}), entry({}), entry({})]);
    expect([second, third]).toEqual([`${first}-2`, `${first}-3`]);
  });

  it('include former ones: the position in the file; the first of a place also has the id without the account', () => {
    const [idWithoutAccount = ''] = idsOf([entry({})]);
    const deployments = deploymentsOf([
      entry({}),
      entry({ api_key: 'sk-2' }),
      entry({}, { model_info: { id: 'm#1' } }),
    ]);
    const found = deploymentsById(deployments);
    expect(found.get(idWithoutAccount)).toBe(deployments[0]);
    expect(found.get('m#2')).toBe(deployments[1]);
    // A current id takes precedence over the former id of another deployment.
    expect(found.get('m#1')).toBe(deployments[2]);
    // A deployment with a configured id has no former ids.
    expect(found.get('m#3')).toBeUndefined();
  });
});
