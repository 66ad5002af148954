import { UpstreamFailed } from '../../src/domain/errors.ts';
import { responseUseOf } from '../../src/domain/responses/usage.ts';
import { allCalls, type CountedCalls } from '../../src/domain/upstream-objects/batch-calls.ts';
import {
  batchUseOf,
  batchEndOf,
  type EndedBatch,
  type ModelUse,
  runUsesOf,
} from '../../src/domain/upstream-objects/batch-use.ts';
import {
  isReadDue,
  MAX_AWAITED_MS,
  MISSING_WAIT_MS,
  missingSinceMs,
  withMissing,
} from '../../src/domain/upstream-objects/missing-object.ts';
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
import { filesOf, mayChange } from '../../src/domain/upstream-objects/shown-object.ts';
import {
  type ObjectKind,
  OBJECT_MEMBERS,
  type ShownObject,
  type UpstreamObject,
} from '../../src/domain/upstream-objects/upstream-object.ts';
import { type BackgroundScope, pass, passForObject, placeOf, tailOf } from './object-calls.ts';

/** Stores a state of an object. A final state releases the expected cost. */
async function save({ platform }: BackgroundScope, { id, kind, shown }: UpstreamObject, state: ShownObject) {
  // Later requests about a run find its evaluation in the stored state.
  const evalId = kind === 'eval_run' ? shown?.['eval_id'] : undefined;
  await platform.stores.upstreamObjects.saveState(id, {
    ...(kind === 'response' ? withoutContent(state) : state),
    ...(evalId === undefined ? {} : { eval_id: evalId }),
  });
  if (isBilledLater(kind) && !mayChange(kind, state)) platform.gateway.openCosts.release(id);
}

/** The facts of an object that the record of its cost needs. */
const recordedOf = ({ id, owner, userId, createdAt, labels, calls }: UpstreamObject) => ({
  id,
  owner,
  createdAt,
  ...(userId === undefined ? {} : { userId }),
  ...(labels === undefined ? {} : { labels }),
  ...(calls === undefined ? {} : { calls }),
});

/**
 * Stores the current state of an object. Records the spend of a batch or a run that has ended since the last read, if
 * its deployment is still configured. The usage is that of the upstream or of the output file. The state is stored
 * after that file is read and the records of the spend are committed. Before, a further read records it again. A run
 * without a reported usage stays open for `USAGE_WAIT_MS`, and is then recorded without a cost.
 */
export async function storeState(scope: BackgroundScope, object: UpstreamObject, shown: ShownObject): Promise<void> {
  const { gateway, records, clock } = scope.platform;
  const { kind } = object;
  const deployment = gateway.deployment(object.deploymentId);
  const hasJustEnded = mayChange(kind, object.shown) && !mayChange(kind, shown);
  if (deployment !== null && isBilledLater(kind) && hasJustEnded) {
    const sinceMs = pendingSinceMs(object.shown);
    const uses = kind === 'eval_run' ? runUsesOf(shown) : await usesOf(scope, object, shown);
    if (uses === 'unread') return;
    if (uses === 'gone') return await closeUncharged(scope, object, { state: shown, reason: 'no output file' });
    if (uses.length > 0) {
      const endedAt = sinceMs === null ? batchEndOf(shown, clock.now()) : new Date(sinceMs);
      await gateway.recordBatch({ ...recordedOf(object), kind, deployment, uses, endedAt });
      const isCommitted = await records.spendStored();
      if (!isCommitted) return;
    } else if (kind !== 'batch' && !reportsUsage(kind, shown)) {
      const nowMs = clock.now().getTime();
      const isLate = nowMs - (sinceMs ?? nowMs) > USAGE_WAIT_MS;
      if (!isLate) return await save(scope, object, withPendingUsage(shown, sinceMs ?? nowMs));
      return await closeUncharged(scope, object, { state: shown, reason: 'no usage' });
    }
  }
  await save(scope, object, shown);
}

/**
 * Stores a final state of an object whose cost cannot be known. The call is recorded without a cost first, and logged.
 * While the record is not committed, the object stays open.
 */
async function closeUncharged(
  scope: BackgroundScope,
  object: UpstreamObject,
  { state, reason }: { readonly state: ShownObject; readonly reason: string },
): Promise<void> {
  const { gateway, records, clock } = scope.platform;
  const { kind, deploymentId } = object;
  if (!isBilledLater(kind)) return await save(scope, object, state);
  const deployment = gateway.deployment(deploymentId);
  gateway.recordUncharged({ ...recordedOf(object), kind, deployment, endedAt: clock.now(), reason });
  if (await records.spendStored()) await save(scope, object, state);
}

