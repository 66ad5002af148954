import { Conflict, InvalidInput, NotFound, Unavailable } from '../src/domain/errors.ts';
import { assertUsable, type VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { assertTextLengths, MAX_WORKER_NAME } from '../src/domain/lens/text-limits.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { BUILT_IN_WORKER, type LensWorker, RUN_JOB, UnknownWorker } from '../src/domain/lens/worker.ts';
import { LensWorkerCaller } from '../src/domain/lens/worker-caller.ts';
import { issueKey } from './operation/key-issue.ts';
import { anyone, system } from './operation/access.ts';
import { lensAdmin } from './operation/lens-access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { KeyPlatform, LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Alias of the virtual key that pays for the worker of this process. */
const ANALYSIS_KEY_ALIAS = 'lens-analysis';
/** `lastSeen` of a worker that has sent no request. */
const NEVER = new Date(0);
/** Maximum number of running jobs that are searched for those of a worker. */
const MAX_RUNNING_JOBS = 1_000;

/**
 * The key that will pay for analysis. Throws InvalidInput for an unknown, deleted, blocked or expired key, and for the
 * key of a session, which expires soon.
 */
async function payingKey({ platform }: Scope<LensPlatform>, id: string): Promise<VirtualKey> {
  const refusal = 'Choose an active virtual key for Lens analysis';
  const [key] = await platform.stores.keys.findMany([id]);
  if (key === undefined || key.deletedAt !== null || key.metadata['session'] === true) throw new InvalidInput(refusal);
  try {
    assertUsable(key, platform.clock.now());
  } catch (cause) {
    throw new InvalidInput(refusal, [], { cause });
  }
  return key;
}

/** A worker with its token, which cannot be read again. */
export interface RegisteredWorker {
  readonly worker: LensWorker;
  /** Empty for a managed worker. */
  readonly token: string;
}

export interface NewWorker {
  readonly name: string;
  readonly analysisKeyId: string;
  /** Whether the worker is part of the operator's trace service, and sends the token of the service. */
  readonly managed: boolean;
}

/**
 * Registers the worker of the operator's trace service, or changes its name and key when it is registered. Throws
 * Unavailable when no service is configured.
 */
async function registerManaged(scope: Scope<LensPlatform>, name: string, key: VirtualKey): Promise<RegisteredWorker> {
  const { stores, ids, lensService } = scope.platform;
  if (lensService === null) throw new Unavailable('Configure the Lens service connection', null);
  const { tokenHash } = lensService;
  const { now, by } = authored(scope);
  const settings = { name, analysisKeyId: key.hash, revoked: false };
  /** Changes the registered worker; null where none is registered. */
  async function changed(): Promise<LensWorker | null> {
    const [known] = await stores.lensWorkers.all({ tokenHash });
    if (known === undefined) return null;
    const change = await stores.lensWorkers.change(known.id, (worker) => ({
      ...worker,
      ...settings,
      updatedAt: now,
      updatedBy: by,
    }));
    return change?.after ?? null;
  }
  async function added(): Promise<LensWorker> {
    const worker = { ...newStamps(authored(scope)), ...settings, id: ids.uuid(), tokenHash, lastSeen: NEVER };
    await stores.lensWorkers.add(worker);
    return worker;
  }
  const registered = await changed();
  if (registered !== null) return { worker: registered, token: '' };
  const worker = await added().catch(async (failure: unknown) => {
    // Another request may have registered the worker meanwhile.
    const other = failure instanceof Conflict ? await changed() : null;
    if (other === null) throw failure;
    return other;
  });
  return { worker, token: '' };
}

/**
 * Registers a worker on another machine. Throws InvalidInput for an unknown, deleted, blocked or expired key, and for
 * an empty or too long name. Throws Unavailable for a managed worker without a trace service.
 */
export const registerLensWorker = operation({
  name: 'registerLensWorker',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, { name, analysisKeyId, managed }: NewWorker): Promise<RegisteredWorker> {
    const { stores, ids, keyGenerator } = scope.platform;
    assertTextLengths([{ name: 'name', text: name, min: 1, max: MAX_WORKER_NAME }]);
    const key = await payingKey(scope, analysisKeyId);
    if (managed) return registerManaged(scope, name, key);
    const token = `lens-${keyGenerator.token()}${keyGenerator.token()}`;
    const worker: LensWorker = {
      ...newStamps(authored(scope)),
      id: ids.uuid(),
      name,
      tokenHash: keyGenerator.hash(token),
      analysisKeyId: key.hash,
      lastSeen: NEVER,
      revoked: false,
    };
    await stores.lensWorkers.add(worker);
    return { worker, token };
  },
});

const unknownWorker = (id: string): NotFound => new NotFound('worker', id, 'Worker not found');

