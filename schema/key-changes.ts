import { blockKey, deleteKeys, type NamedKey, regenerateKey, unblockKey, updateKey } from '../resolvers/keys.ts';
import { resetKeySpend } from '../resolvers/key-upkeep.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { KeyPatch } from '../src/domain/keys/key-change.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { usdFrom } from '../src/domain/money.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { reloadOwnersAfter } from './base/owner-changes.ts';
import { GeneratedKeyType, RoleType } from './keys.ts';
import { KeySettingsInput, settingsOf } from './base/key-settings.ts';
import { readObject } from './base/json-inputs.ts';
import { VirtualKeyType } from './base/refs.ts';

const KEY_ID = 'The key: global id, hash or secret.';

const UpdateKeyInput = builder.inputType('UpdateKeyInput', {
  description: 'Changes to a key. Absent fields stay as they are; null clears a field.',
  fields: (t) => ({
    key: t.id({ required: true, description: KEY_ID }),
    alias: t.string({ description: 'Unique display name.' }),
    role: t.field({ type: RoleType, description: 'Rights of the key; null changes nothing.' }),
    teamId: t.id({
      description: 'New team: global id or local id. Objects that the key has created stay with its former team.',
    }),
    userId: t.id({ description: 'New user: global id or local id.' }),
    models: t.stringList({ description: 'Public model names that the key may call; all when empty or null.' }),
    maxBudgetUsd: t.field({ type: 'Decimal', description: 'Spend limit in USD; null is unlimited.' }),
    duration: t.string({
      description: 'Lifetime from now on: `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`; null or `-1` is unlimited.',
    }),
    metadata: t.field({ type: 'JSON', description: 'Client data: an object that replaces the old one.' }),
    blocked: t.boolean({ description: 'Whether the key is refused; null changes nothing.' }),
    settings: t.field({ type: KeySettingsInput, description: 'Rights, limits and budgets to change.' }),
  }),
});

const BlockKeyInput = builder.inputType('BlockKeyInput', {
  description: 'The key to block.',
  fields: (t) => ({ key: t.id({ required: true, description: KEY_ID }) }),
});

const UnblockKeyInput = builder.inputType('UnblockKeyInput', {
  description: 'The key to unblock.',
  fields: (t) => ({ key: t.id({ required: true, description: KEY_ID }) }),
});

const DeleteKeysInput = builder.inputType('DeleteKeysInput', {
  description: 'Keys to delete, at least one.',
  fields: (t) => ({
    keys: t.idList({ description: 'Keys by global id, hash or secret.' }),
    aliases: t.stringList({ description: 'Keys by alias.' }),
  }),
});

const RegenerateKeyInput = builder.inputType('RegenerateKeyInput', {
  description: 'The key and its new secret.',
  fields: (t) => ({
    key: t.id({ required: true, description: KEY_ID }),
    newKey: t.string({
      description:
        'Secret to use: `sk-` and at least 17 further characters, 8 of them distinct. Generated when absent.',
    }),
    gracePeriod: t.string({
      description:
        'How long the old secret stays valid: `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`. When absent, the old secret becomes invalid at once.',
    }),
  }),
});

const ResetKeySpendInput = builder.inputType('ResetKeySpendInput', {
  description: 'A new spend of a key.',
  fields: (t) => ({
    key: t.id({ required: true, description: KEY_ID }),
    resetToUsd: t.field({
      type: 'Decimal',
      required: true,
      description: 'The new spend in USD: from zero to the current spend of the key.',
    }),
  }),
});

/** The changes of an input. An absent field is undefined and changes nothing. */
function patchOf(input: typeof UpdateKeyInput.$inferInput): KeyPatch {
  const { alias, role, teamId, userId, models, maxBudgetUsd, duration, metadata, blocked } = input;
  return {
    ...(alias === undefined ? {} : { alias }),
    ...(role === undefined || role === null ? {} : { role }),
    ...(teamId === undefined ? {} : { teamId: localId('Team', teamId) }),
    ...(userId === undefined ? {} : { userId: localId('User', userId) }),
    ...(models === undefined ? {} : { models: models ?? [] }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudget: maxBudgetUsd === null ? null : usdFrom(maxBudgetUsd) }),
    ...(duration === undefined ? {} : { duration }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, 'metadata') }),
    ...(blocked === undefined || blocked === null ? {} : { blocked }),
    ...settingsOf(input.settings),
  };
}

