import type { Caller } from '../../src/domain/caller.ts';
import type { Access } from './access.ts';
import type { Scope } from './scope.ts';

/** What an anonymous call counts against; a caller with a key is not counted. */
export type Allowance = 'catalog';

/** One thing the platform does for a caller, whichever door it came through. */
export interface Operation<Input, Result> {
  (scope: Scope, input: Input): Result;
  /** Verb-noun, unique. */
  readonly operation: string;
  readonly access: Access;
  readonly allowance: Allowance | null;
}

interface Declared<Input, Result> {
  readonly name: string;
  readonly access: Access;
  readonly run: (scope: Scope, input: Input) => Result;
}

const operations: Operation<never, unknown>[] = [];

/**
 * Declares an operation. Its access rule is data and runs first, always; `run` may rely on it. Operations
 * behind a rule that demands a credential find it with `callerOf`. One with an allowance charges an anonymous
 * request before it runs, once however many operations the request runs; that may take a look into the store.
 */
export function operation<Input, Result>(declared: Declared<Input, Result>): Operation<Input, Result>;
export function operation<Input, Result>(
  declared: Declared<Input, Result> & { readonly allowance: Allowance },
): Operation<Input, Result | Promise<Awaited<Result>>>;
export function operation<Input, Result>(
  declared: Declared<Input, Result> & { readonly allowance?: Allowance },
): Operation<Input, Result | Promise<Awaited<Result>>> {
  const { name, access, allowance = null } = declared;
  const start = (scope: Scope, input: Input): Result | Promise<Awaited<Result>> => {
    access.check(scope.caller);
    if (allowance === null || scope.caller !== null) return declared.run(scope, input);
    const charging = scope.client.chargeOnce(scope.platform.freeTier);
    return charging === undefined ? declared.run(scope, input) : runAfter(charging, scope, input);
  };
  async function runAfter(charging: Promise<void>, scope: Scope, input: Input): Promise<Awaited<Result>> {
    await charging;
    return await declared.run(scope, input);
  }
  const run = Object.assign(start, { operation: name, access, allowance });
  operations.push(run);
  return run;
}

/** Every declared operation, for the table of rights. */
export function allOperations(): readonly Operation<never, unknown>[] {
  return operations;
}

/** The caller of an operation whose access rule demands one. */
export function callerOf(scope: Pick<Scope, 'caller'>): Caller {
  if (scope.caller === null) throw new TypeError('The access rule of this operation lets anonymous callers in.');
  return scope.caller;
}
