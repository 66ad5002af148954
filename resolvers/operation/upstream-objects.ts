import { withKeyTags } from '../../src/domain/calls/call-tags.ts';
import { withTokenCustomer } from '../../src/domain/calls/token-customer.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { BatchCalls } from '../../src/domain/upstream-objects/batch-calls.ts';
import type { ObjectAction } from '../../src/domain/upstream-objects/object-action.ts';
import { withoutPendingUsage } from '../../src/domain/upstream-objects/pending-usage.ts';
import { filesOf, type ReadObject, sourcesOf, withOurIds } from '../../src/domain/upstream-objects/shown-object.ts';
import {
  type ObjectKind,
  newObjectId,
  objectId,
  type ObjectPage,
  type ShownObject,
  type UpstreamObject,
} from '../../src/domain/upstream-objects/upstream-object.ts';
import type { CallFacts, ObjectCall, ShownCall } from './object-calls.ts';
import { objectOwnerOf, objectVisibilityOf } from './object-owners.ts';
import { currentState, isBilledLater } from './object-states.ts';
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
  const { stores, ids, clock, gateway } = scope.platform;
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
    ...(isRecordedLater ? { openCost: gateway.openCosts.ofBatch(place.deployment.id, calls) } : {}),
  };
  if (isRecordedLater) gateway.openCosts.hold(caller.key, object);
  try {
    await stores.upstreamObjects.add(object);
  } catch (failure) {
    if (isRecordedLater) gateway.openCosts.release(object.id);
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
