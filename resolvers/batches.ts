import type { JsonObject } from '../src/domain/json-object.ts';
import type { Caller } from '../src/domain/caller.ts';
import { InvalidInput, LimitExceeded } from '../src/domain/errors.ts';
import {
  CANCEL_BATCH,
  CREATE_BATCH,
  GET_BATCH,
  GET_RESPONSE,
  type ObjectAction,
} from '../src/domain/upstream-objects/object-action.ts';
import { EVAL_RUN } from '../src/domain/upstream-objects/object-families.ts';
import { allCalls, type BatchCalls } from '../src/domain/upstream-objects/batch-calls.ts';
import { mayChange } from '../src/domain/upstream-objects/shown-object.ts';
import type { StartingBatch } from '../src/domain/upstream-objects/starting-batches.ts';
import type { ObjectPage, UpstreamObject } from '../src/domain/upstream-objects/upstream-object.ts';
import { limitedHash } from '../src/domain/users/session.ts';
import { objectReader, objectWriter, system } from './operation/access.ts';
import { assertLinesAllowed } from './operation/batch-lines.ts';
import { lastingScope } from './operation/lasting-scope.ts';
import { operation } from './operation/operation.ts';
import {
  type CallFacts,
  getObject,
  type NamedObject,
  passForObject,
  placeOf,
  type ShownCall,
} from './operation/object-calls.ts';
import { currentState, storeState } from './operation/object-states.ts';
import { storeObject, listObjects, shownCall, type ShownPage } from './operation/upstream-objects.ts';
import type { BatchPlatform } from './operation/batch-platform.ts';
import type { ObjectPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Required members of a batch, in the order in which they are checked. */
const REQUIRED_MEMBERS = ['input_file_id', 'endpoint', 'completion_window'] as const;

/** Maximum age of a batch that may still be open, in ms. It includes time for a late cancellation. */
const OPEN_MS = 3 * 86_400_000;
/** Number of batches that one read of the store returns. */
const PAGE_SIZE = 100;

/** A batch to start. */
export interface BatchDraft extends CallFacts {
  /** Body of the request as bytes, and parsed. */
  readonly bytes: Uint8Array;
  readonly body: JsonObject;
  /** Members of the body that are for the gateway. The upstream does not get them. */
  readonly gatewayMembers: readonly string[];
}

/**
 * Starts a batch over a file that an upstream stores. Throws InvalidInput, Forbidden, NotFound, LimitExceeded, and what
 * `passForObject` throws.
 */
export const createBatch = operation({
  name: 'createBatch',
  access: objectWriter,
  async run(scope: Scope<BatchPlatform>, { bytes, body, gatewayMembers, ...facts }: BatchDraft): Promise<ShownCall> {
    // All required members are checked. The first one is the id of the file.
    const [fileId, endpoint = ''] = REQUIRED_MEMBERS.map((member) => requiredText(body, member));
    const file = await getObject(scope, 'file', fileId ?? '');
    assertBatchFile(file);
    const removed = gatewayMembers.filter((member) => Object.hasOwn(body, member));
    // Members to replace in the forwarded body, as JSON text; null removes a member.
    const set = {
      ...Object.fromEntries(removed.map((member) => [member, null])),
      input_file_id: JSON.stringify(file.upstreamId),
    };
    const place = placeOf(scope, file);
    await assertLinesAllowed(scope, { file, endpoint, place, labels: facts.labels });
    // Counts of the calls in the file, by model; undefined when the file was not counted.
    const { calls } = file;
    const starting = calls === undefined ? null : await beginWithinLimit(scope, calls);
    const forwarded = { kind: 'json', bytes, set } as const;
    const request = {
      action: CREATE_BATCH,
      place,
      tail: '',
      body: forwarded,
      ...(calls === undefined ? {} : { calls }),
    };
    const lasting = lastingScope(scope);
    try {
      // `read.shown` is the batch as the upstream's answer shows it.
      const { call, read } = await passForObject(lasting, request, facts);
      const object = await storeObject(lasting, request, read, {
        ...facts,
        calls,
        // Cancels the started batch when its row cannot be stored.
        undo: (upstreamId) =>
          passForObject(
            lasting,
            { action: CANCEL_BATCH, place, tail: `/${encodeURIComponent(upstreamId)}/cancel` },
            { callId: null, parent: null },
          ),
      });
      starting?.stored(object.id);
      return await shownCall(scope, object, { call, shown: read.shown });
    } finally {
      // Has no effect on a batch that has started.
      starting?.failed();
    }
  },
});

/**
 * Begins a batch. Throws LimitExceeded when the key or its team would have more tokens in open batches than the
 * `batch_enqueued_token_limit` of the metadata. Null without such a limit. Batches that other processes start at the
 * same time do not count.
 */
async function beginWithinLimit(
  { platform, caller }: Scope<BatchPlatform>,
  calls: BatchCalls,
): Promise<StartingBatch | null> {
  const key = caller?.key ?? null;
  if (key === null) return null;
  const limits = [
    { of: 'api_key', id: limitedHash(key), limit: key.metadata['batch_enqueued_token_limit'] },
    { of: 'team', id: key.teamId, limit: key.owners?.team?.metadata['batch_enqueued_token_limit'] },
  ] as const;
  // All batches of the owners are counted, because keys of a team may have no limit of their own.
  const owners = limits.flatMap(({ of, id }) => (id === null ? [] : `${of}:${id}`));
  const { tokens } = allCalls(calls);
  const starting = platform.startingBatches.begin(owners, tokens);
  try {
    for (const { of, id, limit } of limits) {
      if (typeof limit !== 'number' || id === null) continue;
      const stored = await openTokens(platform, of === 'team' ? batchesOfTeam(id) : batchesOfKey(platform, id));
      const open = stored.tokens + starting.tokensBefore(`${of}:${id}`, stored.found);
      if (open + tokens > limit)
        throw new LimitExceeded(
          `Batch enqueued token limit exceeded for ${of}: ${id}. Current limit: ${limit}, enqueued: ${open}, requested: ${tokens}.`,
          'tokens',
        );
    }
    return starting;
  } catch (failure) {
    starting.failed();
    throw failure;
  }
}

/** Selects the batches of one owner. */
type OwnBatches = (batches: readonly UpstreamObject[]) => Promise<readonly UpstreamObject[]>;

const batchesOfTeam =
  (teamId: string): OwnBatches =>
  async (batches) =>
    batches.filter(({ owner }) => owner.teamId === teamId);

/** Batches of a key and of its sessions. */
const batchesOfKey =
  ({ stores }: BatchPlatform, keyHash: string): OwnBatches =>
  async (batches) => {
    const others = new Set(batches.map(({ owner }) => owner.keyHash).filter((hash) => hash !== keyHash));
    const found = others.size === 0 ? [] : await stores.keys.findMany([...others]);
    const sessions = new Set(found.filter((key) => limitedHash(key) === keyHash).map(({ hash }) => hash));
    return batches.filter(({ owner }) => owner.keyHash === keyHash || sessions.has(owner.keyHash));
  };

interface OpenTokens {
  /** Sum over the open batches of an owner. */
  readonly tokens: number;
  /** Ids of all batches that were read. */
  readonly found: ReadonlySet<string>;
}

/** Tokens of an owner's open batches. Reads the newest batches first, and stops at the age `OPEN_MS`. */
async function openTokens({ stores, clock }: ObjectPlatform, ownOf: OwnBatches): Promise<OpenTokens> {
  const oldestMs = clock.now().getTime() - OPEN_MS;
  const page = { kind: 'batch', purpose: null, limit: PAGE_SIZE, oldestFirst: false } as const;
  const ids = new Set<string>();
  let tokens = 0;
  for (let after: string | null = null; ;) {
    const found: readonly UpstreamObject[] = await stores.upstreamObjects.list({ kind: 'all' }, { ...page, after });
    for (const { id } of found) ids.add(id);
    const open = found.filter(({ kind, shown, calls }) => calls !== undefined && mayChange(kind, shown));
    for (const { calls } of await ownOf(open)) tokens += allCalls(calls ?? {}).tokens;
    const last = found.at(-1);
    if (last === undefined || found.length < PAGE_SIZE || last.createdAt.getTime() < oldestMs)
      return { tokens, found: ids };
    after = last.id;
  }
}

function requiredText(body: BatchDraft['body'], member: (typeof REQUIRED_MEMBERS)[number]): string {
  const value = body[member] ?? '';
  const issue = (rule: string, message: string) =>
    new InvalidInput(message, [{ path: ['body', member], rule, message }]);
  if (value === '') throw issue('missing', `/batches: Missing required parameter: '${member}'.`);
  if (typeof value === 'string') return value;
  throw issue('type', `/batches: Invalid type for parameter '${member}': it must be a string.`);
}

/** Throws InvalidInput for a file with another purpose than `batch`. */
function assertBatchFile({ purpose }: UpstreamObject): void {
  if (purpose === 'batch') return;
  const message = "/batches: Invalid value for parameter 'input_file_id': the purpose of the file must be 'batch'.";
  throw new InvalidInput(message, [{ path: ['body', 'input_file_id'], rule: 'purpose', message }]);
}

/** Sends a call about a stored batch to its upstream, and stores the batch state that the answer contains. */
async function callForBatch(
  scope: Scope<ObjectPlatform>,
  action: typeof GET_BATCH,
  { id, ...facts }: NamedObject,
): Promise<ShownCall> {
  const object = await getObject(scope, 'batch', id);
  const end = action === CANCEL_BATCH ? '/cancel' : '';
  const request = { action, place: placeOf(scope, object), tail: `/${encodeURIComponent(object.upstreamId)}${end}` };
  const { call, read } = await passForObject(scope, request, facts);
  await storeState(scope, object, read.shown);
  return await shownCall(scope, object, { call, shown: read.shown });
}

/** Reads the state of a batch. Throws NotFound, and what `passForObject` throws. */
export const getBatch = operation({
  name: 'getBatch',
  access: objectReader,
  run: (scope: Scope<ObjectPlatform>, named: NamedObject): Promise<ShownCall> => callForBatch(scope, GET_BATCH, named),
});

/** Cancels a batch at its upstream. Throws NotFound, and what `passForObject` throws. */
export const cancelBatch = operation({
  name: 'cancelBatch',
  access: objectWriter,
  run: (scope: Scope<ObjectPlatform>, named: NamedObject): Promise<ShownCall> =>
    callForBatch(scope, CANCEL_BATCH, named),
});

/** A page of the batches that the caller may see. */
export const listBatches = operation({
  name: 'listBatches',
  access: objectReader,
  run: (scope: Scope<ObjectPlatform>, page: Omit<ObjectPage, 'kind' | 'purpose'>): Promise<ShownPage> =>
    listObjects(scope, { ...page, kind: 'batch', purpose: null }, GET_BATCH),
});

/**
 * Reads the state of every batch, run of an evaluation and background response whose cost is not recorded yet. So the
 * usage of an ended one is recorded even when no client reads it. Each call to an upstream runs as the owner.
 */
export const followBatches = operation({
  name: 'followBatches',
  access: system,
  async run(scope: Scope<ObjectPlatform>, _input: undefined): Promise<void> {
    await follow(scope, GET_BATCH);
    await follow(scope, EVAL_RUN.get);
    await follow(scope, GET_RESPONSE);
  },
});

/** Reads the state of every open object of the kind of an action. */
async function follow({ platform, signal }: Scope<ObjectPlatform>, readAction: ObjectAction): Promise<void> {
  const page = { kinds: [readAction.kind], holding: false, limit: PAGE_SIZE } as const;
  for (let after: UpstreamObject | null = null; ;) {
    const found: readonly UpstreamObject[] = await platform.stores.upstreamObjects.listOpen({ ...page, after });
    for (const object of found) {
      const userId = object.userId ?? null;
      const owner: Caller = { ...object.owner, role: 'internal_user', key: null, userId };
      const scope = { platform, caller: owner, signal };
      // A row from before expected costs were stored may have ended already.
      if (mayChange(object.kind, object.shown)) await currentState(scope, object, readAction);
      else await storeState(scope, object, object.shown ?? {});
    }
    const last = found.at(-1);
    if (last === undefined || found.length < PAGE_SIZE) return;
    after = last;
  }
}
