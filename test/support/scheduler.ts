import { createScheduler, type ProcessScheduler } from '../../src/runtime/tasks/scheduler.ts';

/** The real scheduler. Its warnings are dropped. */
export const aScheduler = (): ProcessScheduler => createScheduler({ warn() {} });
