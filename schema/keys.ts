import { generateKey, type GeneratedKey } from '../resolvers/keys.ts';
import { ROLES } from '../src/domain/role.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import { usdFrom, usdText } from '../src/domain/money.ts';
import { builder } from './builder.ts';
import { VirtualKeyType } from './refs.ts';

export const RoleType = builder.enumType('Role', {
  description: 'What a key may act as.',
  values: {
    PROXY_ADMIN: { value: ROLES[0], description: 'Does everything.' },
    PROXY_ADMIN_VIEWER: { value: ROLES[1], description: 'Reads everything, changes nothing.' },
    INTERNAL_USER: { value: ROLES[2], description: 'Calls models and reads its own.' },
    INTERNAL_USER_VIEWER: { value: ROLES[3], description: 'Reads its own.' },
  } as const,
});

VirtualKeyType.implement({
  description: 'A credential we issue. Only its hash is kept.',
  fields: (t) => ({
    hash: t.exposeID('hash', {
      description: 'Its identity everywhere: SHA-256 of its first secret. A rotation does not change it.',
    }),
    name: t.exposeString('name', { description: '`sk-...` and at most its last four characters.' }),
    alias: t.exposeString('alias', { nullable: true, description: 'What people call it; unique.' }),
    role: t.expose('role', { type: RoleType, description: 'What it may act as.' }),
    teamId: t.exposeID('teamId', { nullable: true, description: 'The team it belongs to.' }),
    userId: t.exposeID('userId', { nullable: true, description: 'The user it belongs to.' }),
    models: t.stringList({ description: 'Models it may call; empty for all.', resolve: ({ models }) => models }),
    maxBudgetUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'What it may spend; zero is zero, null is unlimited.',
      resolve: ({ maxBudget }) => (maxBudget === null ? null : usdText(maxBudget)),
    }),
    metadata: t.field({ type: 'JSON', description: 'What its maker noted.', resolve: ({ metadata }) => metadata }),
    blocked: t.exposeBoolean('blocked', { description: 'Whether it is refused.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends; null for never.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    rotatedAt: t.expose('rotatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its secret was last replaced; null for never.',
    }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was deleted; null for a key that exists.',
    }),
  }),
});

const GenerateKeyInput = builder.inputType('GenerateKeyInput', {
  description: 'What a new key is to be.',
  fields: (t) => ({
    key: t.string({
      description:
        'Your own value for it: `sk-`, 20 characters or more, 8 different ones after `sk-`. A fresh one is made when absent.',
    }),
    alias: t.string({ description: 'What people call it; unique.' }),
    role: t.field({ type: RoleType, description: 'What it may act as; `INTERNAL_USER` when absent.' }),
    teamId: t.id({ description: 'The team it belongs to.' }),
    userId: t.id({ description: 'The user it belongs to.' }),
    models: t.stringList({ description: 'Models it may call; all when empty or absent.' }),
    maxBudgetUsd: t.field({ type: 'Decimal', description: 'What it may spend; unlimited when absent.' }),
    duration: t.string({ description: 'How long it holds: `30s`, `30m`, `30h` or `30d`; for ever when absent.' }),
    metadata: t.field({ type: 'JSON', description: 'An object of your own notes.' }),
  }),
});

export function readMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  if (metadata === null || metadata === undefined) return {};
  if (typeof metadata === 'object' && !Array.isArray(metadata)) return { ...metadata };
  throw new InvalidInput('`metadata` must be an object.', [
    { path: ['input', 'metadata'], rule: 'type', message: 'must be an object' },
  ]);
}

function readDraft(input: typeof GenerateKeyInput.$inferInput): KeyDraft {
  return {
    key: input.key ?? null,
    alias: input.alias ?? null,
    role: input.role ?? null,
    teamId: input.teamId ?? null,
    userId: input.userId ?? null,
    models: input.models ?? [],
    maxBudget: typeof input.maxBudgetUsd === 'string' ? usdFrom(input.maxBudgetUsd) : null,
    duration: input.duration ?? null,
    metadata: readMetadata(input.metadata),
  };
}

export const GeneratedKeyType = builder.objectRef<GeneratedKey>('GeneratedKey').implement({
  description: 'A new key, shown once.',
  fields: (t) => ({
    key: t.exposeString('clearKey', { description: 'The key itself. Nobody can show it again.' }),
    virtualKey: t.field({ type: VirtualKeyType, description: 'What is kept of it.', resolve: ({ row }) => row }),
  }),
});

builder.mutationField('generateKey', (t) =>
  t.field({
    type: GeneratedKeyType,
    description: 'Makes a virtual key. For proxy administrators.',
    args: { input: t.arg({ type: GenerateKeyInput, required: true, description: 'What it is to be.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'GenerateKeyResult', description: 'The key, or why there is none.' },
    },
    resolve: (_root, { input }, { scope }) => generateKey(scope, readDraft(input)),
  }),
);
