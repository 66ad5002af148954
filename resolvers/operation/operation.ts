import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden } from '../../src/domain/errors.ts';
import { TraceSender } from '../../src/domain/lens/trace-sender.ts';
import type { Access } from './access.ts';
import type { FreeTierPlatform } from './catalog-platform.ts';
import type { Platform, Scope } from './scope.ts';

/** Quota that anonymous requests are charged to. Requests with a key are not charged. */
export type Allowance = 'catalog';

/**
 * One action of the platform for a caller, the same for every transport. `Slice` is the part of the platform that the
 * action uses.
 */
export interface Operation<Input, Result, Slice = Platform> {
  (scope: Scope<Slice>, input: Input): Result;
  /** Verb and noun in camel case, unique. */
  readonly operation: string;
  readonly access: Access;
  readonly allowance: Allowance | null;
}

interface Declared<Input, Result, Slice> {
  readonly name: string;
  readonly access: Access;
  readonly run: (scope: Scope<Slice>, input: Input) => Result;
}

const operations: Operation<never, unknown, never>[] = [];

/**
 * Declares an operation. Its access rule is checked before `run`. Tracing keys are refused unless the rule admits them.
 * When the rule requires a credential, `callerOf` returns the caller. `run` declares its slice of the platform in the
 * type of its scope. Without a declared slice, it receives no part of the platform. An operation with an allowance
 * charges an anonymous request before it runs, once for all operations of the request. The charge may read the store.
 */
export function operation<Input, Result, Slice = object>(
  declared: Declared<Input, Result, Slice>,
): Operation<Input, Result, Slice>;
export function operation<Input, Result, Slice = object>(
  declared: Declared<Input, Result, Slice> & { readonly allowance: Allowance },
): Operation<Input, Result | Promise<Awaited<Result>>, Slice & FreeTierPlatform>;
export function operation<Input, Result, Slice = object>(
  declared: Declared<Input, Result, Slice> & { readonly allowance?: Allowance },
): Operation<Input, Result | Promise<Awaited<Result>>, Slice & FreeTierPlatform> {
  type OwnScope = Scope<Slice & FreeTierPlatform>;
  const { name, access, allowance = null } = declared;
  const start = (scope: OwnScope, input: Input): Result | Promise<Awaited<Result>> => {
    if (scope.caller instanceof TraceSender && access.admitsTraceSenders !== true)
      throw new Forbidden('This key may only send traces.', 'route');
    checkAccess(access, scope.caller);
    if (allowance === null || scope.caller !== null) return declared.run(scope, input);
    // Undefined when the charge is already complete.
    const charging = scope.client.chargeOnce(scope.platform.freeTier);
    return charging === undefined ? declared.run(scope, input) : runAfter(charging, scope, input);
  };
  async function runAfter(charging: Promise<void>, scope: OwnScope, input: Input): Promise<Awaited<Result>> {
    await charging;
    return await declared.run(scope, input);
  }
  const run = Object.assign(start, { operation: name, access, allowance });
  operations.push(run);
  return run;
}

/** Checks an access rule. A Forbidden error gets the description of the rule as `allowedCallers`. */
function checkAccess(access: Access, caller: Caller | null): void {
  try {
    access.check(caller);
  } catch (error) {
    if (error instanceof Forbidden) error.allowedCallers = access.description;
    throw error;
  }
}

/** Every declared operation, for the table of access rules. */
export function allOperations(): readonly Operation<never, unknown, never>[] {
  return operations;
}

/** The caller of an operation whose access rule requires one. */
export function callerOf(scope: Pick<Scope, 'caller'>): Caller {
  if (scope.caller === null)
    throw new TypeError(
      'callerOf needs an access rule that requires a credential. The rule of this operation admits anonymous callers.',
    );
  return scope.caller;
}
