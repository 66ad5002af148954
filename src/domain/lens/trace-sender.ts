import type { Caller } from '../caller.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { TracingKey } from './tracing-key.ts';

/** Caller with a tracing key, which may only send traces. */
export class TraceSender implements Caller {
  readonly role = 'internal_user';
  readonly keyHash: string;
  /** A tracing key is not a virtual key. */
  readonly key = null;
  readonly teamId: string | null;
  readonly userId: string | null;

  constructor({ tokenHash, teamId, userId }: TracingKey) {
    this.keyHash = tokenHash;
    this.teamId = nullIfBlank(teamId);
    this.userId = nullIfBlank(userId);
  }
}