/** Sets the key that pays for a worker. Throws NotFound, InvalidInput, and Conflict for a revoked worker. */
export const assignAnalysisKey = operation({
  name: 'assignAnalysisKey',
  access: lensAdmin,
  async run(
    scope: Scope<LensPlatform>,
    { id, analysisKeyId }: { readonly id: string; readonly analysisKeyId: string },
  ): Promise<LensWorker> {
    const { stores } = scope.platform;
    if ((await stores.lensWorkers.find(id)) === null) throw unknownWorker(id);
    const key = await payingKey(scope, analysisKeyId);
    const { now, by } = authored(scope);
    const done = await stores.lensWorkers.change(id, (worker) => {
      if (worker.revoked) throw new Conflict('Register a new worker instead of updating revoked access');
      return { ...worker, analysisKeyId: key.hash, updatedAt: now, updatedBy: by };
    });
    if (done === null) throw unknownWorker(id);
    return done.after;
  },
});

/** Revokes a worker's access. The row of the worker stays. Throws NotFound, and Conflict while the worker has a run. */
export const revokeLensWorker = operation({
  name: 'revokeLensWorker',
  access: lensAdmin,
  async run(scope: Scope<LensPlatform>, { id }: { readonly id: string }): Promise<LensWorker> {
    const { stores, clock } = scope.platform;
    const now = clock.now();
    const running = await stores.jobs.list({ kind: RUN_JOB, status: 'running' }, MAX_RUNNING_JOBS);
    // `dueAt` of a running job is the end of its lease.
    if (running.some((job) => job.workerId === id && job.dueAt > now))
      throw new Conflict("Wait for this worker's investigation to finish or cancel it before revoking access");
    const authorship = authored(scope);
    const done = await stores.lensWorkers.change(id, (worker) => ({
      ...worker,
      revoked: true,
      updatedAt: authorship.now,
      updatedBy: authorship.by,
    }));
    if (done === null) throw unknownWorker(id);
    return done.after;
  },
});

/** The worker of a token. Throws UnknownWorker. */
export const findLensWorker = operation({
  name: 'findLensWorker',
  access: anyone,
  async run({ platform }: Scope<LensPlatform>, token: string): Promise<LensWorkerCaller> {
    const [worker] = await platform.stores.lensWorkers.all({ tokenHash: platform.keyGenerator.hash(token) });
    if (worker === undefined || worker.revoked) throw new UnknownWorker();
    return new LensWorkerCaller(worker);
  },
});

/** Whether a run waits for a worker: queued, lost, or due by its schedule. */
export const checkLensWork = operation({
  name: 'checkLensWork',
  access: system,
  async run({ platform }: Scope<LensPlatform>, _input: undefined): Promise<boolean> {
    const { stores, clock } = platform;
    const now = clock.now();
    return (await stores.jobs.hasDue(RUN_JOB, now)) || (await stores.lenses.due(now, 1)).length > 0;
  },
});

/**
 * Removes cached reviews, paid answers and ended jobs from before an instant, at most `limit` of each. Resolves to the
 * larger of the two numbers that the stores of lenses and jobs report.
 */
export const removeExpiredLensWork = operation({
  name: 'removeExpiredLensWork',
  access: system,
  async run(
    { platform }: Scope<LensPlatform>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> {
    const { lenses, jobs } = platform.stores;
    const before = new Date(beforeMs);
    return Math.max(await lenses.removeBefore(before, limit), await jobs.removeEndedBefore(before, limit));
  },
});

/**
 * Hash of the key that pays for this process's worker: the key with the alias `lens-analysis`, or a new key. The secret
 * of a new key is not used.
 */
async function analysisKey(scope: Scope<LensPlatform & KeyPlatform>): Promise<string> {
  const [known] = await scope.platform.stores.keys.findAliases([ANALYSIS_KEY_ALIAS]);
  if (known !== undefined) return known.hash;
  const { row } = await issueKey(scope, {
    key: null,
    alias: ANALYSIS_KEY_ALIAS,
    role: 'internal_user',
    teamId: null,
    userId: null,
    models: [],
    maxBudget: null,
    duration: null,
    metadata: {},
  });
  return row.hash;
}

/**
 * The worker of this process. The first use creates it with its key. Null when it was revoked, or while another process
 * creates it.
 */
export const openBuiltInWorker = operation({
  name: 'openBuiltInWorker',
  access: system,
  async run(scope: Scope<LensPlatform & KeyPlatform>, _input: undefined): Promise<LensWorkerCaller | null> {
    const { lensWorkers } = scope.platform.stores;
    const known = await lensWorkers.find(BUILT_IN_WORKER);
    if (known !== null) return known.revoked ? null : new LensWorkerCaller(known);
    try {
      const worker: LensWorker = {
        ...newStamps(authored(scope)),
        id: BUILT_IN_WORKER,
        name: 'Built-in worker',
        tokenHash: null,
        analysisKeyId: await analysisKey(scope),
        lastSeen: NEVER,
        revoked: false,
      };
      await lensWorkers.add(worker);
      return new LensWorkerCaller(worker);
    } catch (error) {
      if (error instanceof Conflict) return null;
      throw error;
    }
  },
});
