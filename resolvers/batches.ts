import type { Caller } from '../src/domain/caller.ts';
import { Forbidden, InvalidInput } from '../src/domain/errors.ts';
import { CANCEL_BATCH, CREATE_BATCH, GET_BATCH } from '../src/domain/upstream-objects/object-action.ts';
import { mayChange } from '../src/domain/upstream-objects/shown-object.ts';
import type { ObjectPage, ShownObject, UpstreamObject } from '../src/domain/upstream-objects/upstream-object.ts';
import { objectReader, objectWriter } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Platform, Scope } from './operation/scope.ts';
import {
  asSeen,
  type CallFacts,
  getObject,
  keep,
  latest,
  listObjects,
  passForObject,
  placeOf,
  type ShownCall,
  type ShownPage,
  showNow,
} from './upstream-objects.ts';

/** Members without which a batch is none, in the order in which they are missed. */
const NEEDED = ['input_file_id', 'endpoint', 'completion_window'] as const;

/** A batch to be worked off. */
export interface BatchDraft extends CallFacts {
  /** The request as it came, and the same parsed. */
  readonly bytes: Uint8Array;
  readonly body: Readonly<Record<string, unknown>>;
  /** Members that speak to the gateway alone. */
  readonly without: readonly string[];
}

/** Has an upstream work off the lines of a file it keeps. Throws InvalidInput, Forbidden, NotFound and UpstreamFailed. */
export const createBatch = operation({
  name: 'createBatch',
  access: objectWriter,
  async run(scope, { bytes, body, without, ...facts }: BatchDraft): Promise<ShownCall> {
    const [fileId] = NEEDED.map((member) => needed(body, member));
    const file = await getObject(scope, 'file', fileId ?? '');
    assertLinesChecked(scope, file);
    const set = {
      ...Object.fromEntries(without.filter((member) => Object.hasOwn(body, member)).map((member) => [member, null])),
      input_file_id: JSON.stringify(file.upstreamId),
    };
    const place = placeOf(scope, file);
    const asked = { action: CREATE_BATCH, place, tail: '', body: { kind: 'json', bytes, set } } as const;
    const { call, read } = await passForObject(scope, asked, facts);
    const object = await keep(scope, asked, read, (upstreamId) =>
      passForObject(
        scope,
        { action: CANCEL_BATCH, place, tail: `/${encodeURIComponent(upstreamId)}/cancel` },
        { callId: null, parent: null },
      ),
    );
    return await seen(scope, object, call, read.shown);
  },
});

function needed(body: BatchDraft['body'], member: (typeof NEEDED)[number]): string {
  const value = body[member] ?? '';
  const issue = (rule: string, message: string) =>
    new InvalidInput(message, [{ path: ['body', member], rule, message }]);
  if (value === '') throw issue('missing', `/batches: Missing required parameter: '${member}'.`);
  if (typeof value === 'string') return value;
  throw issue('type', `/batches: Invalid type for parameter '${member}': it must be a string.`);
}

/**
 * The models that a file's lines name were checked when it was uploaded, for the key that did, and only in a file for
 * batches. A key that may not call every model brings its own lines.
 */
function assertLinesChecked(scope: Scope, { purpose, owner }: UpstreamObject): void {
  if (purpose !== 'batch') {
    const message = "/batches: Invalid value for parameter 'input_file_id': the purpose of the file must be 'batch'.";
    throw new InvalidInput(message, [{ path: ['body', 'input_file_id'], rule: 'purpose', message }]);
  }
  const { key, keyHash } = callerOf(scope);
  if (key === null || key.models.length === 0 || owner.keyHash === keyHash) return;
  throw new Forbidden(
    'This key may not call every model: it can only begin batches from files that it uploaded itself.',
    'model',
  );
}

async function seen(
  scope: Scope,
  object: UpstreamObject,
  call: ShownCall['call'],
  shown: ShownObject,
): Promise<ShownCall> {
  const [own = shown] = await asSeen(scope, [{ object, shown }]);
  return { call, shown: own };
}

/** Which batch, and the call that asks for it. */
interface Named extends CallFacts {
  readonly id: string;
}

async function about(scope: Scope, action: typeof GET_BATCH, { id, ...facts }: Named): Promise<ShownCall> {
  const object = await getObject(scope, 'batch', id);
  const end = action === CANCEL_BATCH ? '/cancel' : '';
  const asked = { action, place: placeOf(scope, object), tail: `/${encodeURIComponent(object.upstreamId)}${end}` };
  const { call, read } = await passForObject(scope, asked, facts);
  await showNow(scope, object, read.shown);
  return await seen(scope, object, call, read.shown);
}

/** How far a batch is. Throws NotFound and UpstreamFailed. */
export const getBatch = operation({
  name: 'getBatch',
  access: objectReader,
  run: (scope, named: Named): Promise<ShownCall> => about(scope, GET_BATCH, named),
});

/** Has an upstream give a batch up. Throws NotFound and UpstreamFailed. */
export const cancelBatch = operation({
  name: 'cancelBatch',
  access: objectWriter,
  run: (scope, named: Named): Promise<ShownCall> => about(scope, CANCEL_BATCH, named),
});

/** The caller's batches. */
export const listBatches = operation({
  name: 'listBatches',
  access: objectReader,
  run: (scope, page: Omit<ObjectPage, 'kind' | 'purpose'>): Promise<ShownPage> =>
    listObjects(scope, { ...page, kind: 'batch', purpose: null }, GET_BATCH),
});

/** Longest a batch is worked on at an upstream, with room for one that is cancelled late. */
const OPEN_MS = 3 * 86_400_000;
const PAGE = 100;

/**
 * Asks for every batch that may have ended since it was last seen, so that its end is booked though nobody asks for it. Each
 * is asked for in the name of its owner.
 */
export async function followBatches(platform: Platform, signal: AbortSignal): Promise<void> {
  const { stores, clock } = platform;
  const oldest = clock.now().getTime() - OPEN_MS;
  const page = { kind: 'batch', purpose: null, limit: PAGE, oldestFirst: false } as const;
  for (let after: string | null = null; ;) {
    const found: readonly UpstreamObject[] = await stores.upstreamObjects.list({ kind: 'all' }, { ...page, after });
    for (const object of found.filter(({ kind, shown }) => mayChange(kind, shown))) {
      if (object.createdAt.getTime() < oldest) return;
      const owner: Caller = { ...object.owner, role: 'internal_user', key: null, userId: null };
      await latest({ platform, caller: owner, signal }, object, GET_BATCH);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < PAGE || last.createdAt.getTime() < oldest) return;
    after = last.id;
  }
}
