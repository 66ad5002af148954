import type { JsonObject } from '../src/domain/json-object.ts';
import { type GeneratedKey } from '../resolvers/operation/key-issue.ts';
import {
  blockKey,
  deleteKeys,
  generateKey,
  generateServiceKey,
  getKeyInfo,
  type KeyQuery,
  listUserKeys,
  regenerateKey,
  unblockKey,
  updateKey,
} from '../resolvers/keys.ts';
import { checkKeyHealth, getKeyInfos, listKeyAliases, resetKeySpend, updateKeys } from '../resolvers/key-upkeep.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { KEY_SORTS, KEY_STATUSES } from '../src/domain/keys/virtual-key.ts';
import { usdNumber } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { fields, parseObject, requiredText, texts } from './helpers/http/body-fields.ts';
import { flag, integer, query, text as queryText, rowsBefore } from './helpers/http/query.ts';
import { ignoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import {
  KEY_CHANGE,
  KEY_CHANGES,
  KEY_DRAFT,
  KEY_ROTATION,
  ignoredMembers,
  parseDraft,
  parseRotation,
  parseUpdate,
  parseUpdates,
} from './helpers/fields/keys.ts';
import { RESET_BODY, resetFrom } from './helpers/fields/limits.ts';
import { renderGenerated, renderInfo, renderListed, renderOutcomes, renderStored } from './helpers/answers/keys.ts';
import { textParameters } from './helpers/http/schema.ts';
import { isoOrNull, usdOrNull } from './helpers/answers/limits.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const DEFAULT_PAGE_SIZE = 10;
const DEFAULT_ALIAS_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
const INVALID_STATUS_MESSAGE = "Invalid status value. Supported: 'active', 'expired', 'revoked', 'deleted'.";

const readNamed = fields({ key: requiredText });
const readDeletion = fields({ keys: texts, key_aliases: texts });
const readKeys = fields({ keys: texts });
const readList = query({
  page: integer({ min: 1, defaultValue: 1 }),
  size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: DEFAULT_PAGE_SIZE }),
  user_id: queryText,
  team_id: queryText,
  organization_id: queryText,
  key_hash: queryText,
  project_id: queryText,
  access_group_id: queryText,
  key_alias: queryText,
  substring_matching: flag,
  include_team_keys: flag,
  include_created_by_keys: flag,
  return_full_object: flag,
  sort_by: queryText,
  sort_order: queryText,
  status: queryText,
});

/** Parses a query value that must be one of `choices`. Throws InvalidInput with the field and message of `fault`. */
function choiceOf<Choice extends string>(
  input: string,
  choices: readonly Choice[],
  fault: { field: string; message: string },
) {
  const found = choices.find((choice) => choice === input);
  if (found === undefined) throw new InvalidInput(fault.message, [], { field: fault.field });
  return found;
}

interface ListRequest extends KeyQuery {
  readonly page: number;
  readonly size: number;
  /** Whether the list has key objects, not hashes. */
  readonly asObjects: boolean;
}

function parseList(search: string): ListRequest {
  const parameters = readList(search);
  const sort = choiceOf(parameters.sort_by ?? 'created_at', KEY_SORTS, {
    field: 'sort_by',
    message: `Invalid sort column. Must be one of: ${KEY_SORTS.join(', ')}`,
  });
  const order = choiceOf((parameters.sort_order ?? 'desc').toLowerCase(), ['asc', 'desc'], {
    field: 'sort_order',
    message: 'Invalid sort order. Must be one of: asc, desc',
  });
  const status =
    parameters.status === null
      ? null
      : choiceOf(parameters.status, KEY_STATUSES, { field: 'status', message: INVALID_STATUS_MESSAGE });
  const [page, size] = [Number(parameters.page), Number(parameters.size)];
  const matchesSubstring = parameters.substring_matching === true;
  return {
    filter: {
      hash: nullIfBlank(parameters.key_hash),
      alias: matchesSubstring ? null : nullIfBlank(parameters.key_alias),
      aliasPart: matchesSubstring ? nullIfBlank(parameters.key_alias) : null,
      teamId: nullIfBlank(parameters.team_id),
      userId: nullIfBlank(parameters.user_id),
      projectId: nullIfBlank(parameters.project_id),
      organizationId: nullIfBlank(parameters.organization_id),
      accessGroupId: nullIfBlank(parameters.access_group_id),
      withCreated: parameters.include_created_by_keys ?? false,
      blocked: null,
      status,
    },
    sort,
    descending: order === 'desc',
    limit: size,
    from: rowsBefore(page, size),
    withTeams: parameters.include_team_keys ?? false,
    page,
    size,
    asObjects: parameters.return_full_object ?? false,
  };
}

