import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ARCHIVE } from '../../support/skill-upstream.ts';
import {
  type Json,
  LARGE,
  refused,
  shown,
  skillForm,
  type SkillServer,
  startSkillServer,
  TOO_LARGE,
  VERSION_ID,
} from './skill-server.ts';

let server: SkillServer;
const ask: SkillServer['ask'] = (...args) => server.ask(...args);

beforeAll(async () => {
  server = await startSkillServer();
});
afterAll(() => server.stop());

const shownVersion = (id: string, more: Json = {}): Json => ({
  id: VERSION_ID,
  type: 'skill_version',
  skill_id: id,
  name: 'sums',
  description: `Adds. Part of ${id}.`,
  created_at: '2026-11-30T00:00:00Z',
  ...more,
});
const lastCall = () => server.upstream.received.at(-1);

describe('skillVersions.create', () => {
  it('200: a version, which the skill has from then on', async () => {
    const id = await server.newSkill();
    const [status, made] = await ask('POST', `/v1/skills/${id}/versions`, skillForm());
    expect([status, made]).toEqual([200, shownVersion(id)]);
    const [, { data }] = await ask('GET', '/v1/skills?limit=1');
    expect(data).toEqual([shown({ id, latest_version_id: made['id'] })]);
  });

  it('400: no form, and a refusal of the provider', async () => {
    const id = await server.newSkill();
    expect((await ask('POST', `/v1/skills/${id}/versions`, {}))[0]).toBe(400);
    const form = new FormData();
    form.append('files[]', new Blob(['x']), 'sums/other.md');
    expect((await ask('POST', `/v1/skills/${id}/versions`, form))[0]).toBe(400);
    const named = skillForm({ file_id: 'file-1' });
    expect(await ask('POST', `/v1/skills/${id}/versions`, named)).toEqual(
      refused(400, 'invalid_request_error', expect.stringMatching(/^\/skills: Invalid value for parameter 'file_id'/)),
    );
  });

  it('413: a file above the limit', async () => {
    const id = await server.newSkill();
    expect(await ask('POST', `/v1/skills/${id}/versions`, skillForm({}, LARGE))).toEqual(TOO_LARGE);
  });

  it('422: a used-up budget', async () => {
    const [, team] = await ask('POST', '/team/new', { team_alias: 'poor' }, server.app.adminKey);
    const id = await server.newSkill(await server.newKey({ team_id: team['team_id'] }));
    const poor = await server.newKey({ team_id: team['team_id'], max_budget: 0 });
    expect((await ask('POST', `/v1/skills/${id}/versions`, skillForm(), poor))[0]).toBe(422);
  });

  it('429: the limit of the key', async () => {
    const slow = await server.newKey({ rpm_limit: 1 });
    const id = await server.newSkill(slow);
    expect((await ask('POST', `/v1/skills/${id}/versions`, skillForm(), slow))[0]).toBe(429);
  });
});

const newVersion = async (id: string): Promise<string> =>
  String((await ask('POST', `/v1/skills/${id}/versions`, skillForm()))[1]['id']);

describe('skillVersions.list', () => {
  it('200: the page of the provider, with the id of the gateway', async () => {
    const id = await server.newSkill();
    expect(await ask('GET', `/v1/skills/${id}/versions?limit=3&page=p&custom_llm_provider=anthropic`)).toEqual([
      200,
      { data: [shownVersion(id)], has_more: false, next_page: null },
    ]);
    expect(lastCall()?.search).toBe('?limit=3&page=p');
  });
});

describe('skillVersions.get', () => {
  it('200: the version', async () => {
    const id = await server.newSkill();
    const version = await newVersion(id);
    expect(await ask('GET', `/v1/skills/${id}/versions/${version}`)).toEqual([200, shownVersion(id, { id: version })]);
  });

  it('404: a version of another skill, and a path in place of an id', async () => {
    const [id, other] = [await server.newSkill(), await server.newSkill()];
    const version = await newVersion(other);
    const [status, { error }] = await ask('GET', `/v1/skills/${id}/versions/${version}`);
    expect([status, error]).toEqual([
      404,
      { type: 'not_found_error', message: expect.stringContaining('Skill version not found') as string },
    ]);
    const before = server.upstream.received.length;
    for (const part of ['..%2F..%2Fmodels', 'a%20b', 'a%00b'])
      expect([part, (await ask('GET', `/v1/skills/${id}/versions/${part}`))[0]]).toEqual([part, 404]);
    expect(server.upstream.received.length).toBe(before);
  });
});

describe('skillVersions.delete', () => {
  it('200: removes the version, and the skill names the one before', async () => {
    const id = await server.newSkill();
    const [, { latest_version_id: first }] = await ask('GET', `/v1/skills/${id}`);
    const version = await newVersion(id);
    expect(await ask('DELETE', `/v1/skills/${id}/versions/${version}`)).toEqual([
      200,
      { id: version, type: 'skill_version_deleted' },
    ]);
    const [, { data }] = await ask('GET', '/v1/skills?limit=1');
    expect(data).toEqual([shown({ id, latest_version_id: first })]);
  });
});

describe('skillVersions.content', () => {
  it('200: the bytes of the provider, which are not unpacked', async () => {
    const id = await server.newSkill();
    const version = await newVersion(id);
    const answer = await fetch(`${server.app.url}/v1/skills/${id}/versions/${version}/content`, {
      headers: { authorization: `Bearer ${server.owner}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(ARCHIVE);
  });
});
