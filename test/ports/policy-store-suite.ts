import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import type { AttachmentStore, StoredAttachment } from '../../src/domain/policies/attachment.ts';
import type { PolicyStore, StoredPolicy } from '../../src/domain/policies/policy.ts';
import type { PromptStore, StoredPrompt } from '../../src/domain/prompts/prompt.ts';
import { createPolicies } from '../../src/runtime/policies/policies.ts';
import { createPrompts } from '../../src/runtime/prompts/prompts.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');
const BY = { now: NOW, by: 'admin' };
const STAMPS = { createdAt: NOW, createdBy: 'admin', updatedAt: NOW, updatedBy: 'admin' };

const aPolicy = (overrides: Partial<StoredPolicy> = {}): StoredPolicy => ({
  id: 'one',
  name: 'p',
  version: 1,
  status: 'production',
  parentId: null,
  publishedAt: null,
  productionAt: NOW,
  description: 'd',
  inherit: null,
  guardrailsAdd: ['g'],
  guardrailsRemove: [],
  condition: { model: ['m'] },
  pipeline: null,
  ...STAMPS,
  ...overrides,
});
const anAttachment: StoredAttachment = {
  id: 'a',
  policyName: 'p',
  scope: null,
  teams: ['t'],
  keys: [],
  models: [],
  tags: ['x*'],
  priority: 3,
  isDefault: true,
  ...STAMPS,
};
const aPrompt: StoredPrompt = {
  id: 'pr.v1',
  promptId: 'pr',
  version: 1,
  params: { z: 1, a: null },
  info: { prompt_type: 'db' },
  environment: 'development',
  ...STAMPS,
};

/** Contract of the stores of policies, attachments and prompts, and of several processes that use one store. */
export function policyStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`PolicyStore and PromptStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let policies: PolicyStore;
    let attachments: AttachmentStore;
    let prompts: PromptStore;
    beforeAll(async () => {
      scratch = await engine.create();
      const stores = await scratch.open();
      policies = stores.policies;
      attachments = stores.policyAttachments;
      prompts = stores.prompts;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    /** Policies as another process has them. */
    const aProcess = () => createPolicies({ configured: { policies: [], attachments: [] }, policies, attachments });

    it('returns added rows unchanged, and refuses a second version 1 of a policy', async () => {
      const pipeline = {
        mode: 'pre_call' as const,
        steps: [
          {
            guardrail: 'g',
            on_pass: 'next' as const,
            on_fail: 'block' as const,
            on_error: null,
            pass_data: true,
            modify_response_message: null,
          },
        ],
      };
      const draft = aPolicy({ id: 'two', version: 2, status: 'draft', parentId: 'one', createdAt: LATER, pipeline });
      await policies.add(aPolicy());
      await policies.add(draft);
      expect(await policies.all(null)).toEqual([aPolicy(), draft]);
      await expect(policies.add(aPolicy({ id: 'three' }))).rejects.toThrow(
        new Conflict("Policy with name 'p' already exists"),
      );
      await attachments.add(anAttachment);
      expect(await attachments.all(null)).toEqual([anAttachment]);
      await prompts.add(aPrompt);
      expect(await prompts.all(null)).toEqual([aPrompt]);
      expect(JSON.stringify((await prompts.all(null))[0]?.params)).toBe('{"z":1,"a":null}');
    });

    it('a version that comes in force replaces the former version, also in another process', async () => {
      const one = aProcess();
      const other = aProcess();
      const rules = { description: null, inherit: null, guardrailsRemove: [], condition: null, pipeline: null };
      const first = await one.add({ ...rules, id: '1', name: 'p', guardrailsAdd: ['a'] }, BY);
      await one.addVersion(first, '2', { ...BY, now: LATER });
      await one.change('2', { guardrailsAdd: ['b'] }, BY);
      await one.setStatus('2', 'published', BY);
      await one.setStatus('2', 'production', { ...BY, now: LATER });
      await other.refresh();
      expect(other.book().resolved('p')?.guardrails).toEqual(['b']);
      expect(other.list().map(({ status }) => status)).toEqual(['published', 'production']);
    });

    it('refuses cycles, and one of two concurrent requests for a policy', async () => {
      const registry = aProcess();
      const rules = { description: null, guardrailsAdd: [], guardrailsRemove: [], condition: null, pipeline: null };
      await registry.add({ ...rules, id: '1', name: 'a', inherit: null }, BY);
      const b = await registry.add({ ...rules, id: '2', name: 'b', inherit: 'a' }, BY);
      const a = registry.list().find(({ name }) => name === 'a') ?? b;
      await registry.addVersion(a, '3', BY);
      await expect(registry.change('3', { inherit: 'b' }, BY)).rejects.toThrow(InvalidInput);
      const twice = ['4', '5'].map((id) => aProcess().add({ ...rules, id, name: 'same', inherit: null }, BY));
      const results = await Promise.allSettled(twice);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    });

    it('gives concurrently stored versions of a prompt different numbers', async () => {
      const params = { prompt_integration: 'dotprompt', dotprompt_content: 'hi' };
      const processes = [1, 2, 3].map(() => createPrompts({ configured: [], store: prompts }));
      const stored = await Promise.all(
        processes.map((registry) => registry.add({ promptId: 'pr', params, info: null }, BY)),
      );
      expect(new Set(stored.map(({ version }) => version))).toEqual(new Set([1, 2, 3]));
    });
  });
}
