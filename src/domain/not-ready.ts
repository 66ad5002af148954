import { Unavailable } from './errors.ts';

/** Why a process cannot serve. `stalled`: the database does not answer in time, or takes no writes. */
export type UnreadyState = 'shutting_down' | 'disconnected' | 'stalled';

/** The process cannot serve. */
export class NotReady extends Unavailable {
  readonly state: UnreadyState;
  constructor(state: UnreadyState, message: string, options?: ErrorOptions) {
    super(message, undefined, options);
    this.name = 'NotReady';
    this.state = state;
  }
}
