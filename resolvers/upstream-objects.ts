import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import { collect } from '../src/domain/bytes.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { NotFound, UpstreamFailed } from '../src/domain/errors.ts';
import { batchUseOf, endOf, type ModelUse } from '../src/domain/upstream-objects/batch-use.ts';
import { type ObjectAction, OBJECT_PATHS, READ_FILE } from '../src/domain/upstream-objects/object-action.ts';
import { outputUseOf } from '../src/domain/upstream-objects/output-use.ts';
import type { PassBody } from '../src/domain/upstream-objects/pass-through.ts';
import {
  filesOf,
  mayChange,
  type ReadObject,
  readObject,
  underOurIds,
} from '../src/domain/upstream-objects/shown-object.ts';
import {
  type ObjectKind,
  objectId,
  type ObjectPage,
  type ShownObject,
  type UpstreamObject,
} from '../src/domain/upstream-objects/upstream-object.ts';
import type { GatewayCall, Place } from '../src/gateway/gateway.ts';
import { callerOf } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** What calls about kept things need of a scope; they are made without a request as well. */
type Within = Pick<Scope, 'platform' | 'caller' | 'signal'>;

/** What a request says of the call it makes. */
export type CallFacts = Pick<ModelRequest, 'callId' | 'parent'>;

/** An object as its caller sees it, and the call that showed it. */
export interface ShownCall {
  readonly call: GatewayCall;
  readonly shown: ShownObject;
}

/** Most bytes of an object of an upstream. */
const OBJECT_LIMIT = 1024 * 1024;

const MISSING: Readonly<Record<ObjectKind, (id: string) => string>> = {
  file: (id) => `No such File object: ${id}`,
  batch: (id) => `No batch found with id '${id}'.`,
  response: (id) => `Response with id '${id}' not found.`,
};

/** That there is nothing of a kind with an id, or nothing the caller may know of. */
export const noObject = (kind: ObjectKind, id: string): NotFound => new NotFound(kind, id, MISSING[kind](id));

/** The object behind an id of ours. Throws NotFound when there is none that the caller may see. */
export async function getObject(scope: Scope, kind: ObjectKind, id: string): Promise<UpstreamObject> {
  const object = await scope.platform.stores.upstreamObjects.find(id);
  if (object?.kind === kind && mayRead(visibilityOf(callerOf(scope)), object.owner)) return object;
  throw noObject(kind, id);
}

/** Where an object is. Throws NotFound when its deployment is no longer configured. */
export function placeOf(
  scope: Within,
  { kind, id, deploymentId }: Pick<UpstreamObject, 'kind' | 'id' | 'deploymentId'>,
): Place {
  const deployment = scope.platform.objects.deployment(deploymentId);
  if (deployment !== null) return { deployment, model: deployment.modelGroup };
  const missing = MISSING[kind](id).replace(/\.$/, '');
  throw new NotFound(kind, id, `${missing}. The deployment it was kept at is no longer configured.`);
}

/** One call about something kept. */
interface Asked {
  readonly action: ObjectAction;
  readonly place: Place;
  /** Follows the path of its kind: empty, or `/{id}` and what comes after. */
  readonly tail: string;
  readonly body?: PassBody;
}

/** Sends a call about something kept; whoever asked settles it. */
export function pass(scope: Within, { action, place, tail, body }: Asked, facts: CallFacts): Promise<GatewayCall> {
  const { deployment, model } = place;
  const path = `${OBJECT_PATHS[action.kind]}${tail}` as const;
  const request = { action, model, path, body: body ?? ({ kind: 'none' } as const), ...facts };
  return scope.platform.objects.pass(callerOf(scope), deployment, request, scope.signal);
}

/** As `pass`, for calls that are answered with one object. Throws UpstreamFailed for an answer that is none. */
export async function passForObject(
  scope: Within,
  asked: Asked,
  facts: CallFacts,
): Promise<{ readonly call: GatewayCall; readonly read: ReadObject }> {
  const call = await pass(scope, asked, facts);
  const read = readObject(asked.action.kind, await bodyOf(call));
  if (read === null) {
    const { provider } = asked.place.deployment;
    const message = `The upstream's answer cannot be used: it is no ${asked.action.kind}.`;
    const failure = new UpstreamFailed(message, { provider, upstreamStatus: null });
    call.settle('failed', failure);
    throw failure;
  }
  call.settle('completed');
  return { call, read };
}

async function bodyOf(call: GatewayCall): Promise<Uint8Array | null> {
  try {
    return await collect(call.exchange.bytes, OBJECT_LIMIT);
  } catch (failure) {
    call.settle('failed', failure instanceof Error ? failure : undefined);
    throw failure;
  }
}

/** Remembers what an upstream has just made for the caller. When that fails, `undo` is told of it first. */
export async function keep(
  scope: Scope,
  { action, place }: Asked,
  { id: upstreamId, shown }: ReadObject,
  undo: (upstreamId: string) => Promise<unknown>,
): Promise<UpstreamObject> {
  const { stores, ids, clock } = scope.platform;
  const { kind } = action;
  const object: UpstreamObject = {
    id: objectId(kind, ids.uuid()),
    kind,
    deploymentId: place.deployment.id,
    upstreamId,
    owner: ownerOf(callerOf(scope)),
    createdAt: clock.now(),
    purpose: purposeOf(shown),
    shown,
  };
  try {
    await stores.upstreamObjects.add(object);
  } catch (failure) {
    // Nobody could ever ask for it again.
    await undo(upstreamId).catch(() => {});
    throw failure;
  }
  return object;
}

