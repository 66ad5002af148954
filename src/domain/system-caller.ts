import type { Caller } from './caller.ts';

/** The process itself, which runs background work. No credential has this identity. */
export class SystemCaller implements Caller {
  readonly role = 'proxy_admin';
  /** Name of the task. The rows that the task writes have it instead of a key hash. */
  readonly keyHash: string;
  readonly key = null;
  readonly teamId = null;
  readonly userId = null;

  constructor(task: string) {
    this.keyHash = task;
  }
}
