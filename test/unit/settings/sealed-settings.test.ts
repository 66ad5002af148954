import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { newStamps } from '../../../src/domain/row-store.ts';
import type { Content, SettingsStore } from '../../../src/domain/settings/stored-section.ts';
import { createSealedSettings } from '../../../src/runtime/stored-settings/sealed-settings.ts';

const about = { now: new Date(0), by: 'admin' };

/** A store in memory, and what it holds. */
function memory() {
  const held = new Map<string, Content>();
  const rowOf = (id: string) => ({ id, content: held.get(id) ?? {}, ...newStamps(about) });
  const store: SettingsStore = {
    find: async (id) => (held.has(id) ? rowOf(id) : null),
    all: async () => [...held.keys()].map(rowOf),
    async change(id, change) {
      held.set(id, change(held.get(id) ?? {}));
      return rowOf(id);
    },
  };
  return { store, text: () => JSON.stringify([...held]) };
}

it('encrypts every variable, and secrets of other sections at any depth', async () => {
  const { store, text } = memory();
  const sealed = createSealedSettings(store, new Secret('sk-admin'));
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

it('reads a secret of another admin key, or of another place, as not set', async () => {
  const { store } = memory();
  const sealed = createSealedSettings(store, new Secret('sk-admin'));
  await sealed.change('environment_variables', () => ({ A: 'a' }), about);
  const other = createSealedSettings(store, new Secret('sk-other'));
  expect((await other.find('environment_variables'))?.content).toEqual({ A: null });
  await store.change('environment_variables', ({ A }) => ({ B: A }), about);
  expect((await sealed.find('environment_variables'))?.content).toEqual({ B: null });
});