const DeletedKeysType = builder.objectRef<readonly VirtualKey[]>('DeletedKeys').implement({
  description: 'Deleted keys. Their spend and the objects that they created stay.',
  fields: (t) => ({
    virtualKeys: t.field({
      type: [VirtualKeyType],
      description: 'The deleted keys. Keys that did not exist are left out.',
      resolve: (keys) => keys,
    }),
  }),
});

const TIME_OF_EFFECT = 'Takes effect immediately in this process, within 5 seconds in others.';
const MANAGERS =
  'For proxy administrators, and for administrators of the team of the key or of its organization. Also for the user of the key, where the team permits it.';

builder.mutationFields((t) => ({
  updateKey: t.field({
    type: VirtualKeyType,
    description: `Changes the settings of a virtual key. ${TIME_OF_EFFECT} ${MANAGERS}`,
    args: { input: t.arg({ type: UpdateKeyInput, required: true, description: 'The key and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateKeyResult', description: 'The changed key, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) =>
      (await updateKey(scope, { ...namedKey(input), patch: patchOf(input) })).row,
  }),
  blockKey: t.field({
    type: VirtualKeyType,
    description: `Blocks a virtual key. ${TIME_OF_EFFECT} ${MANAGERS}`,
    args: { input: t.arg({ type: BlockKeyInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'BlockKeyResult', description: 'The changed key, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => (await blockKey(scope, namedKey(input))).row,
  }),
  unblockKey: t.field({
    type: VirtualKeyType,
    description: `Unblocks a virtual key. ${TIME_OF_EFFECT} ${MANAGERS}`,
    args: { input: t.arg({ type: UnblockKeyInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UnblockKeyResult', description: 'The changed key, or why it was not changed.' },
    },
    resolve: async (_root, { input }, { scope }) => (await unblockKey(scope, namedKey(input))).row,
  }),
  deleteKeys: t.field({
    type: DeletedKeysType,
    description: `Deletes virtual keys permanently. ${TIME_OF_EFFECT} For proxy administrators, for administrators of the team of a key or of its organization, and for the user of a key.`,
    args: { input: t.arg({ type: DeleteKeysInput, required: true, description: 'The keys.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteKeysResult', description: 'The deleted keys, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => [
      ...(await deleteKeys(scope, { keys: (input.keys ?? []).map(keyId), aliases: input.aliases ?? [] })),
    ],
  }),
  resetKeySpend: t.field({
    type: VirtualKeyType,
    description:
      'Sets the spend of a key to an amount from zero to its current spend. The budget of the key then counts from this amount. For proxy administrators.',
    args: { input: t.arg({ type: ResetKeySpendInput, required: true, description: 'The key and its new spend.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'ResetKeySpendResult', description: 'The key, or why its spend was not set.' },
    },
    resolve: async (_root, { input }, { scope }) => {
      const resetTo = usdFrom(input.resetToUsd);
      if (resetTo === null) throw new InvalidInput('resetToUsd is out of range.', [], { field: 'resetToUsd' });
      return (await reloadOwnersAfter(scope, resetKeySpend(scope, { ...namedKey(input), resetTo }))).row;
    },
  }),
  regenerateKey: t.field({
    type: GeneratedKeyType,
    description: `Replaces the secret of a virtual key. The hash, spend and objects of the key stay. ${TIME_OF_EFFECT} ${MANAGERS} Also for the user of a key without a team.`,
    args: { input: t.arg({ type: RegenerateKeyInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: {
        name: 'RegenerateKeyResult',
        description: 'The key with its new secret, or why the secret was not replaced.',
      },
    },
    resolve: (_root, { input }, { scope }) =>
      regenerateKey(scope, {
        ...namedKey(input),
        newKey: input.newKey ?? null,
        gracePeriod: input.gracePeriod ?? null,
        patch: {},
      }),
  }),
}));

const keyId = (key: string): string => localId('VirtualKey', key);
const namedKey = ({ key }: { readonly key: string }): NamedKey => ({ key: keyId(key) });