/** Kinds whose cost is recorded when they have ended. */
export const isBilledLater = (kind: ObjectKind): kind is EndedBatch['kind'] =>
  kind === 'batch' || kind === 'eval_run' || kind === 'response';

/**
 * Age of a batch, in ms, from which a reported sum replaces an output file that cannot be read. From then on, a missing
 * file is not read again. A batch takes up to a day, so its file may be missing for a day.
 */
const WAIT_FOR_OUTPUT_MS = 2 * 86_400_000;

const ageMsOf = ({ platform }: BackgroundScope, { createdAt }: UpstreamObject): number =>
  platform.clock.now().getTime() - createdAt.getTime();

/**
 * Usage of an ended batch. Its state may have a sum over all models, which is used for a batch of one model. For
 * several models, the lines of the output file are used, or the sum without a model where the file has no usage.
 * Without a sum, the lines are used for any number of models, and the usage is empty when there is no file. The usage
 * is `unread` while a needed file cannot be read, and `gone` when its upstream no longer has it.
 */
async function usesOf(
  scope: BackgroundScope,
  object: UpstreamObject,
  shown: ShownObject,
): Promise<readonly ModelUse[] | 'unread' | 'gone'> {
  if (object.kind === 'response') return [responseUseOf(shown)].filter((use) => use !== null);
  const counted = object.calls === undefined ? null : allCalls(object.calls);
  const summed = batchUseOf(shown, counted?.requests);
  const hasSeveralModels = Object.keys(object.calls ?? {}).length > 1;
  if (summed !== null && !hasSeveralModels) return [summed];
  const uses = await usesOfOutput(scope, object, { shown, counted });
  if (summed === null) return uses;
  if (uses === 'unread' && ageMsOf(scope, object) < WAIT_FOR_OUTPUT_MS) return 'unread';
  return typeof uses === 'string' || uses.length === 0 ? [{ ...summed, model: null }] : uses;
}

/**
 * Usage of the lines of an output file. Empty without a file; `unread` while the file cannot be read. It is `gone` when
 * its upstream answers 404 at the age `WAIT_FOR_OUTPUT_MS` of the batch, or fails at the age `MAX_AWAITED_MS`.
 */
async function usesOfOutput(
  scope: BackgroundScope,
  object: UpstreamObject,
  { shown, counted }: { readonly shown: ShownObject; readonly counted: CountedCalls | null },
): Promise<readonly ModelUse[] | 'unread' | 'gone'> {
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
    const waitMs = isMissing(failure) ? WAIT_FOR_OUTPUT_MS : MAX_AWAITED_MS;
    return ageMsOf(scope, object) >= waitMs ? 'gone' : 'unread';
  }
}

/** Whether an upstream does not know an object. */
const isMissing = (failure: unknown): boolean => failure instanceof UpstreamFailed && failure.upstreamStatus === 404;

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
  const nowMs = scope.platform.clock.now().getTime();
  if (!mayChange(object.kind, object.shown) || !isReadDue(object.shown, nowMs)) return stored;
  try {
    const request = { action: readAction, place: placeOf(scope, object), tail: tailOf(object) };
    const { read } = await passForObject(scope, request, { callId: null, parent: null });
    await storeState(scope, object, read.shown);
    return read.shown;
  } catch (failure) {
    scope.signal.throwIfAborted();
    return await unreadState(scope, object, { stored, isMissing: isMissing(failure) });
  }
}

/**
 * State of an object that cannot be read. An upstream removes an expired container, which then gets a final status. An
 * object whose cost is awaited may be missing for `MISSING_WAIT_MS`, and unreadable until the age `MAX_AWAITED_MS`.
 */
async function unreadState(
  scope: BackgroundScope,
  object: UpstreamObject,
  { stored, ...about }: { readonly stored: ShownObject; readonly isMissing: boolean },
): Promise<ShownObject> {
  const { kind } = object;
  const expired = { ...withoutPendingUsage(stored), status: 'expired' };
  if (!isBilledLater(kind)) {
    if (!about.isMissing || kind !== 'container') return stored;
    await storeState(scope, object, expired);
    return expired;
  }
  const nowMs = scope.platform.clock.now().getTime();
  const isMissingTooLong = about.isMissing && nowMs - (missingSinceMs(stored) ?? nowMs) >= MISSING_WAIT_MS;
  if (isMissingTooLong || ageMsOf(scope, object) >= MAX_AWAITED_MS) {
    const reason = about.isMissing ? 'missing at its upstream' : 'not readable at its upstream';
    await closeUncharged(scope, object, { state: expired, reason });
    return expired;
  }
  if (about.isMissing) await save(scope, object, withMissing(stored, nowMs));
  return stored;
}
