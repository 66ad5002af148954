import type { GeneratedKey } from '../resolvers/operation/key-issue.ts';
import { findKey, generateKey } from '../resolvers/keys.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import { usdFrom } from '../src/domain/money.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { KeyBudgetWindowType, KeySettingsInput, KeyTypeType, settingsOf } from './base/key-settings.ts';
import { nodesOf } from './base/node-loading.ts';
import { plainUsd, usdOrNull } from './base/decimal.ts';
import { readObject } from './base/json-inputs.ts';
import { PERMISSION_OUTPUT } from './base/object-permission.ts';
import { VirtualKeyType } from './base/refs.ts';
import { redactedMetadata } from '../src/domain/settings/redaction.ts';

export const RoleType = builder.enumType('Role', {
  description: 'Rights of a key.',
  values: {
    PROXY_ADMIN: { value: 'proxy_admin', description: 'Reads and changes everything.' },
    PROXY_ADMIN_VIEWER: { value: 'proxy_admin_viewer', description: 'Reads everything, changes nothing.' },
    INTERNAL_USER: {
      value: 'internal_user',
      description: 'Calls models, reads its own data and creates keys of its user.',
    },
    INTERNAL_USER_VIEWER: { value: 'internal_user_viewer', description: 'Reads its own data.' },
  } as const,
});

builder.node(VirtualKeyType, {
  description: 'An API key of this gateway. Its secret is not stored.',
  id: { resolve: ({ hash }) => hash },
  loadMany: nodesOf((hash, { scope }) => findKey(scope, hash)),
  fields: (t) => ({
    hash: t.exposeID('hash', {
      description: 'Identity of the key: SHA-256 of its first secret in hex. A rotation does not change it.',
    }),
    name: t.exposeString('name', { description: 'Masked secret: `sk-...` and at most its last four characters.' }),
    alias: t.exposeString('alias', { nullable: true, description: 'Unique display name. Null when none is set.' }),
    role: t.expose('role', { type: RoleType, description: 'Rights of the key.' }),
    teamId: t.exposeID('teamId', { nullable: true, description: 'Team of the key. Null when it has none.' }),
    userId: t.exposeID('userId', { nullable: true, description: 'User of the key. Null when it has none.' }),
    models: t.stringList({
      description: 'Public model names that the key may call. An empty list allows all.',
      resolve: ({ models }) => models,
    }),
    maxBudgetUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Spend limit in USD. `0` allows free models only; null is unlimited.',
      resolve: ({ maxBudget }) => usdOrNull(maxBudget),
    }),
    budgetDuration: t.exposeString('budgetDuration', {
      nullable: true,
      description: 'Budget period, e.g. `1d`. Null when the spend is never reset.',
    }),
    budgetResetAt: t.expose('budgetResetAt', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the current budget period. Null without a budget duration.',
    }),
    budgetLimits: t.field({
      type: [KeyBudgetWindowType],
      description: 'Budgets of further periods.',
      resolve: ({ settings }) => [...(settings.budgetLimits ?? [])],
    }),
    softBudgetUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Budget in USD that sends an alert and refuses no call. Null when none is set.',
      resolve: ({ settings: { softBudget } }) => (softBudget === undefined ? null : plainUsd(softBudget)),
    }),
    keyType: t.field({
      type: KeyTypeType,
      description: 'Purpose of the key.',
      resolve: ({ settings }) => settings.keyType ?? 'default',
    }),
    allowedRoutes: t.stringList({
      description: 'Paths, route groups and prefixes that the key may call; empty for all.',
      resolve: ({ settings }) => settings.allowedRoutes ?? [],
    }),
    aliases: t.field({
      type: 'JSON',
      description: 'Public model names by the alias that the key uses.',
      resolve: ({ settings }) => settings.aliases ?? {},
    }),
    permissions: t.field({
      type: 'JSON',
      description:
        'Further rights: with `get_spend_routes`, reports of spend contain the calls of all keys. Other members have no effect.',
      resolve: ({ settings }) => settings.permissions ?? {},
    }),
    rpmLimit: t.float({
      nullable: true,
      description: 'Requests per minute, a whole number; null is unlimited. Limits per model are in the metadata.',
      resolve: ({ settings }) => settings.rpmLimit ?? null,
    }),
    tpmLimit: t.float({
      nullable: true,
      description: 'Tokens per minute, a whole number; null is unlimited.',
      resolve: ({ settings }) => settings.tpmLimit ?? null,
    }),
    maxParallelRequests: t.float({
      nullable: true,
      description: 'Concurrent calls, a whole number; null is unlimited.',
      resolve: ({ settings }) => settings.maxParallelRequests ?? null,
    }),
    metadata: t.field({
      type: 'JSON',
      description:
        'Client data: an object. The gateway reads some members, e.g. `tags` and `model_rpm_limit`. Secrets are redacted.',
      resolve: ({ metadata }) => redactedMetadata(metadata),
    }),
    objectPermission: t.field({
      type: 'JSON',
      nullable: true,
      description: PERMISSION_OUTPUT,
      resolve: ({ settings }) => settings.objectPermission ?? null,
    }),
    blocked: t.exposeBoolean('blocked', { description: 'Whether the key is refused.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key expires. Null when it does not expire.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the key was last changed.' }),
    rotatedAt: t.expose('rotatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the secret was last replaced. Null when it was never replaced.',
    }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was deleted. Null for an existing key.',
    }),
  }),
});

