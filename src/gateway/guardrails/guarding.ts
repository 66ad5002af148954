import type { Caller } from '../../domain/caller.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError, GuardrailFailed, GuardrailMissing, Rejected } from '../../domain/errors.ts';
import type { GuardrailMode } from '../../domain/guardrails/definition.ts';
import { guardrailEntryOf, type GuardrailEntry } from '../../domain/guardrails/entry.ts';
import {
  type ActiveGuardrail,
  type ActiveGuardrails,
  type GuardedText,
  hasMode,
  type InspectedTools,
  type Inspection,
  type Verdict,
} from '../../domain/guardrails/guardrail.ts';
import { callerGuardrailsOf } from '../../domain/guardrails/key-guardrails.ts';
import {
  checkedVerdict,
  inspectedBy,
  withUncheckedTexts,
  WRONG_COUNT,
} from '../../domain/guardrails/inspected-texts.ts';
import { rejection } from '../../domain/guardrails/rejection.ts';
import { selectedGuardrails } from '../../domain/guardrails/selection.ts';
import type { AppliedPolicy, FailedCall } from '../../domain/chat/failed-call.ts';
import type { MatchedPolicy, PolicyBook } from '../../domain/policies/policy-book.ts';
import { guardrailsOfPolicies } from '../../domain/policies/policy-book.ts';
import { policiesOfCall, type PolicySelection } from './call-policies.ts';
import { pipelinesOf, type RunnableGuardrail, runPipeline } from './pipelines.ts';

/** Facts by which the guardrails of a call are selected. */
interface GuardSelection extends PolicySelection {
  /** Names in the request; none when absent. */
  readonly named?: readonly string[];
  /** Names of a pass-through path or a deployment; none when absent. */
  readonly configured?: readonly string[];
  /** Only the guardrails of `configured` run, not those of the key and those that run on every call. */
  readonly configuredOnly?: true;
  /** Whether the texts are those of an embedding request. */
  readonly isEmbedding?: boolean;
}

/** Ids and abort signal of a call. */
export interface RunningCall {
  readonly callId: string;
  readonly traceId: string;
  readonly signal: AbortSignal;
  /** Reads the tools of the request or of the answer that is checked; absent where there are none. */
  readonly tools?: () => InspectedTools;
}

/** Result of all guardrails of one mode. */
interface Checked {
  /** One text for each checked text. */
  readonly texts: readonly string[];
  readonly isEdited: boolean;
}

/** The guardrails of one call. */
export interface CallGuard {
  readonly caller: Caller;
  /** Names of the guardrails that run on the call, each once. Those that only mask records are left out. */
  readonly applied: readonly string[];
  /** Runs so far, in the order of their ends. */
  readonly entries: readonly GuardrailEntry[];
  /** Policies that apply to the call, in their order. */
  readonly policies: readonly AppliedPolicy[];
  /** Whether no guardrail is selected. */
  isIdle(): boolean;
  has(mode: GuardrailMode): boolean;
  /** Whether a guardrail checks the request, before or during the call. */
  checksRequest(): boolean;
  /**
   * Whether all guardrails have checked the request before the call, so that its texts have all masks. The last one may
   * have blocked it. A check that fails, or that ends before its last guardrail, stays open.
   */
  isRequestChecked(): boolean;
  /** Opens another check of the request, for example by the guardrails of a deployment. */
  beginRequestCheck(): void;
  /** Closes a check of the request. */
  endRequestCheck(): void;
  /** Guardrails of a mode. */
  of(mode: GuardrailMode): readonly ActiveGuardrail[];
  /** Whether a guardrail of a mode checks tools. */
  readsTools(mode: GuardrailMode): boolean;
  /**
   * Runs the guardrails of a mode in order, each with the texts that the one before edited. Throws Rejected,
   * GuardrailFailed and Unavailable. With `recorded` set to `failures`, only runs that block or fail have an entry.
   * `onEdit` receives the texts after each edit, even if a later guardrail throws.
   */
  check(
    mode: GuardrailMode,
    texts: readonly GuardedText[],
    call: RunningCall,
    recorded?: 'all' | 'failures',
    onEdit?: (texts: readonly string[]) => void,
  ): Promise<Checked>;
  /** Runs the guardrails of a mode in parallel and drops their edits. `recorded` and failures are as of `check`. */
  checkAtOnce(
    mode: GuardrailMode,
    texts: readonly GuardedText[],
    call: RunningCall,
    recorded?: 'all' | 'failures',
  ): Promise<void>;
  /**
   * Adds guardrails that a deployment names, and the policies of its model where it is not the model of the request, as
   * of a fallback. Returns the names of the guardrails for that deployment. Throws as `Guards.open`.
   */
  add(names: readonly string[], model: string): readonly string[];
  /** A guard of the same call with only the guardrails of these names. */
  only(names: readonly string[]): CallGuard;
}

