import Anthropic, { NotFoundError, toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ARCHIVE, type SkillUpstream, startSkillUpstream } from '../support/skill-upstream.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: SkillUpstream;
let client: Anthropic;
let stranger: Anthropic;

async function newClient(): Promise<Anthropic> {
  const made = await app.call('POST', '/key/generate', {});
  const { key } = (await made.json()) as { readonly key: string };
  return new Anthropic({ apiKey: key, baseURL: app.url, maxRetries: 0 });
}

beforeAll(async () => {
  upstream = await startSkillUpstream();
  const params = { model: 'anthropic/claude-x', api_base: upstream.url, api_key: 'sk-skill-account' };
  app = await startApp({ config: { model_list: [{ model_name: 'claude', litellm_params: params }] } });
  client = await newClient();
  stranger = await newClient();
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const files = async () => [await toFile(Buffer.from('---\nname: sums\n---\nAdd.\n'), 'sums/SKILL.md')];

describe('skills of the official SDK', () => {
  it('are created, read, listed, used in a message, changed, downloaded and deleted', async () => {
    const { skills } = client.beta;
    const skill = await skills.create({ files: await files(), display_name: 'Sums' });
    expect(skill).toMatchObject({ type: 'skill', display_name: 'Sums', source: { type: 'custom' } });
    expect(upstream.ids('sk-skill-account')).not.toContain(skill.id);
    expect(await skills.retrieve(skill.id)).toMatchObject({ id: skill.id, display_name: 'Sums' });
    const second = await skills.create({ files: await files() });
    const listed = await Array.fromAsync(skills.list({ limit: 1 }));
    expect(listed.map(({ id }) => id)).toEqual([second.id, skill.id]);
    const published = await Array.fromAsync(skills.list({ source: 'anthropic' }));
    expect(published.map(({ id }) => id)).toEqual(['pdf']);
    const answer = await client.beta.messages.create({
      model: 'claude',
      max_tokens: 100,
      betas: ['code-execution-2025-05-22', 'skills-2025-10-02'],
      container: { skills: [{ type: 'custom', skill_id: skill.id, version: 'latest' }] },
      tools: [{ type: 'code_execution_20250522', name: 'code_execution' }],
      messages: [{ role: 'user', content: 'Add 1 and 2.' }],
    });
    expect(answer.content).toEqual([{ type: 'text', text: 'done' }]);
    const version = await skills.versions.create(skill.id, { files: await files() });
    expect(version).toMatchObject({ type: 'skill_version', skill_id: skill.id });
    const named = await Array.fromAsync(skills.list());
    expect(named.find(({ id }) => id === skill.id)?.latest_version_id).toBe(version.id);
    const versions = await Array.fromAsync(skills.versions.list(skill.id));
    expect(versions.map(({ skill_id: of }) => of)).toEqual([skill.id, skill.id]);
    const at = { skill_id: skill.id };
    expect(await skills.versions.retrieve(version.id, at)).toEqual(version);
    const content = await skills.versions.download(version.id, at);
    expect(Buffer.from(await content.arrayBuffer())).toEqual(ARCHIVE);
    expect(await skills.versions.delete(version.id, at)).toEqual({ id: version.id, type: 'skill_version_deleted' });
    expect(await skills.delete(skill.id)).toEqual({ id: skill.id, type: 'skill_deleted' });
    await expect(skills.retrieve(skill.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it('are those of the caller only', async () => {
    const { id } = await client.beta.skills.create({ files: await files() });
    expect(await Array.fromAsync(stranger.beta.skills.list())).toEqual([]);
    await expect(stranger.beta.skills.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
    const call = stranger.beta.messages.create({
      model: 'claude',
      max_tokens: 100,
      container: { skills: [{ type: 'custom', skill_id: id }] },
      messages: [{ role: 'user', content: 'Add.' }],
    });
    await expect(call).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error', message: `Skill with id '${id}' not found.` } },
    });
  });
});