const GenerateKeyInput = builder.inputType('GenerateKeyInput', {
  description: 'Settings of a new key.',
  fields: (t) => ({
    key: t.string({
      description:
        'Secret to use: `sk-` and at least 17 further characters, 8 of them distinct. Generated when absent.',
    }),
    alias: t.string({ description: 'Unique display name.' }),
    role: t.field({ type: RoleType, description: 'Rights of the key; `INTERNAL_USER` when absent.' }),
    teamId: t.id({ description: 'Team of the key: global id or local id.' }),
    userId: t.id({ description: 'User of the key: global id or local id.' }),
    models: t.stringList({ description: 'Public model names that the key may call; all when empty or absent.' }),
    maxBudgetUsd: t.field({ type: 'Decimal', description: 'Spend limit in USD; unlimited when absent.' }),
    duration: t.string({ description: 'Lifetime: `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`; unlimited when absent.' }),
    metadata: t.field({ type: 'JSON', description: 'Client data: an object.' }),
    settings: t.field({ type: KeySettingsInput, description: 'Rights, limits and budgets.' }),
  }),
});

function readDraft(input: typeof GenerateKeyInput.$inferInput): KeyDraft {
  return {
    key: input.key ?? null,
    alias: input.alias ?? null,
    role: input.role ?? null,
    teamId: localId('Team', input.teamId ?? null),
    userId: localId('User', input.userId ?? null),
    models: input.models ?? [],
    maxBudget: typeof input.maxBudgetUsd === 'string' ? usdFrom(input.maxBudgetUsd) : null,
    duration: input.duration ?? null,
    metadata: readObject(input.metadata, 'metadata'),
    ...settingsOf(input.settings),
  };
}

export const GeneratedKeyType = builder.objectRef<GeneratedKey>('GeneratedKey').implement({
  description: 'A key with its new secret. The secret is returned once.',
  fields: (t) => ({
    key: t.exposeString('clearKey', { description: 'The secret. It cannot be read again.' }),
    virtualKey: t.field({ type: VirtualKeyType, description: 'The key.', resolve: ({ row }) => row }),
  }),
});

builder.mutationField('generateKey', (t) =>
  t.field({
    type: GeneratedKeyType,
    description:
      'Creates a virtual key. For proxy administrators. Users create their own keys. They also create keys of teams that they administer, and of teams whose members may create keys.',
    args: { input: t.arg({ type: GenerateKeyInput, required: true, description: 'Settings of the key.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'GenerateKeyResult', description: 'The key, or why it was not created.' },
    },
    resolve: (_root, { input }, { scope }) => generateKey(scope, readDraft(input)),
  }),
);
