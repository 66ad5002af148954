import type { ProcessScheduler } from '../runtime/tasks/scheduler.ts';
import type { Log } from '../runtime/telemetry/log.ts';
import type { Settings } from '../runtime/settings/settings.ts';
import type { ShutdownStack } from './shutdown-stack.ts';

/** Objects that every step of the start uses. */
export interface StartContext {
  readonly settings: Settings;
  readonly log: Log;
  readonly scheduler: ProcessScheduler;
  readonly shutdown: ShutdownStack;
  /** State of the process that operations and transports read. */
  readonly state: {
    /** Whether the process is shutting down. */
    draining: boolean;
    /** Address of the server; empty before it listens. */
    url: string;
    /** Number of requests that are not answered yet. */
    openRequests: () => number;
  };
}
