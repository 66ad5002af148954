import { createLoaders } from '../../resolvers/operation/loaders.ts';
import type { Platform, Scope } from '../../resolvers/operation/scope.ts';
import type { ChangeAuthor } from '../domain/audit-log/audit-entry.ts';
import { Client } from '../domain/free-tier/client.ts';
import { SystemCaller } from '../domain/system-caller.ts';
import { systemClock } from '../runtime/clock.ts';

/** The scope of a background task. Rows that the task writes name `task` in place of a key hash. */
export function systemScope(platform: Platform, task: string, signal: AbortSignal): Scope {
  const caller = new SystemCaller(task);
  return { platform, caller, client: new Client('', null), signal, loaders: createLoaders(platform.stores, caller) };
}

/** Author in the audit log of changes by background work, sign-ins and signed tokens. */
export function systemAuthor(task: string): ChangeAuthor {
  const by = `system: ${task}`;
  return { by, actor: by, keyHash: null, at: systemClock.now() };
}
