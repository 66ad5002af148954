import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { newStamps } from '../../../src/domain/row-store.ts';
import type { SectionContent, SettingsStore } from '../../../src/domain/settings/stored-section.ts';
import { createSealedSettings, renewedSection } from '../../../src/runtime/stored-settings/sealed-settings.ts';

const about = { now: new Date(0), by: 'admin' };

/** A store in memory, and its content. */
function memoryStore() {
  const contents = new Map<string, SectionContent>();
  const rowOf = (id: string) => ({ id, content: contents.get(id) ?? {}, ...newStamps(about) });
  const store: SettingsStore = {
    find: async (id) => (contents.has(id) ? rowOf(id) : null),
    all: async () => [...contents.keys()].map(rowOf),
    async change(id, change) {
      contents.set(id, change(contents.get(id) ?? {}));
      return rowOf(id);
    },
  };
  return { store, text: () => JSON.stringify([...contents]) };
}

const adminKeys = (current: string, ...former: readonly string[]) => ({
  current: new Secret(current),
  former: former.map((key) => new Secret(key)),
});

it('the sealed store encrypts every variable, and secrets of other sections at any depth', async () => {
  const { store, text } = memoryStore();
  const sealed = createSealedSettings(store, adminKeys('sk-admin'));
  const variables = { LANGFUSE_HOST: 'plain-host', EMPTY: '' };
  const general = {
    alerting: ['slack'],
    database_url: 'plain-url',
    deep: [{ api_key: 'plain-key', name: 'kept' }],
    alert_to_webhook_url: { budget_alerts: 'plain-hook', others: ['plain-hook'] },
  };
  await sealed.change('environment_variables', () => variables, about);
  await sealed.change('general_settings', () => general, about);
  expect(text()).not.toMatch(/plain-/);
  expect(text()).toContain('slack');
  expect((await sealed.all()).map(({ content }) => content)).toEqual([variables, general]);
  await sealed.change('general_settings', (before) => ({ ...before, alerting: [] }), about);
  expect((await sealed.find('general_settings'))?.content).toEqual({ ...general, alerting: [] });
});

it('the sealed store reads a secret of another admin key, or of another setting, as absent', async () => {
  const { store } = memoryStore();
  const sealed = createSealedSettings(store, adminKeys('sk-admin'));
  await sealed.change('environment_variables', () => ({ A: 'a' }), about);
  const withOtherKey = createSealedSettings(store, adminKeys('sk-other'));
  expect((await withOtherKey.find('environment_variables'))?.content).toEqual({ A: null });
  await store.change('environment_variables', ({ A }) => ({ B: A }), about);
  expect((await sealed.find('environment_variables'))?.content).toEqual({ B: null });
});

it('the sealed store re-encrypts secrets of a former admin key, but not secrets of unknown keys', async () => {
  const { store } = memoryStore();
  await createSealedSettings(store, adminKeys('sk-first')).change('environment_variables', () => ({ A: 'a' }), about);
  const withFormer = createSealedSettings(store, adminKeys('sk-second', 'sk-first'));
  const [before] = await store.all();
  if (before === undefined) throw new Error('Nothing is stored.');
  expect(renewedSection(before, adminKeys('sk-second', 'sk-third'))).toBeNull();
  const renewed = renewedSection(before, adminKeys('sk-second', 'sk-third', 'sk-first'));
  await store.change('environment_variables', () => ({ ...renewed, B: before.content['A'] }), about);
  // B is stored under another name, where no key decrypts it.
  expect((await withFormer.find('environment_variables'))?.content).toEqual({ A: 'a', B: null });
  expect((await createSealedSettings(store, adminKeys('sk-second')).find('environment_variables'))?.content).toEqual({
    A: 'a',
    B: null,
  });
  const [after] = await store.all();
  expect(after === undefined ? 'none' : renewedSection(after, adminKeys('sk-second', 'sk-first'))).toBeNull();
});
