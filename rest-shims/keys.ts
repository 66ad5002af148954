import { generateKey, type GeneratedKey, getKeyInfo, type KeyInfo } from '../resolvers/keys.ts';
import { ROLES } from '../src/domain/role.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { type Usd, usdFrom, usdNumber } from '../src/domain/money.ts';
import { fields, number, object, oneOf, text, texts } from './body-fields.ts';
import { json, route, type RouteRow } from './route.ts';

const BODY_LIMIT = 1024 * 1024;

const readDraft = fields({
  key: text,
  key_alias: text,
  duration: text,
  models: texts,
  max_budget: number,
  user_id: text,
  team_id: text,
  user_role: oneOf(ROLES),
  metadata: object,
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
    created_at: row.createdAt.toISOString(),
    updated_at: row.createdAt.toISOString(),
    created_by: row.createdBy,
    updated_by: row.createdBy,
  };
}

const renderGenerated = ({ clearKey, row }: GeneratedKey): object => ({
  key: clearKey,
  token: row.hash,
  token_id: row.hash,
  spend: 0,
  ...columnsOf(row),
  budget_id: null,
  litellm_budget_table: null,
});

const renderInfo = ({ row, spend }: KeyInfo): object => ({
  key: row.hash,
  info: { spend: usdNumber(spend), ...columnsOf(row) },
});

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
];
