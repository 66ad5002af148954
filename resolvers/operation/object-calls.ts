import { collect } from '../../src/domain/bytes.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { NotFound, UpstreamFailed } from '../../src/domain/errors.ts';
import type { BilledQuantity } from '../../src/domain/inference/billed-quantity.ts';
import type { BatchCalls } from '../../src/domain/upstream-objects/batch-calls.ts';
import { type ObjectAction, OBJECT_PATHS } from '../../src/domain/upstream-objects/object-action.ts';
import type { PassBody, PassThrough } from '../../src/domain/upstream-objects/pass-through.ts';
import { isUpstreamId, type ReadObject, readObject } from '../../src/domain/upstream-objects/shown-object.ts';
import type { ObjectKind, ShownObject, UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import { videoSecondsOf } from '../../src/domain/upstream-objects/video-quantity.ts';
import type { GatewayCall, StoragePlace } from '../../src/gateway/gateway.ts';
import { mayUseObject } from './object-owners.ts';
import { callerOf } from './operation.ts';
import type { ObjectPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Part of a scope that calls about stored objects need. Background work has this part, but no request. */
export type BackgroundScope = Pick<Scope<Omit<ObjectPlatform, 'fileLimits'>>, 'platform' | 'caller' | 'signal'>;

/** As `BackgroundScope`, for calls that use no store. */
type CallScope = Pick<Scope<Pick<ObjectPlatform, 'gateway'>>, 'platform' | 'caller' | 'signal'>;

/** Id, parent span and labels of a request, for its upstream call. */
export type CallFacts = Pick<ModelRequest, 'callId' | 'parent' | 'labels'>;

/** An object as the caller sees it, and the call that read it. */
export interface ShownCall {
  readonly call: GatewayCall;
  readonly shown: ShownObject;
}

/** Id of an object, and the facts of the call about the object. */
export interface NamedObject extends CallFacts {
  readonly id: string;
}

/** Maximum size of the JSON text of an upstream's object, in bytes. */
const MAX_OBJECT_BYTES = 1024 * 1024;
/** As `MAX_OBJECT_BYTES`, of a response. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

const NOT_FOUND_TEXTS: Readonly<Record<ObjectKind, (id: string) => string>> = {
  file: (id) => `No such File object: ${id}`,
  batch: (id) => `No batch found with id '${id}'.`,
  response: (id) => `Response with id '${id}' not found.`,
  video: (id) => `Video with id '${id}' not found.`,
  container: (id) => `Container with id '${id}' not found.`,
  fine_tuning_job: (id) => `Fine-tuning job with id '${id}' not found.`,
  eval: (id) => `Eval with id '${id}' not found.`,
  eval_run: (id) => `Eval run with id '${id}' not found.`,
  skill: (id) => `Skill with id '${id}' not found.`,
};

/** Error for an object that does not exist or that the caller may not see. */
export const noObject = (kind: ObjectKind, id: string): NotFound => new NotFound(kind, id, NOT_FOUND_TEXTS[kind](id));

/** The object with an id; null for none. A container that an upstream has just made is possibly not yet stored. */
export async function findObject(
  { platform }: { readonly platform: Pick<ObjectPlatform, 'objectQueue' | 'stores'> },
  kind: ObjectKind,
  id: string,
): Promise<UpstreamObject | null> {
  const { stores, objectQueue } = platform;
  const found = await stores.upstreamObjects.find(id);
  if (found !== null || kind !== 'container') return found;
  await objectQueue.caughtUp();
  return await stores.upstreamObjects.find(id);
}

/** The object with an id of the gateway. Throws NotFound when it does not exist or the caller may not see it. */
export async function getObject(scope: Scope<ObjectPlatform>, kind: ObjectKind, id: string): Promise<UpstreamObject> {
  const object = await findObject(scope, kind, id);
  if (object?.kind === kind && mayUseObject(callerOf(scope), object.owner)) return object;
  throw noObject(kind, id);
}

/** Deployment that stores an object. Throws NotFound when it is no longer configured. */
export function placeOf(
  scope: CallScope,
  { kind, id, deploymentId }: Pick<UpstreamObject, 'kind' | 'id' | 'deploymentId'>,
): StoragePlace {
  const deployment = scope.platform.gateway.deployment(deploymentId);
  if (deployment !== null) return { deployment, model: deployment.modelGroup };
  const notFound = NOT_FOUND_TEXTS[kind](id).replace(/\.$/, '');
  throw new NotFound(kind, id, `${notFound}. The deployment it was kept at is no longer configured.`);
}

/**
 * Path of a stored object after the path of its kind. A run is below its evaluation. Throws NotFound for a run whose
 * state has no usable id of the evaluation.
 */
export function tailOf({ kind, id, upstreamId, shown }: UpstreamObject): string {
  const own = `/${encodeURIComponent(upstreamId)}`;
  if (kind !== 'eval_run') return own;
  const evalId = shown?.['eval_id'];
  if (typeof evalId !== 'string' || !isUpstreamId(evalId)) throw noObject(kind, id);
  return `/${encodeURIComponent(evalId)}/runs${own}`;
}

/** One call about a stored object. */
export interface ObjectCall {
  readonly action: ObjectAction;
  readonly place: StoragePlace;
  /** Path after the path of the object's kind: empty, or `/{id}` with an optional suffix. */
  readonly tail: string;
  readonly body?: PassBody;
  /** Counted calls of the batch to start. */
  readonly calls?: BatchCalls;
  /** Expected quantity of an action that is billed by its answer. */
  readonly expected?: BilledQuantity | undefined;
  /** Text of the body that guardrails check. */
  readonly prompt?: string;
  /** Headers of the request that the provider gets. */
  readonly headers?: PassThrough['headers'];
}

/** Sends a call about a stored object. Throws what the gateway's `pass` throws. */
export function pass(
  scope: CallScope,
  { action, place, tail, body, calls, expected, prompt, headers }: ObjectCall,
  facts: CallFacts,
  measured?: PassThrough['measured'],
): Promise<GatewayCall> {
  const { deployment, model } = place;
  const path = `${OBJECT_PATHS[action.kind]}${tail}` as const;
  const request = {
    action,
    model,
    path,
    body: body ?? ({ kind: 'none' } as const),
    ...facts,
    ...(calls && { calls }),
    ...(expected && { expected }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(measured && { measured }),
    ...(headers && { headers }),
  };
  return scope.platform.gateway.pass(callerOf(scope), deployment, request, scope.signal);
}

/** As `pass`, for calls that the upstream answers with one object. Throws UpstreamFailed for any other answer. */
export async function passForObject(
  scope: CallScope,
  request: ObjectCall,
  facts: CallFacts,
): Promise<{ readonly call: GatewayCall; readonly read: ReadObject }> {
  // Set while the answer is read. The gateway prices the call after that.
  let billed: BilledQuantity | undefined;
  const call = await pass(scope, request, facts, () => billed);
  const read = await call.consume(async (stream) => {
    const { kind } = request.action;
    const object = readObject(kind, await collect(stream, kind === 'response' ? MAX_RESPONSE_BYTES : MAX_OBJECT_BYTES));
    if (object === null) {
      const { provider } = request.place.deployment;
      const message = `The upstream's answer cannot be used: it is not a ${kind}.`;
      throw new UpstreamFailed(message, { provider, upstreamStatus: null });
    }
    if (request.action.billed === 'created') billed = billedOf(object.shown) ?? request.expected;
    return object;
  });
  return { call, read };
}

/** Billed seconds of a new video: zero when the video failed; undefined when the length is unknown. */
const billedOf = (shown: ShownObject): BilledQuantity | undefined =>
  shown['status'] === 'failed' ? { unit: 'video_second', count: 0, resolution: null } : videoSecondsOf(shown);