const purposeOf = ({ purpose }: ShownObject): string | null => (typeof purpose === 'string' ? purpose : null);

/**
 * Objects of one deployment as their callers see them: under our ids, and so are the files they name. A file that a
 * batch has made belongs to the owner of the batch from the moment it is first named.
 */
export async function asSeen(
  scope: Scope,
  objects: readonly { readonly object: UpstreamObject; readonly shown: ShownObject }[],
): Promise<readonly ShownObject[]> {
  const { upstreamObjects } = scope.platform.stores;
  const known = new Map<string, string>();
  for (const [deploymentId, members] of Map.groupBy(objects, ({ object }) => object.deploymentId)) {
    const wanted = new Set(members.flatMap(({ shown }) => Object.values(filesOf(shown))));
    if (wanted.size === 0) continue;
    const look = async (): Promise<void> => {
      for (const { id, upstreamId } of await upstreamObjects.findAtUpstream(deploymentId, [...wanted]))
        known.set(upstreamId, id);
    };
    await look();
    const unknown = members.flatMap(({ object, shown }) =>
      Object.values(filesOf(shown)).flatMap((upstreamId) => (known.has(upstreamId) ? [] : [{ object, upstreamId }])),
    );
    for (const { object, upstreamId } of unknown) await upstreamObjects.add(madeBy(scope, object, upstreamId));
    // Another process may have named them first.
    if (unknown.length > 0) await look();
  }
  return objects.map(({ object, shown }) => underOurIds(shown, object.id, known));
}

/** A file that a batch has made. What it is for is known once the upstream shows it. */
function madeBy(scope: Scope, { deploymentId, owner }: UpstreamObject, upstreamId: string): UpstreamObject {
  const { ids, clock } = scope.platform;
  const id = objectId('file', ids.uuid());
  const createdAt = clock.now();
  return { id, kind: 'file', deploymentId, upstreamId, owner, createdAt, purpose: 'batch_output', shown: null };
}

/** A page of a list, as its caller sees it. */
export interface ShownPage {
  readonly data: readonly ShownObject[];
  readonly hasMore: boolean;
}

/** How many objects of one page are asked for at once. */
const AT_ONCE = 8;

/** The caller's objects of a kind. Those that may have changed are asked for; the others are shown as they were. */
export async function listObjects(scope: Scope, page: ObjectPage, get: ObjectAction): Promise<ShownPage> {
  const visibility = visibilityOf(callerOf(scope));
  const found = await scope.platform.stores.upstreamObjects.list(visibility, { ...page, limit: page.limit + 1 });
  const objects = found.slice(0, page.limit);
  const shown: { readonly object: UpstreamObject; readonly shown: ShownObject }[] = [];
  for (let from = 0; from < objects.length; from += AT_ONCE)
    shown.push(
      ...(await Promise.all(
        objects
          .slice(from, from + AT_ONCE)
          .map(async (object) => ({ object, shown: await latest(scope, object, get) })),
      )),
    );
  return { data: await asSeen(scope, shown), hasMore: found.length > page.limit };
}

/**
 * Remembers how an upstream shows an object now. A batch that has ended since it was last seen is booked, where its
 * upstream says what it used, or its output does. While that cannot be read, it counts as not seen yet.
 */
export async function showNow(scope: Within, object: UpstreamObject, shown: ShownObject): Promise<void> {
  const { stores, objects, clock } = scope.platform;
  const { id, kind, owner, createdAt } = object;
  const deployment = objects.deployment(object.deploymentId);
  if (deployment !== null && kind === 'batch' && mayChange(kind, object.shown) && !mayChange(kind, shown)) {
    const uses = await usesOf(scope, object, shown);
    if (uses === 'unread') return;
    if (uses.length > 0)
      objects.bookBatch({ id, owner, createdAt, deployment, uses, endedAt: endOf(shown, clock.now()) });
  }
  await stores.upstreamObjects.show(id, shown);
}

/** What a batch that has ended used; nothing where nobody says. */
async function usesOf(
  scope: Within,
  object: UpstreamObject,
  shown: ShownObject,
): Promise<readonly ModelUse[] | 'unread'> {
  const summed = batchUseOf(shown);
  if (summed !== null) return [summed];
  const { output_file_id: fileId } = filesOf(shown);
  if (fileId === undefined) return [];
  const asked = { action: READ_FILE, place: placeOf(scope, object), tail: `/${encodeURIComponent(fileId)}/content` };
  try {
    const call = await pass(scope, asked, { callId: null, parent: null });
    try {
      const uses = await outputUseOf(call.exchange.bytes);
      call.settle('completed');
      return uses ?? [];
    } catch (failure) {
      call.settle('failed', failure instanceof Error ? failure : undefined);
      throw failure;
    }
  } catch (failure) {
    scope.signal.throwIfAborted();
    // It is gone, and what was in it is not known any more.
    return failure instanceof UpstreamFailed && failure.upstreamStatus === 404 ? [] : 'unread';
  }
}

/** How an object is now; as it was last seen when the upstream does not say. */
export async function latest(scope: Within, object: UpstreamObject, get: ObjectAction): Promise<ShownObject> {
  const last = object.shown ?? { id: object.upstreamId, object: object.kind, purpose: object.purpose };
  if (!mayChange(object.kind, object.shown)) return last;
  try {
    const asked = { action: get, place: placeOf(scope, object), tail: `/${encodeURIComponent(object.upstreamId)}` };
    const { read } = await passForObject(scope, asked, { callId: null, parent: null });
    await showNow(scope, object, read.shown);
    return read.shown;
  } catch {
    scope.signal.throwIfAborted();
    return last;
  }
}
