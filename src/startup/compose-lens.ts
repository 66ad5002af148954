import { lensBackend } from './lens-backend.ts';
import { checkLensWork, openBuiltInWorker } from '../../resolvers/lens-workers.ts';
import { createLoaders } from '../../resolvers/operation/loaders.ts';
import type { LensPlatform } from '../../resolvers/operation/platform.ts';
import type { Platform, Scope } from '../../resolvers/operation/scope.ts';
import type { Authorship } from '../domain/audit-log/audit-entry.ts';
import type { Caller } from '../domain/caller.ts';
import { Client } from '../domain/free-tier/client.ts';
import type { LensWorkerCaller } from '../domain/lens/worker-caller.ts';
import type { LensBackend } from '../domain/lens/worker.ts';
import { SystemCaller } from '../domain/system-caller.ts';
import { systemClock } from '../runtime/clock.ts';
import { keyGenerator } from '../runtime/identifiers.ts';
import { createWorkerLoop, type WorkerLoop } from '../runtime/lens/worker-loop.ts';
import { secretCheck } from '../runtime/same-secret.ts';
import type { StartContext } from './context.ts';
import { systemAuthor } from './system-scope.ts';

const MS_PER_SECOND = 1_000;
/** Name of the worker as the author of rows. */
const TASK = 'lens-worker';

/** Check and hash of the token of the operator's trace service; null when no token is configured. */
export function composeLensService({ settings }: Pick<StartContext, 'settings'>): LensPlatform['lensService'] {
  const { serviceToken } = settings.lens;
  if (serviceToken === null) return null;
  return { isToken: secretCheck(serviceToken), tokenHash: keyGenerator.hash(serviceToken.reveal()) };
}

/**
 * The lens worker of this process. Its row and its key are created when the first lens run is due. The audit log names
 * the worker as the author of the key.
 */
export function composeLensWorker(
  { settings, scheduler, log }: Pick<StartContext, 'settings' | 'scheduler' | 'log'>,
  platform: Platform,
  authorship: Authorship,
): WorkerLoop {
  const scopeFor = (caller: Caller, signal: AbortSignal): Scope => ({
    platform,
    caller,
    client: new Client('', null),
    signal,
    loaders: createLoaders(platform.stores, caller),
  });
  let worker: LensWorkerCaller | null = null;
  const systemCaller = new SystemCaller(TASK);
  const operations = lensBackend((signal) => scopeFor(worker ?? systemCaller, signal));
  let checking: Promise<boolean> | null = null;
  /** One check for all slots that ask while it runs. Idle slots wait equally long, and so ask at the same time. */
  const isWorkDue = (scope: Scope): Promise<boolean> => {
    checking ??= checkLensWork(scope, undefined).finally(() => {
      checking = null;
    });
    return checking;
  };
  const backend: LensBackend = {
    ...operations,
    async claim(signal) {
      const scope = scopeFor(systemCaller, signal);
      if (!(await isWorkDue(scope))) return null;
      // Read for each claim, because the key of the worker may have changed or been revoked.
      const opened = await authorship.by(systemAuthor(TASK), () => openBuiltInWorker(scope, undefined));
      if (opened === null) return null;
      worker = opened;
      return operations.claim(signal);
    },
  };
  const { workerSlots: slots, pollSeconds } = settings.lens;
  return createWorkerLoop({ backend, slots, pollMs: pollSeconds * MS_PER_SECOND, clock: systemClock, scheduler, log });
}