/** Selects and runs guardrails. */
export interface Guards {
  /** Whether neither a guardrail nor a policy is configured. */
  isIdle(): boolean;
  hasPolicies(): boolean;
  /**
   * The guardrails of a call. Throws InvalidInput for an unknown name of the request, and GuardrailMissing for any
   * other unknown name.
   */
  open(selection: GuardSelection): CallGuard;
}

const NO_NAMES: readonly string[] = [];
const NO_POLICIES: readonly MatchedPolicy[] = [];
const PASSED: Verdict = { kind: 'passed' };
/** Modes whose guardrails read the request. */
const REQUEST_MODES = ['pre_call', 'during_call'] as const;

/** Guardrails and policies of calls; none when absent. */
export interface GuardOptions {
  readonly guardrails?: ActiveGuardrails;
  readonly policies?: { book(): PolicyBook };
}

/** Returns null where no guardrail can run. */
export const createGuards = ({
  guardrails,
  policies,
  clock,
}: GuardOptions & { readonly clock: Clock }): Guards | null =>
  guardrails === undefined ? null : guardsOver(guardrails, clock, policies);

function guardsOver(active: ActiveGuardrails, clock: Clock, policies: GuardOptions['policies']): Guards {
  const policiesFor = (selection: GuardSelection): readonly MatchedPolicy[] =>
    policies === undefined || selection.configuredOnly ? NO_POLICIES : policiesOfCall(policies.book(), selection);

  function guardOf(
    selection: GuardSelection,
    selected: readonly RunnableGuardrail[],
    { entries, matched }: { readonly entries: GuardrailEntry[]; readonly matched: readonly MatchedPolicy[] },
  ): CallGuard {
    const inspects = (one: ActiveGuardrail): boolean => selection.isEmbedding !== true || one.inspectsEmbeddings;
    const usable = selected.filter(inspects);
    const applied = namesThatRun(usable);
    const of = (mode: GuardrailMode): readonly RunnableGuardrail[] => usable.filter((one) => hasMode(one, mode));
    const checksRequest = (): boolean => REQUEST_MODES.some((mode) => usable.some((one) => hasMode(one, mode)));
    const shown = matched.map(({ name, via }): AppliedPolicy => ({ name, via }));
    let openRequestChecks = usable.some((one) => hasMode(one, 'pre_call')) ? 1 : 0;

    function record(one: ActiveGuardrail, mode: GuardrailMode, verdict: Verdict | null, startMs: number): void {
      const durationMs = clock.monotonicMs() - startMs;
      entries.push(guardrailEntryOf(one, { mode, verdict, durationMs, startedAt: clock.now().getTime() - durationMs }));
    }

    async function run(
      one: RunnableGuardrail,
      mode: GuardrailMode,
      texts: readonly GuardedText[],
      running: RunningCall,
      recorded: 'all' | 'failures' = 'all',
    ): Promise<Verdict> {
      const { callId, traceId, signal, tools } = running;
      if (one.pipeline !== undefined)
        return runPipeline(one.pipeline, texts, (step, current) =>
          inspects(step) ? run(step, mode, current, running, recorded) : Promise.resolve(PASSED),
        );
      const inspected = inspectedBy(one, texts);
      const startMs = clock.monotonicMs();
      if (inspected.length === 0 && one.guardrail.readsTools !== true) return { kind: 'passed' };
      const phase = mode === 'post_call' ? 'response' : 'request';
      const inspection: Inspection = {
        phase,
        texts: inspected,
        model: selection.model,
        callId,
        traceId,
        caller: selection.caller,
        signal,
        tools,
      };
      let verdict: Verdict | null = null;
      try {
        verdict = checkedVerdict(await one.guardrail.check(inspection), inspected);
      } catch (failure) {
        if (signal.aborted && !(failure instanceof DomainError)) throw signal.reason;
        record(one, mode, null, startMs);
        throw failure;
      }
      if (recorded === 'all' || verdict.kind === 'blocked') record(one, mode, verdict, startMs);
      if (verdict.kind === 'blocked') throw rejection(one, mode, verdict.detail);
      return withUncheckedTexts(verdict, texts, inspected);
    }

    const guard: CallGuard = {
      caller: selection.caller,
      applied,
      entries,
      policies: shown,
      of,
      readsTools: (mode) => of(mode).some(checksTools),
      isIdle: () => usable.length === 0,
      has: (mode) => usable.some((one) => hasMode(one, mode)),
      checksRequest,
      isRequestChecked: () => openRequestChecks === 0,
      beginRequestCheck() {
        openRequestChecks += 1;
      },
      endRequestCheck() {
        openRequestChecks -= 1;
      },
      async check(mode, texts, call, recorded, onEdit) {
        let current = texts;
        let isEdited = false;
        const ofMode = of(mode);
        for (const one of ofMode) {
          const verdict = await run(one, mode, current, call, recorded).catch((failure: unknown) => {
            const isBlocked = failure instanceof Rejected && failure.message !== WRONG_COUNT;
            if (mode === 'pre_call' && isBlocked && one === ofMode.at(-1)) openRequestChecks -= 1;
            throw failure;
          });
          if (verdict.kind !== 'edited') continue;
          current = current.map(({ role, text }, index) => ({ role, text: verdict.texts[index] ?? text }));
          isEdited = true;
          onEdit?.(current.map(({ text }) => text));
        }
        return { texts: current.map(({ text }) => text), isEdited };
      },
      async checkAtOnce(mode, texts, call, recorded) {
        await Promise.all(of(mode).map((one) => run(one, mode, texts, call, recorded)));
      },
      add(names, model) {
        const all = active.current();
        const ofModel = model === selection.model ? NO_POLICIES : policiesFor({ ...selection, model });
        const further = ofModel.filter(({ name }) => !shown.some((one) => one.name === name));
        const pipelines = further.length === 0 ? [] : pipelinesOf(further, all);
        const wanted = ofModel.length === 0 ? names : [...names, ...guardrailsOfPolicies(ofModel)];
        const fresh = wanted.filter((name) => !applied.includes(name));
        if (fresh.length > 0 || pipelines.length > 0) {
          const named = selectedGuardrails(all, {
            caller: selection.caller,
            callerGuardrails: callerGuardrailsOf(null),
            request: NO_NAMES,
            configured: fresh,
            defaults: false,
          });
          const added = [...pipelines, ...named].filter(inspects);
          for (const one of added) if (!usable.includes(one)) usable.push(one);
          applied.push(...namesThatRun(added));
        }
        shown.push(...further.map(({ name, via }) => ({ name, via })));
        return pipelines.length === 0 ? wanted : [...namesThatRun(pipelines), ...wanted];
      },
      only: (names) => {
        const some = usable.filter(({ definition }) => names.includes(definition.name));
        return guardOf(selection, some, { entries, matched });
      },
    };
    return guard;
  }

  const hasPolicies = (): boolean => policies?.book().isEmpty === false;
  return {
    isIdle: () => active.current().length === 0 && !hasPolicies(),
    hasPolicies,
    open(selection) {
      const { caller, named = NO_NAMES, configured = NO_NAMES, configuredOnly } = selection;
      const all = active.current();
      const matched = policiesFor(selection);
      const selected = selectedGuardrails(all, {
        caller,
        callerGuardrails: callerGuardrailsOf(configuredOnly === true ? null : caller.key),
        request: named,
        configured: matched.length === 0 ? configured : [...configured, ...guardrailsOfPolicies(matched)],
        defaults: configuredOnly !== true,
      });
      const runnable = matched.length === 0 ? selected : [...pipelinesOf(matched, all), ...selected];
      return guardOf(selection, runnable, { entries: [], matched });
    },
  };
}

const checksTools = ({ guardrail, pipeline }: RunnableGuardrail): boolean =>
  guardrail.readsTools === true || (pipeline?.steps ?? []).some(({ guardrails }) => guardrails.some(checksTools));

/** Names of guardrails, each once, without those that only mask records. */
function namesThatRun(guardrails: readonly ActiveGuardrail[]): string[] {
  const running = guardrails.filter(({ definition }) => definition.modes.some((mode) => mode !== 'logging_only'));
  return [...new Set(running.map(({ definition }) => definition.name))];
}

/** Whether a failure comes from a guardrail. Such a failure ends the call without retries and fallbacks. */
export const isGuardrailFailure = (failure: unknown): boolean =>
  failure instanceof Rejected || failure instanceof GuardrailFailed || failure instanceof GuardrailMissing;

/** What a failed call shows of its guardrails and policies. */
export const guardFacts = (guard: CallGuard | null): Pick<FailedCall, 'guardrails' | 'policies'> => ({
  ...(guard === null || guard.applied.length === 0 ? {} : { guardrails: guard.applied }),
  ...(guard === null || guard.policies.length === 0 ? {} : { policies: guard.policies }),
});