const readAliases = query({
  page: integer({ min: 1, defaultValue: 1 }),
  size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: DEFAULT_ALIAS_PAGE_SIZE }),
  search: queryText,
});

const ROW = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 404, 422],
} as const;

const READING = { ...ROW, method: 'GET', statuses: [200, 400, 401, 403, 422], bodyLimit: 0 } as const;

/** Header with the names of ignored members of a body. */
function ignoredMembersHeader(body: Uint8Array): Readonly<Record<string, string>> {
  return ignoredHeader(body.length === 0 ? [] : ignoredMembers(body));
}

/** The tags of a new key if `tags` is a member of the body. Empty if only the `metadata` of the body has tags. */
function sentTags({ row }: GeneratedKey, body: Uint8Array): JsonObject {
  const isSent = body.length > 0 && Array.isArray(parseObject(body)['tags']);
  return isSent ? { tags: row.metadata['tags'] } : {};
}

const generatedAnswer = (generated: GeneratedKey, body: Uint8Array) =>
  json({ ...renderGenerated(generated), ...sentTags(generated, body) }, secretHeaders(body));

/** Headers of an answer that contains the secret of a key. */
const secretHeaders = (body: Uint8Array): Record<string, string> => ({
  'cache-control': 'no-store',
  ...ignoredMembersHeader(body),
});

