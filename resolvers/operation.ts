import type { Caller } from '../src/domain/caller.ts';
import type { Access } from './access.ts';
import type { Scope } from './scope.ts';

/** One thing the platform does for a caller, whichever door it came through. */
export interface Operation<Input, Result> {
  (scope: Scope, input: Input): Result;
  /** Verb-noun, unique. */
  readonly operation: string;
  readonly access: Access;
}

const operations: Operation<never, unknown>[] = [];

/**
 * Declares an operation. Its access rule is data and runs first, always; `run` may rely on it. Operations
 * behind a rule that demands a credential find it with `callerOf`.
 */
export function operation<Input, Result>(declared: {
  readonly name: string;
  readonly access: Access;
  readonly run: (scope: Scope, input: Input) => Result;
}): Operation<Input, Result> {
  const run = Object.assign(
    (scope: Scope, input: Input): Result => {
      declared.access.check(scope.caller);
      return declared.run(scope, input);
    },
    { operation: declared.name, access: declared.access },
  );
  operations.push(run);
  return run;
}

/** Every declared operation, for the table of rights. */
export function allOperations(): readonly Operation<never, unknown>[] {
  return operations;
}

/** The caller of an operation whose access rule demands one. */
export function callerOf(scope: Scope): Caller {
  if (scope.caller === null) throw new TypeError('The access rule of this operation lets anonymous callers in.');
  return scope.caller;
}
