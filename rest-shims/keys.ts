import {
  blockKey,
  deleteKeys,
  generateKey,
  type GeneratedKey,
  getKeyInfo,
  type KeyInfo,
  type KeyQuery,
  listKeys,
  type NamedKey,
  regenerateKey,
  unblockKey,
  updateKey,
} from '../resolvers/keys.ts';
import type { Operation } from '../resolvers/operation/operation.ts';
import { ROLES } from '../src/domain/role.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { KeyPatch } from '../src/domain/keys/key-change.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import { KEY_SORTS, KEY_STATUSES, type VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { type Usd, usdFrom, usdNumber, ZERO_USD } from '../src/domain/money.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { fields, flagOf, given, number, object, oneOf, requiredText, text, texts } from './http/body-fields.ts';
import { flag, integer, query, text as queryText } from './http/query.ts';
import { json, route, type RouteRow } from './http/route.ts';

const BODY_LIMIT = 1024 * 1024;
const DEFAULT_SIZE = 10;
const MOST_SIZE = 100;
const NO_HASH = '';
const BAD_STATUS = "Invalid status value. Supported: 'active', 'expired', 'revoked', 'deleted'.";

/** What a key can be told, when it is made and later. */
const SETTINGS = {
  key_alias: text,
  duration: text,
  models: texts,
  max_budget: number,
  user_id: text,
  team_id: text,
  user_role: oneOf(ROLES),
  metadata: object,
};
const CHANGES = {
  key_alias: given(text),
  duration: given(text),
  models: given(texts),
  max_budget: given(number),
  user_id: given(text),
  team_id: given(text),
  user_role: given(oneOf(ROLES)),
  metadata: given(object),
  blocked: given(flagOf),
};

const readDraft = fields({ key: text, ...SETTINGS });
const readNamed = fields({ key: requiredText });
const readUpdate = fields({ key: requiredText, ...CHANGES });
const readRotation = fields({ key: text, new_key: text, grace_period: text, ...CHANGES });
const readDeletion = fields({ keys: texts, key_aliases: texts });
const readList = query({
  page: integer({ least: 1, otherwise: 1 }),
  size: integer({ least: 1, most: MOST_SIZE, otherwise: DEFAULT_SIZE }),
  user_id: queryText,
  team_id: queryText,
  organization_id: queryText,
  key_hash: queryText,
  key_alias: queryText,
  return_full_object: flag,
  sort_by: queryText,
  sort_order: queryText,
  status: queryText,
});

function parseDraft(body: Uint8Array): KeyDraft {
  const sent = readDraft(body);
  return {
    key: sent.key,
    alias: sent.key_alias,
    role: sent.user_role,
    teamId: sent.team_id,
    userId: sent.user_id,
    models: sent.models,
    maxBudget: allowance(sent.max_budget),
    duration: sent.duration,
    metadata: sent.metadata,
  };
}

/** An absent field is left out: a patch distinguishes it from null. */
function patchOf(sent: Omit<ReturnType<typeof readUpdate>, 'key'>): KeyPatch {
  const { key_alias: alias, duration, models, user_id: userId, team_id: teamId, metadata, blocked } = sent;
  return {
    ...(alias === undefined ? {} : { alias }),
    ...(duration === undefined ? {} : { duration }),
    ...(models === undefined ? {} : { models }),
    ...(sent.max_budget === undefined ? {} : { maxBudget: allowance(sent.max_budget) }),
    ...(userId === undefined ? {} : { userId }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(sent.user_role === undefined || sent.user_role === null ? {} : { role: sent.user_role }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(blocked === undefined || blocked === null ? {} : { blocked }),
  };
}

/** USD, not below zero: zero allows nothing, null everything. */
function allowance(sent: number | null): Usd | null {
  if (sent === null) return null;
  const amount = sent < 0 ? null : usdFrom(sent);
  if (amount !== null) return amount;
  throw new InvalidInput('The budget is not valid.', [
    {
      path: ['body', 'max_budget'],
      rule: 'greater_than_equal',
      message: 'Input should be greater than or equal to 0',
      input: sent,
      context: { ge: 0 },
    },
  ]);
}

/** One of a few words of a query. Throws InvalidInput that names the field. */
function wordOf<Word extends string>(sent: string, known: readonly Word[], fault: { field: string; message: string }) {
  const word = known.find((one) => one === sent);
  if (word === undefined) throw new InvalidInput(fault.message, [], { field: fault.field });
  return word;
}

interface ListRequest extends KeyQuery {
  readonly page: number;
  readonly size: number;
  readonly whole: boolean;
}

function parseList(search: string): ListRequest {
  const sent = readList(search);
  const sort = wordOf(sent.sort_by ?? 'created_at', KEY_SORTS, {
    field: 'sort_by',
    message: `Invalid sort column. Must be one of: ${KEY_SORTS.join(', ')}`,
  });
  const order = wordOf((sent.sort_order ?? 'desc').toLowerCase(), ['asc', 'desc'], {
    field: 'sort_order',
    message: 'Invalid sort order. Must be one of: asc, desc',
  });
  const status =
    sent.status === null ? null : wordOf(sent.status, KEY_STATUSES, { field: 'status', message: BAD_STATUS });
  const [page, size] = [Number(sent.page), Number(sent.size)];
  return {
    filter: {
      // No key belongs to an organization, so that none matches.
      hash: idOrNull(sent.organization_id) === null ? idOrNull(sent.key_hash) : NO_HASH,
      alias: idOrNull(sent.key_alias),
      teamId: idOrNull(sent.team_id),
      userId: idOrNull(sent.user_id),
      blocked: null,
      status,
    },
    sort,
    descending: order === 'desc',
    limit: size,
    from: Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER),
    page,
    size,
    whole: sent.return_full_object ?? false,
  };
}

/** The columns of a key's row that the documented forms share. */
function columnsOf(row: VirtualKey): Record<string, unknown> {
  return {
    key_name: row.name,
    key_alias: row.alias,
    models: row.models,
    max_budget: row.maxBudget === null ? null : usdNumber(row.maxBudget),
    expires: row.expiresAt?.toISOString() ?? null,
    user_id: row.userId,
    team_id: row.teamId,
    user_role: row.role,
    metadata: row.metadata,
    blocked: row.blocked,
    rotation_count: row.rotations,
    last_rotation_at: row.rotatedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    created_by: row.createdBy,
    updated_by: row.updatedBy,
  };
}

const renderGenerated = ({ clearKey, row }: GeneratedKey, spend: Usd = ZERO_USD): object => ({
  key: clearKey,
  token: row.hash,
  token_id: row.hash,
  spend: usdNumber(spend),
  ...columnsOf(row),
  budget_id: null,
  litellm_budget_table: null,
});

const renderInfo = ({ row, spend, status }: KeyInfo): object => ({
  key: row.hash,
  info: { spend: usdNumber(spend), ...columnsOf(row), status },
});

const renderRow = ({ row, spend }: KeyInfo): object => ({
  token: row.hash,
  spend: usdNumber(spend),
  ...columnsOf(row),
  ...(row.deletedAt === null ? {} : { deleted_at: row.deletedAt.toISOString(), deleted_by: row.deletedBy }),
});

/** Facts of a route that changes keys. */
const CHANGING = {
  method: 'POST',
  surface: 'management',
  category: null,
  credential: 'required',
  answers: [200, 400, 401, 403, 404, 422],
  bodyLimit: BODY_LIMIT,
} as const;

const rowOfKey = (name: string, path: string, run: Operation<NamedKey, Promise<KeyInfo>>): RouteRow =>
  route({
    ...CHANGING,
    name,
    paths: [path],
    parse: ({ body }) => readNamed(body),
    run,
    render: (info) => json(renderRow(info)),
  });

/** The key of the path, else of the body. Throws InvalidInput when neither names one. */
function parseRotation(body: Uint8Array, inPath: string | undefined) {
  const { key, new_key: newKey, grace_period: gracePeriod, ...changes } = readRotation(body);
  const named = inPath ?? key;
  if (named === null)
    throw new InvalidInput('The body is not valid.', [
      { path: ['body', 'key'], rule: 'missing', message: 'Field required' },
    ]);
  return { key: named, newKey, gracePeriod, patch: patchOf(changes) };
}

/** Virtual keys. */
export const keyRoutes: readonly RouteRow[] = [
  route({
    name: 'keys.generate',
    method: 'POST',
    paths: ['/key/generate'],
    surface: 'management',
    category: null,
    credential: 'required',
    answers: [200, 400, 401, 403, 422],
    bodyLimit: BODY_LIMIT,
    parse: ({ body }) => parseDraft(body),
    run: generateKey,
    render: (generated) => json(renderGenerated(generated), { 'cache-control': 'no-store' }),
  }),
  route({
    name: 'keys.info',
    method: 'GET',
    paths: ['/key/info'],
    surface: 'management',
    category: null,
    credential: 'required',
    answers: [200, 401, 403, 404],
    bodyLimit: 0,
    parse: ({ search }) => ({ key: new URLSearchParams(search).get('key') }),
    run: getKeyInfo,
    render: (info) => json(renderInfo(info)),
  }),
  route({
    name: 'keys.list',
    method: 'GET',
    paths: ['/key/list'],
    surface: 'management',
    category: null,
    credential: 'required',
    answers: [200, 400, 401, 422],
    bodyLimit: 0,
    parse: ({ search }) => parseList(search),
    run: listKeys,
    render: ({ keys, totalCount }, { search }) => {
      const { page, size, whole } = parseList(search);
      return json({
        keys: whole ? keys.map(renderRow) : keys.map(({ row }) => row.hash),
        total_count: totalCount,
        current_page: page,
        total_pages: Math.ceil(totalCount / size),
      });
    },
  }),
  route({
    ...CHANGING,
    name: 'keys.update',
    paths: ['/key/update'],
    parse({ body }) {
      const { key, ...changes } = readUpdate(body);
      return { key, patch: patchOf(changes) };
    },
    run: updateKey,
    render: (info) => json({ key: info.row.hash, ...renderRow(info) }),
  }),
  rowOfKey('keys.block', '/key/block', blockKey),
  rowOfKey('keys.unblock', '/key/unblock', unblockKey),
  route({
    ...CHANGING,
    name: 'keys.delete',
    answers: [200, 401, 403, 404, 422],
    paths: ['/key/delete'],
    parse({ body }) {
      const { keys, key_aliases: aliases } = readDeletion(body);
      return { keys, aliases };
    },
    run: deleteKeys,
    render: (_deleted, { body }) => {
      const { keys, key_aliases: aliases } = readDeletion(body);
      // The reference echoes what it was asked, also names of keys that do not exist.
      return json({ deleted_keys: [...keys, ...aliases] });
    },
  }),
  route({
    ...CHANGING,
    name: 'keys.regenerate',
    paths: ['/key/regenerate', '/key/:key/regenerate'],
    parse: ({ body, params }) => parseRotation(body, params['key']),
    run: regenerateKey,
    render: (rotated) => json(renderGenerated(rotated, rotated.spend), { 'cache-control': 'no-store' }),
  }),
];
