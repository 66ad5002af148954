import type { Caller } from '../caller.ts';
import type { LensWorker } from './worker.ts';

/** A worker of lens runs as a caller. It has no virtual key and none of the rights of a key. */
export class LensWorkerCaller implements Caller {
  readonly role = 'internal_user_viewer';
  /** Used in place of a key hash. */
  readonly keyHash: string;
  readonly key = null;
  readonly teamId = null;
  readonly userId = null;
  readonly worker: LensWorker;

  constructor(worker: LensWorker) {
    this.keyHash = `lens-worker:${worker.id}`;
    this.worker = worker;
  }
}
