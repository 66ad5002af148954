import { withKeyTags } from '../../src/domain/calls/call-tags.ts';
import { withTokenCustomer } from '../../src/domain/calls/token-customer.ts';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { allCalls, type BatchCalls, type CountedCalls } from '../../src/domain/upstream-objects/batch-calls.ts';
import {
  batchUseOf,
  batchEndOf,
  type EndedBatch,
  type ModelUse,
  runUsesOf,
} from '../../src/domain/upstream-objects/batch-use.ts';
import { type ObjectAction, READ_FILE } from '../../src/domain/upstream-objects/object-action.ts';
import { outputUseOf } from '../../src/domain/upstream-objects/output-use.ts';
import {
  pendingSinceMs,
  reportsUsage,
  USAGE_WAIT_MS,
  withoutContent,
  withoutPendingUsage,
  withPendingUsage,
} from '../../src/domain/upstream-objects/pending-usage.ts';
import {
  filesOf,
  mayChange,
  type ReadObject,
  sourcesOf,
  withOurIds,
} from '../../src/domain/upstream-objects/shown-object.ts';
import {
  type ObjectKind,
  newObjectId,
  OBJECT_MEMBERS,
  objectId,
  type ObjectPage,
  type ShownObject,
  type UpstreamObject,
} from '../../src/domain/upstream-objects/upstream-object.ts';
import {
  type BackgroundScope,
  type CallFacts,
  type ObjectCall,
  pass,
  passForObject,
  placeOf,
  type ShownCall,
  tailOf,
} from './object-calls.ts';
import { objectOwnerOf, objectVisibilityOf } from './object-owners.ts';
import { callerOf } from './operation.ts';
import type { ObjectPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/**
 * Stores the row of an object that an upstream created for the caller. When that fails, `undo` runs before the error is
 * thrown.
 */
export async function storeObject(
  scope: Scope<ObjectPlatform>,
  { action, place }: ObjectCall,
  { id: upstreamId, shown }: ReadObject,
  {
    calls,
    evalId,
    undo,
    ...sent
  }: Pick<CallFacts, 'labels'> & {
    readonly calls?: BatchCalls | undefined;
    /** Our id of the evaluation of a run. */
    readonly evalId?: string;
    readonly undo: (upstreamId: string) => Promise<unknown>;
  },
): Promise<UpstreamObject> {
  const { stores, ids, clock } = scope.platform;
  const { kind } = action;
  const caller = callerOf(scope);
  const sentLabels = sent.labels === undefined ? {} : { labels: sent.labels };
  const isRecordedLater = isBilledLater(kind);
  // A batch or a run is recorded when it has ended, so its labels and its user are stored until then.
  const { labels } = isRecordedLater ? withTokenCustomer(caller.key, withKeyTags(caller.key, sentLabels)) : {};
  const userId = isRecordedLater ? nullIfBlank(caller.userId) : null;
  const object: UpstreamObject = {
    id: newObjectId(kind, { uuid: ids.uuid(), upstreamId }),
    kind,
    deploymentId: place.deployment.id,
    upstreamId,
    owner: objectOwnerOf(caller),
    createdAt: clock.now(),
    purpose: evalId ?? purposeOf(kind, shown),
    shown,
    ...(userId === null ? {} : { userId }),
    ...(labels === undefined ? {} : { labels }),
    ...(calls === undefined ? {} : { calls }),
  };
  try {
    await stores.upstreamObjects.add(object);
  } catch (failure) {
    // Without a row no caller can refer to the object.
    await undo(upstreamId).catch(() => {});
    throw failure;
  }
  return object;
}

/** Purpose of a file, or name of a container. Lists select by it. */
function purposeOf(kind: ObjectKind, { purpose, name }: ShownObject): string | null {
  const value = kind === 'container' ? name : purpose;
  return typeof value === 'string' ? value : null;
}

/**
 * Objects as the caller sees them: with ids of the gateway, also for the files that they name. A file that a batch or a
 * fine-tuning job made belongs to its owner. The row is created when the object names the file for the first time.
 */
async function shownObjects(
  scope: Scope<ObjectPlatform>,
  objects: readonly { readonly object: UpstreamObject; readonly shown: ShownObject }[],
): Promise<readonly ShownObject[]> {
  const { upstreamObjects } = scope.platform.stores;
  const idByUpstreamId = new Map<string, string>();
  for (const [deploymentId, atDeployment] of Map.groupBy(objects, ({ object }) => object.deploymentId)) {
    const idsOf = (shown: ShownObject): readonly string[] => [
      ...Object.values(filesOf(shown)),
      ...Object.values(sourcesOf(shown)),
    ];
    const named = new Set(atDeployment.flatMap(({ shown }) => idsOf(shown)));
    if (named.size === 0) continue;
    const readKnownIds = async (): Promise<void> => {
      // Other deployments of the account may have stored a file. The row of this deployment has precedence.
      for (const at of scope.platform.gateway.deploymentsAt(deploymentId).toReversed())
        for (const { id, upstreamId } of await upstreamObjects.findAtUpstream(at, [...named]))
          idByUpstreamId.set(upstreamId, id);
    };
    await readKnownIds();
    const newFiles = atDeployment.flatMap(({ object, shown }) =>
      Object.values(filesOf(shown))
        .filter((upstreamId) => !idByUpstreamId.has(upstreamId))
        .map((upstreamId) => ({ object, upstreamId })),
    );
    for (const { object, upstreamId } of newFiles) await upstreamObjects.add(outputFileOf(scope, object, upstreamId));
    // Read again, because another process may have created the rows of these files first.
    if (newFiles.length > 0) await readKnownIds();
  }
  return objects.map(({ object, shown }) => {
    const renamed = withOurIds(withoutPendingUsage(shown), object.id, idByUpstreamId);
    return object.kind === 'eval_run' ? runWithOurIds(renamed, object, shown) : renamed;
  });
}

/** A run with our id of its evaluation, also in the address of its report. */
function runWithOurIds(
  renamed: ShownObject,
  { id, upstreamId, purpose: evalId }: UpstreamObject,
  { eval_id: upstreamEvalId, report_url: address }: ShownObject,
): ShownObject {
  if (typeof address !== 'string') return { ...renamed, eval_id: evalId };
  const withRun = address.replaceAll(upstreamId, () => id);
  const report = typeof upstreamEvalId === 'string' ? withRun.replaceAll(upstreamEvalId, () => evalId ?? '') : withRun;
  return { ...renamed, eval_id: evalId, report_url: report };
}

/** Row of a file that a batch or a fine-tuning job made. Its content is read from the upstream later. */
function outputFileOf(
  scope: Scope<ObjectPlatform>,
  { kind: maker, deploymentId, owner }: UpstreamObject,
  upstreamId: string,
): UpstreamObject {
  const { ids, clock } = scope.platform;
  const id = objectId('file', ids.uuid());
  const createdAt = clock.now();
  const purpose = maker === 'fine_tuning_job' ? 'fine-tune-results' : 'batch_output';
  return { id, kind: 'file', deploymentId, upstreamId, owner, createdAt, purpose, shown: null };
}

/** A page of a list, as the caller sees it. */
export interface ShownPage {
  readonly data: readonly ShownObject[];
  readonly hasMore: boolean;
}

/** Maximum number of concurrent reads of the objects of a page. */
const CONCURRENCY = 8;

/**
 * A page of the objects of a kind that the caller may see. Objects that may have changed are read from their upstreams.
 */
export async function listObjects(
  scope: Scope<ObjectPlatform>,
  page: ObjectPage,
  readAction: ObjectAction,
): Promise<ShownPage> {
  const visibility = objectVisibilityOf(callerOf(scope));
  if (page.kind === 'container') await scope.platform.objectQueue.caughtUp();
  const found = await scope.platform.stores.upstreamObjects.list(visibility, { ...page, limit: page.limit + 1 });
  const objects = found.slice(0, page.limit);
  const states: { readonly object: UpstreamObject; readonly shown: ShownObject }[] = [];
  for (let from = 0; from < objects.length; from += CONCURRENCY) {
    const some = objects.slice(from, from + CONCURRENCY);
    const read = some.map(async (object) => ({ object, shown: await currentState(scope, object, readAction) }));
    states.push(...(await Promise.all(read)));
  }
  return { data: await shownObjects(scope, states), hasMore: found.length > page.limit };
}

/** The answer about one object, as the caller sees it. */
export async function shownCall(
  scope: Scope<ObjectPlatform>,
  object: UpstreamObject,
  { call, shown }: ShownCall,
): Promise<ShownCall> {
  const [withOwnIds = shown] = await shownObjects(scope, [{ object, shown }]);
  return { call, shown: withOwnIds };
}

/**
 * Stores the current state of an object. Records the spend of a batch or a run that has ended since the last read, if
 * its deployment is still configured. The usage is that of the upstream or of the output file. The state is stored
 * after that file is read and the records of the spend are committed. Before, a further read records it again. A run
 * without a reported usage stays open for `USAGE_WAIT_MS`.
 */
export async function storeState(scope: BackgroundScope, object: UpstreamObject, shown: ShownObject): Promise<void> {
  const { stores, gateway, records, clock } = scope.platform;
  const { id, kind, owner, userId, createdAt, labels, calls } = object;
  const batch = {
    id,
    owner,
    createdAt,
    ...(userId === undefined ? {} : { userId }),
    ...(labels === undefined ? {} : { labels }),
    ...(calls === undefined ? {} : { calls }),
  };
  // Later requests about a run find its evaluation in the stored state.
  const evalId = kind === 'eval_run' ? object.shown?.['eval_id'] : undefined;
  const save = (state: ShownObject): Promise<void> =>
    stores.upstreamObjects.saveState(id, {
      ...(kind === 'response' ? withoutContent(state) : state),
      ...(evalId === undefined ? {} : { eval_id: evalId }),
    });
  const deployment = gateway.deployment(object.deploymentId);
  const hasJustEnded = mayChange(kind, object.shown) && !mayChange(kind, shown);
  if (deployment !== null && isBilledLater(kind) && hasJustEnded) {
    const sinceMs = pendingSinceMs(object.shown);
    const uses = kind === 'eval_run' ? runUsesOf(shown) : await usesOf(scope, object, shown);
    if (uses === 'unread') return;
    if (uses.length > 0) {
      const endedAt = sinceMs === null ? batchEndOf(shown, clock.now()) : new Date(sinceMs);
      await gateway.recordBatch({ ...batch, kind, deployment, uses, endedAt });
      const isCommitted = await records.spendStored();
      if (!isCommitted) return;
    } else if (kind !== 'batch' && !reportsUsage(kind, shown)) {
      const nowMs = clock.now().getTime();
      const isLate = nowMs - (sinceMs ?? nowMs) > USAGE_WAIT_MS;
      if (!isLate) return await save(withPendingUsage(shown, sinceMs ?? nowMs));
    }
  }
  await save(shown);
}

/** Kinds whose cost is recorded when they have ended. */
const isBilledLater = (kind: ObjectKind): kind is EndedBatch['kind'] =>
  kind === 'batch' || kind === 'eval_run' || kind === 'response';

/** Age of a batch, in ms, from which a reported sum replaces an output file that cannot be read. */
const WAIT_FOR_OUTPUT_MS = 2 * 86_400_000;

/**
 * Usage of an ended batch. Its state may have a sum over all models, which is used for a batch of one model. For
 * several models, the lines of the output file are used, or the sum without a model where the file has no usage.
 * Without a sum, the lines are used for any number of models, and the usage is empty when there is no file. The usage
 * is `unread` while a needed file cannot be read.
 */
async function usesOf(
  scope: BackgroundScope,
  object: UpstreamObject,
  shown: ShownObject,
): Promise<readonly ModelUse[] | 'unread'> {
  if (object.kind === 'response') return [batchUseOf(shown, 1)].filter((use) => use !== null);
  const counted = object.calls === undefined ? null : allCalls(object.calls);
  const summed = batchUseOf(shown, counted?.requests);
  const hasSeveralModels = Object.keys(object.calls ?? {}).length > 1;
  if (summed !== null && !hasSeveralModels) return [summed];
  const uses = await usesOfOutput(scope, object, { shown, counted });
  if (summed === null) return uses;
  const ageMs = scope.platform.clock.now().getTime() - object.createdAt.getTime();
  if (uses === 'unread' && ageMs < WAIT_FOR_OUTPUT_MS) return 'unread';
  return uses === 'unread' || uses.length === 0 ? [{ ...summed, model: null }] : uses;
}

/** Usage of the lines of an output file. Empty without a file; `unread` while the file cannot be read. */
async function usesOfOutput(
  scope: BackgroundScope,
  object: UpstreamObject,
  { shown, counted }: { readonly shown: ShownObject; readonly counted: CountedCalls | null },
): Promise<readonly ModelUse[] | 'unread'> {
  const { output_file_id: fileId } = filesOf(shown);
  if (fileId === undefined) return [];
  const request = { action: READ_FILE, place: placeOf(scope, object), tail: `/${encodeURIComponent(fileId)}/content` };
  try {
    const call = await pass(scope, request, { callId: null, parent: null });
    // Lines of the file that report no usage count with this mean.
    const meanInputTokens = counted === null ? 0 : Math.ceil(counted.tokens / Math.max(1, counted.requests));
    return (await call.consume((output) => outputUseOf(output, meanInputTokens))) ?? [];
  } catch (failure) {
    scope.signal.throwIfAborted();
    // The output file was deleted, so the usage stays unknown.
    return failure instanceof UpstreamFailed && failure.upstreamStatus === 404 ? [] : 'unread';
  }
}

/** Current state of an object; the stored one when it can no longer change, or cannot be read from its upstream. */
export async function currentState(
  scope: BackgroundScope,
  object: UpstreamObject,
  readAction: ObjectAction,
): Promise<ShownObject> {
  const stored = object.shown ?? {
    id: object.upstreamId,
    object: OBJECT_MEMBERS[object.kind],
    purpose: object.purpose,
  };
  if (!mayChange(object.kind, object.shown)) return stored;
  try {
    const request = { action: readAction, place: placeOf(scope, object), tail: tailOf(object) };
    const { read } = await passForObject(scope, request, { callId: null, parent: null });
    await storeState(scope, object, read.shown);
    return read.shown;
  } catch (failure) {
    scope.signal.throwIfAborted();
    const isGone = failure instanceof UpstreamFailed && failure.upstreamStatus === 404;
    if (!isGone || (object.kind !== 'container' && object.kind !== 'response')) return stored;
    // An upstream removes expired objects. With a final status, later reads do not ask for it again.
    const expired = { ...withoutPendingUsage(stored), status: 'expired' };
    await storeState(scope, object, expired);
    return expired;
  }
}