/** Virtual keys: creation, rotation, changes, lists and spend. */
export const keyRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    name: 'keys.generate',
    bodySchema: KEY_DRAFT,
    paths: ['/key/generate'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => parseDraft(body),
    run: generateKey,
    render: (generated, { body }) => generatedAnswer(generated, body),
  }),
  route({
    ...ROW,
    name: 'keys.generateServiceKey',
    bodySchema: KEY_DRAFT,
    paths: ['/key/service-account/generate'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => parseDraft(body),
    run: generateServiceKey,
    render: (generated, { body }) => generatedAnswer(generated, body),
  }),
  route({
    ...READING,
    name: 'keys.info',
    querySchema: textParameters('key'),
    paths: ['/key/info'],
    statuses: [200, 401, 403, 404],
    parse: ({ search }) => ({ key: new URLSearchParams(search).get('key') }),
    run: getKeyInfo,
    render: (info) => json({ key: info.row.hash, info: renderInfo(info) }),
  }),
  route({
    ...ROW,
    name: 'keys.infos',
    bodySchema: readKeys.schema,
    paths: ['/v2/key/info'],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => readKeys(body).keys,
    run: getKeyInfos,
    // The reference repeats the sent keys. This answer has only the hashes of existing keys.
    render: (infos) => json({ key: infos.map(({ row }) => row.hash), info: infos.map(renderInfo) }),
  }),
  route({
    ...READING,
    name: 'keys.list',
    querySchema: readList.schema,
    paths: ['/key/list'],
    parse: ({ search }) => parseList(search),
    run: listUserKeys,
    render: ({ keys, totalCount }, { search }) => {
      const { page, size, asObjects } = parseList(search);
      return json({
        keys: asObjects ? keys.map(renderListed) : keys.map(({ row }) => row.hash),
        total_count: totalCount,
        current_page: page,
        total_pages: Math.ceil(totalCount / size),
      });
    },
  }),
  route({
    ...READING,
    name: 'keys.aliases',
    querySchema: readAliases.schema,
    paths: ['/key/aliases'],
    statuses: [200, 401, 422],
    parse({ search }) {
      const parameters = readAliases(search);
      const [page, limit] = [Number(parameters.page), Number(parameters.size)];
      return { search: parameters.search, limit, from: rowsBefore(page, limit), page };
    },
    run: listKeyAliases,
    render({ aliases, totalCount }, { search }) {
      const { page, size } = readAliases(search);
      return json({
        aliases,
        total_count: totalCount,
        current_page: Number(page),
        total_pages: Math.ceil(totalCount / Number(size)),
        size: Number(size),
      });
    },
  }),
  route({
    ...ROW,
    name: 'keys.update',
    bodySchema: KEY_CHANGE,
    paths: ['/key/update'],
    parse: ({ body }) => parseUpdate(body),
    run: updateKey,
    render: (info, { body }) =>
      json({ key: info.row.hash, token: info.row.hash, ...renderStored(info) }, ignoredMembersHeader(body)),
  }),
  route({
    ...ROW,
    name: 'keys.bulkUpdate',
    bodySchema: KEY_CHANGES,
    paths: ['/key/bulk_update'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => parseUpdates(body),
    run: updateKeys,
    render: (outcomes) => json(renderOutcomes(outcomes)),
  }),
  route({
    ...ROW,
    name: 'keys.block',
    bodySchema: readNamed.schema,
    paths: ['/key/block'],
    parse: ({ body }) => readNamed(body),
    run: blockKey,
    render: (info) => json(renderListed(info)),
  }),
  route({
    ...ROW,
    name: 'keys.unblock',
    bodySchema: readNamed.schema,
    paths: ['/key/unblock'],
    parse: ({ body }) => readNamed(body),
    run: unblockKey,
    // Other answers have `blocked: null` for a key that is not blocked; this answer has false, as in the reference.
    render: (info) => json({ token: info.row.hash, ...renderStored(info), blocked: false }),
  }),
  route({
    ...ROW,
    name: 'keys.delete',
    bodySchema: readDeletion.schema,
    paths: ['/key/delete'],
    statuses: [200, 401, 403, 404, 422],
    parse({ body }) {
      const { keys, key_aliases: aliases } = readDeletion(body);
      return { keys, aliases };
    },
    run: deleteKeys,
    render: (_deleted, { body }) => {
      const { keys, key_aliases: aliases } = readDeletion(body);
      // As in the reference, the answer repeats the request, including unknown keys.
      return json({ deleted_keys: [...keys, ...aliases] });
    },
  }),
  route({
    ...ROW,
    name: 'keys.regenerate',
    bodySchema: KEY_ROTATION,
    paths: ['/key/regenerate', '/key/:key/regenerate'],
    parse: ({ body, params }) => parseRotation(body, params['key']),
    run: regenerateKey,
    render: (rotated, { body }) => json(renderGenerated(rotated, rotated.spend), secretHeaders(body)),
  }),
  route({
    ...ROW,
    name: 'keys.resetSpend',
    bodySchema: RESET_BODY,
    paths: ['/key/:key/reset_spend'],
    parse: ({ body, params }) => ({ key: params['key'] ?? '', resetTo: resetFrom(body) }),
    run: resetKeySpend,
    render: ({ row, spend, before }) =>
      json({
        key_hash: row.hash,
        spend: usdNumber(spend),
        previous_spend: usdNumber(before),
        max_budget: usdOrNull(row.maxBudget),
        budget_reset_at: isoOrNull(row.budgetResetAt),
      }),
  }),
  route({
    ...ROW,
    name: 'keys.health',
    paths: ['/key/health'],
    statuses: [200, 401],
    parse: () => undefined,
    run: checkKeyHealth,
    render: () => json({ key: 'healthy', logging_callbacks: null }),
  }),
];
