import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type Json,
  noSkill,
  OTHER_ACCOUNT,
  refused,
  skillForm,
  type SkillServer,
  startSkillServer,
} from './skill-server.ts';

let server: SkillServer;
beforeAll(async () => {
  server = await startSkillServer();
});
afterAll(() => server.stop());

const PUBLISHED = { type: 'anthropic', skill_id: 'pdf', version: 'latest' };
const custom = (id: string): Json => ({ type: 'custom', skill_id: id, version: 'latest' });

/** Asks for a message with skills. */
const ask = (skills: unknown, { model = 'claude', key }: { readonly model?: string; readonly key?: string } = {}) =>
  server.ask(
    'POST',
    '/v1/messages',
    { model, max_tokens: 9, messages: [{ role: 'user', content: 'Add.' }], container: { id: null, skills } },
    key,
  );
/** The account and the skills of the last call of the upstream. */
function lastSent(): unknown {
  const sent = server.upstream.received.at(-1);
  const { container } = JSON.parse(sent?.body ?? '{}') as { readonly container?: Json };
  return [sent?.headers['x-api-key'], container];
}
describe('messages.create', () => {
  it('200: names the skills of the caller by the ids of the provider, at their account', async () => {
    const id = await server.newSkill();
    const upstreamId = server.upstream.ids(ACCOUNT).at(-1) ?? '';
    for (const model of ['claude', 'both', 'both', 'both']) {
      expect((await ask([custom(id), PUBLISHED, custom(id)], { model }))[0]).toBe(200);
      expect(lastSent()).toEqual([ACCOUNT, { id: null, skills: [custom(upstreamId), PUBLISHED, custom(upstreamId)] }]);
    }
  });

  it('200: accepts the id that an answer names, from its owner only', async () => {
    const id = await server.newSkill();
    const [, { container }] = await ask([custom(id)]);
    const [{ skill_id: named }] = (container as { readonly skills: readonly [{ readonly skill_id: string }] }).skills;
    expect((await ask([custom(named)]))[0]).toBe(200);
    expect(await ask([custom(named)], { key: server.stranger })).toEqual(noSkill(named));
    await server.ask('DELETE', `/v1/skills/${id}`);
    expect(await ask([custom(named)])).toEqual(noSkill(named));
  });

  it('200: accepts the id of the provider for another model of its account', async () => {
    await server.newSkill();
    const upstreamId = server.upstream.ids(ACCOUNT).at(-1) ?? '';
    for (const model of ['both', 'wild/claude-x', 'claude']) {
      expect((await ask([custom(upstreamId)], { model }))[0]).toBe(200);
      expect(lastSent()).toEqual([ACCOUNT, { id: null, skills: [custom(upstreamId)] }]);
      expect(await ask([custom(upstreamId)], { model, key: server.stranger })).toEqual(noSkill(upstreamId));
    }
    expect(await ask([custom(upstreamId)], { model: 'elsewhere' })).toEqual(noSkill(upstreamId));
  });

  it('200: accepts the id of the provider for a model of a wildcard', async () => {
    const [, { id }] = await server.ask('POST', '/v1/skills', skillForm({ model: 'wild/claude-x' }));
    const upstreamId = server.upstream.ids(ACCOUNT).at(-1) ?? '';
    expect(id).not.toBe(upstreamId);
    for (const named of [String(id), upstreamId])
      expect((await ask([custom(named)], { model: 'wild/claude-x' }))[0]).toBe(200);
    expect(lastSent()).toEqual([ACCOUNT, { id: null, skills: [custom(upstreamId)] }]);
  });

  it('200: sends other containers and skills unchanged', async () => {
    for (const container of ['container_1', { id: 'container_1' }, { skills: [PUBLISHED] }, { skills: 'x' }, null]) {
      const body = { model: 'claude', max_tokens: 9, messages: [{ role: 'user', content: 'a' }], container };
      await server.ask('POST', '/v1/messages', body);
      expect(lastSent()).toEqual([ACCOUNT, container]);
    }
  });

  it('200: proxy administrators may name skills that the gateway does not know', async () => {
    expect(await ask([custom('skill_unknown')], { key: server.app.adminKey })).toEqual(
      refused(404, 'not_found_error', expect.stringContaining('Skill not found: skill_unknown')),
    );
    expect(lastSent()).toEqual([ACCOUNT, { id: null, skills: [custom('skill_unknown')] }]);
  });

  it('400: a model at another account, skills of two accounts, too many skills', async () => {
    const id = await server.newSkill();
    const other = await server.newSkill(undefined, { model: 'elsewhere' });
    const before = server.upstream.received.length;
    for (const model of ['elsewhere', 'tiny'])
      expect(await ask([custom(id)], { model })).toEqual(
        refused(
          400,
          'invalid_request_error',
          `The object that this request refers to is stored at another provider than that of the model "${model}".`,
        ),
      );
    expect(await ask([custom(id), custom(other)], { model: 'both' })).toEqual(
      refused(400, 'invalid_request_error', 'container must name skills of one account of the provider.'),
    );
    expect(await ask(Array.from({ length: 33 }, (_, index) => custom(`skill_${index}`)))).toEqual(
      refused(400, 'invalid_request_error', 'container must name at most 32 skills.'),
    );
    expect(server.upstream.received.length).toBe(before);
    expect((await ask([custom(other)], { model: 'both' }))[0]).toBe(200);
    expect(lastSent()).toEqual([OTHER_ACCOUNT, expect.anything()]);
  });

  it('404: a skill of another key, of an unknown id, and of an id of another kind', async () => {
    const id = await server.newSkill(server.stranger);
    const upstreamId = server.upstream.ids(ACCOUNT).at(-1) ?? '';
    const before = server.upstream.received.length;
    for (const named of [id, upstreamId, 'skill_x', 'file-x'])
      expect(await ask([{ skill_id: named }, custom(named)])).toEqual(noSkill(named));
    expect(server.upstream.received.length).toBe(before);
  });
});
