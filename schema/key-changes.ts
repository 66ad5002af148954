import { blockKey, deleteKeys, type NamedKey, regenerateKey, unblockKey, updateKey } from '../resolvers/keys.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { KeyPatch } from '../src/domain/keys/key-change.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { usdFrom } from '../src/domain/money.ts';
import { builder } from './builder.ts';
import { GeneratedKeyType, readMetadata, RoleType } from './keys.ts';
import { VirtualKeyType } from './refs.ts';

const NAMED = 'The key, by itself or by its hash.';

const UpdateKeyInput = builder.inputType('UpdateKeyInput', {
  description: 'Changes to a key. What is absent stays as it is; null clears it.',
  fields: (t) => ({
    key: t.id({ required: true, description: NAMED }),
    alias: t.string({ description: 'What people call it; unique.' }),
    role: t.field({ type: RoleType, description: 'What it may act as; null changes nothing.' }),
    teamId: t.id({
      description: 'The team it belongs to from now on. What it created before stays with its former owner.',
    }),
    userId: t.id({ description: 'The user it belongs to.' }),
    models: t.stringList({ description: 'Models it may call; all when empty or null.' }),
    maxBudgetUsd: t.field({ type: 'Decimal', description: 'What it may spend; null is unlimited.' }),
    duration: t.string({
      description: 'How long it holds from now on: `30s`, `30m`, `30h` or `30d`; null or `-1` for ever.',
    }),
    metadata: t.field({ type: 'JSON', description: 'An object of your own notes, in place of the old one.' }),
    blocked: t.boolean({ description: 'Whether it is refused; null changes nothing.' }),
  }),
});

const BlockKeyInput = builder.inputType('BlockKeyInput', {
  description: 'Which key to block.',
  fields: (t) => ({ key: t.id({ required: true, description: NAMED }) }),
});

const UnblockKeyInput = builder.inputType('UnblockKeyInput', {
  description: 'Which key to unblock.',
  fields: (t) => ({ key: t.id({ required: true, description: NAMED }) }),
});

const DeleteKeysInput = builder.inputType('DeleteKeysInput', {
  description: 'Which keys to delete; at least one.',
  fields: (t) => ({
    keys: t.idList({ description: 'By themselves or by their hashes.' }),
    aliases: t.stringList({ description: 'By their aliases.' }),
  }),
});

const RegenerateKeyInput = builder.inputType('RegenerateKeyInput', {
  description: 'Which key gets a new secret.',
  fields: (t) => ({
    key: t.id({ required: true, description: NAMED }),
    newKey: t.string({
      description:
        'Your own value for it: `sk-`, 20 characters or more, 8 different ones after `sk-`. A fresh one is made when absent.',
    }),
    gracePeriod: t.string({
      description: 'How long the old secret still works: `30s`, `30m`, `30h` or `30d`; it ends at once when absent.',
    }),
  }),
});

/** Distinguishes an absent field from null. */
function patchOf(input: typeof UpdateKeyInput.$inferInput): KeyPatch {
  const { alias, role, teamId, userId, models, maxBudgetUsd, duration, metadata, blocked } = input;
  return {
    ...(alias === undefined ? {} : { alias }),
    ...(role === undefined || role === null ? {} : { role }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(userId === undefined ? {} : { userId }),
    ...(models === undefined ? {} : { models: models ?? [] }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudget: maxBudgetUsd === null ? null : usdFrom(maxBudgetUsd) }),
    ...(duration === undefined ? {} : { duration }),
    ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
    ...(blocked === undefined || blocked === null ? {} : { blocked }),
  };
}

const DeletedKeysType = builder.objectRef<readonly VirtualKey[]>('DeletedKeys').implement({
  description: 'Keys that are gone for good. Their spend and what they created stay.',
  fields: (t) => ({
    virtualKeys: t.field({
      type: [VirtualKeyType],
      description: 'Those of the named keys that existed.',
      resolve: (keys) => keys,
    }),
  }),
});

const AT_ONCE = 'In force at once in this process, within 5 seconds in others. For proxy administrators.';

builder.mutationFields((t) => ({
  updateKey: t.field({
    type: VirtualKeyType,
    description: `Changes the settings of a virtual key. ${AT_ONCE}`,
    args: { input: t.arg({ type: UpdateKeyInput, required: true, description: 'The key and its changes.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'UpdateKeyResult', description: 'The key as it is now, or why nothing was changed.' },
    },
    resolve: async (_root, { input }, { scope }) =>
      (await updateKey(scope, { key: input.key, patch: patchOf(input) })).row,
  }),
  blockKey: t.field({
    type: VirtualKeyType,
    description: `Refuses a virtual key until it is unblocked. ${AT_ONCE}`,
    args: { input: t.arg({ type: BlockKeyInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'BlockKeyResult', description: 'The key as it is now, or why nothing was changed.' },
    },
    resolve: async (_root, { input }, { scope }) => (await blockKey(scope, named(input))).row,
  }),
  unblockKey: t.field({
    type: VirtualKeyType,
    description: `Accepts a blocked virtual key again. ${AT_ONCE}`,
    args: { input: t.arg({ type: UnblockKeyInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'UnblockKeyResult', description: 'The key as it is now, or why nothing was changed.' },
    },
    resolve: async (_root, { input }, { scope }) => (await unblockKey(scope, named(input))).row,
  }),
  deleteKeys: t.field({
    type: DeletedKeysType,
    description: `Deletes virtual keys for good. ${AT_ONCE}`,
    args: { input: t.arg({ type: DeleteKeysInput, required: true, description: 'The keys.' }) },
    errors: {
      types: [InvalidInput, NotFound],
      union: { name: 'DeleteKeysResult', description: 'The deleted keys, or why none was deleted.' },
    },
    resolve: async (_root, { input }, { scope }) => [
      ...(await deleteKeys(scope, { keys: input.keys ?? [], aliases: input.aliases ?? [] })),
    ],
  }),
  regenerateKey: t.field({
    type: GeneratedKeyType,
    description: `Gives a virtual key a new secret; its hash, spend and everything it owns stay. ${AT_ONCE}`,
    args: { input: t.arg({ type: RegenerateKeyInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, NotFound, Conflict],
      union: { name: 'RegenerateKeyResult', description: 'The key with its new secret, or why it has none.' },
    },
    resolve: (_root, { input }, { scope }) =>
      regenerateKey(scope, {
        key: input.key,
        newKey: input.newKey ?? null,
        gracePeriod: input.gracePeriod ?? null,
        patch: {},
      }),
  }),
}));

const named = ({ key }: { readonly key: string }): NamedKey => ({ key });
