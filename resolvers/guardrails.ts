import { Conflict, NotFound } from '../src/domain/errors.ts';
import { type AppliedGuardrail, applyGuardrails } from '../src/domain/guardrails/apply.ts';
import type { GuardrailDefinition } from '../src/domain/guardrails/definition.ts';
import { type DescribedKind, KIND_DESCRIPTIONS } from '../src/domain/guardrails/kind-descriptions.ts';
import type { GuardrailDraft, GuardrailPatch } from '../src/domain/guardrails/stored-guardrail.ts';
import { anyKey, guardrailAdmin, guardrailViewer, isAnyAdmin, system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { GuardrailPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

const unknownGuardrail = (id: string): NotFound => new NotFound('guardrail', id, `Guardrail with ID ${id} not found`);

const definitionOf = ({ platform }: Scope<GuardrailPlatform>, id: string): GuardrailDefinition | undefined =>
  platform.guardrails.list().find((one) => one.id === id);

/** Throws Conflict for a guardrail of the configuration file. */
function assertNotOfFile(scope: Scope<GuardrailPlatform>, id: string): void {
  if (definitionOf(scope, id)?.isFromConfig !== true) return;
  throw new Conflict(`The guardrail ${id} is in the configuration file. Change it there.`);
}

/**
 * The guardrail as the caller sees it. Callers who are not administrators see only the kind, the modes and `default_on`
 * of the parameters.
 */
function visibleTo(isAdmin: boolean, one: GuardrailDefinition): GuardrailDefinition {
  if (isAdmin) return one;
  const { kind, modes, defaultOn } = one;
  return { ...one, params: { guardrail: kind, mode: modes, default_on: defaultOn } };
}

/**
 * Lists the guardrails of the configuration file. Callers who are not administrators see only the kind, the modes and
 * `default_on` of the parameters.
 */
export const listConfiguredGuardrails = operation({
  name: 'listConfiguredGuardrails',
  access: anyKey,
  run(scope: Scope<GuardrailPlatform>, _input: undefined): readonly GuardrailDefinition[] {
    const isAdmin = isAnyAdmin(callerOf(scope));
    const ofFile = scope.platform.guardrails.list().filter(({ isFromConfig }) => isFromConfig);
    return ofFile.map((one) => visibleTo(isAdmin, one));
  },
});

/** Lists all guardrails in the order in which they run. */
export const listGuardrails = operation({
  name: 'listGuardrails',
  access: guardrailViewer,
  run: ({ platform }: Scope<GuardrailPlatform>, _input: undefined): readonly GuardrailDefinition[] =>
    platform.guardrails.list(),
});

/** One guardrail by its id. Throws NotFound. */
export const getGuardrail = operation({
  name: 'getGuardrail',
  access: guardrailViewer,
  run(scope: Scope<GuardrailPlatform>, { id }: { readonly id: string }): GuardrailDefinition {
    const one = definitionOf(scope, id);
    if (one === undefined) throw unknownGuardrail(id);
    return one;
  },
});

/** Stores a guardrail. It runs immediately. Throws Conflict when its id or name is taken, and InvalidInput. */
export const createGuardrail = operation({
  name: 'createGuardrail',
  access: guardrailAdmin,
  async run(scope: Scope<GuardrailPlatform>, draft: GuardrailDraft): Promise<GuardrailDefinition> {
    const id = draft.id ?? scope.platform.ids.uuid();
    assertNotOfFile(scope, id);
    return await scope.platform.guardrails.add({ ...draft, id }, authored(scope));
  },
});

/** Changes a stored guardrail. Throws NotFound, Conflict and InvalidInput. */
export const updateGuardrail = operation({
  name: 'updateGuardrail',
  access: guardrailAdmin,
  async run(
    scope: Scope<GuardrailPlatform>,
    { id, patch }: { readonly id: string; readonly patch: GuardrailPatch },
  ): Promise<GuardrailDefinition> {
    assertNotOfFile(scope, id);
    const changed = await scope.platform.guardrails.change(id, patch, authored(scope));
    if (changed === null) throw unknownGuardrail(id);
    return changed;
  },
});

/** Deletes a stored guardrail. Calls of keys that still name it are refused. Throws NotFound and Conflict. */
export const deleteGuardrail = operation({
  name: 'deleteGuardrail',
  access: guardrailAdmin,
  async run(scope: Scope<GuardrailPlatform>, { id }: { readonly id: string }): Promise<GuardrailDefinition> {
    assertNotOfFile(scope, id);
    const removed = await scope.platform.guardrails.remove(id);
    if (removed === null) throw unknownGuardrail(id);
    return removed;
  },
});

/** Lists the kinds of guardrails that run here, with their settings. */
export const listGuardrailKinds = operation({
  name: 'listGuardrailKinds',
  access: guardrailViewer,
  run: (_scope: Scope<object>, _input: undefined): readonly DescribedKind[] => KIND_DESCRIPTIONS,
});

/** A content category by its name. This product has none. Throws NotFound. */
export const getGuardrailCategory = operation({
  name: 'getGuardrailCategory',
  access: guardrailViewer,
  run(_scope: Scope<object>, { name }: { readonly name: string }): never {
    throw new NotFound('category', name, `Category file not found: ${name} (tried .yaml and .json)`);
  },
});

/** Applies changes of stored guardrails by other processes. */
export const refreshGuardrails = operation({
  name: 'refreshGuardrails',
  access: system,
  run: ({ platform }: Scope<GuardrailPlatform>): Promise<void> => platform.guardrails.refresh(),
});

/**
 * Runs every guardrail with the given name on a text. Guardrails of other teams do not run, unless the caller is a
 * proxy administrator with full access. Only the configuration file can repeat a name: within itself, or that of a
 * stored guardrail. No model is called. Returns the edited text. Throws NotFound, Rejected, GuardrailFailed and
 * Unavailable.
 */
export const applyGuardrail = operation({
  name: 'applyGuardrail',
  access: anyKey,
  run(scope: Scope<GuardrailPlatform>, applied: AppliedGuardrail): Promise<string> {
    const { activeGuardrails, ids } = scope.platform;
    const run = { caller: callerOf(scope), callId: ids.uuid(), traceId: ids.traceId(), signal: scope.signal };
    return applyGuardrails(activeGuardrails.current(), applied, run);
  },
});

/** Result of code of a guardrail that a request sends. */
export interface CodeTest {
  readonly error: string;
}

/**
 * Refuses to run the code of a guardrail: this process runs no code of requests. Own checks are a server that the kind
 * `generic_guardrail_api` calls.
 */
export const testGuardrailCode = operation({
  name: 'testGuardrailCode',
  access: guardrailAdmin,
  run: (_scope: Scope<object>, _input: undefined): CodeTest => ({
    error:
      'Code of guardrails does not run here. Run it in a server of your own, and register the server as a guardrail of the kind generic_guardrail_api.',
  }),
});
