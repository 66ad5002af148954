import type { Outcome } from '../../domain/chat/chat.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ActiveGuardrail, GuardedText, Inspection, Verdict } from '../../domain/guardrails/guardrail.ts';
import { allTexts, requestTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { type Members, withTexts } from '../../domain/guardrails/texts/walk.ts';
import type { RecordedRequest } from './record.ts';

/** Prompt and answer of a record. */
interface RecordedTexts {
  readonly request: RecordedRequest;
  readonly outcome: Outcome | null;
}

/** Prompt and answer after the guardrails of the mode `logging_only`; null where neither may be recorded. */
type Masked = RecordedTexts | null;

interface MaskingContext {
  readonly guardrails: readonly ActiveGuardrail[];
  readonly caller: Caller;
  readonly callId: string;
  readonly traceId: string;
  /** Aborts all checks; absent for the deadline alone. */
  readonly signal?: AbortSignal | undefined;
}

/** Deadline of each guardrail of a record, in ms. */
const DEADLINE_MS = 30_000;

/** Texts after a verdict; null where they may not be recorded. */
function textsAfter(verdict: Verdict, texts: readonly string[]): readonly string[] | null {
  if (verdict.kind === 'blocked') return null;
  if (verdict.kind !== 'edited') return texts;
  return verdict.texts.length === texts.length ? verdict.texts : null;
}

type CheckedTexts = readonly string[] | null;

/**
 * Runs guardrails in order, each on the texts that the previous one returned. Null where one blocks or changes the
 * number of texts. Synchronous if every check is synchronous.
 */
function runInOrder(
  guardrails: readonly ActiveGuardrail[],
  texts: readonly string[],
  check: (one: ActiveGuardrail, texts: readonly string[]) => Verdict | Promise<Verdict>,
): CheckedTexts | Promise<CheckedTexts> {
  const [first, ...others] = guardrails;
  if (first === undefined || texts.length === 0) return texts;
  const checkOthers = (verdict: Verdict): CheckedTexts | Promise<CheckedTexts> => {
    const after = textsAfter(verdict, texts);
    return after === null ? null : runInOrder(others, after, check);
  };
  const verdict = check(first, texts);
  return verdict instanceof Promise ? verdict.then(checkOthers) : checkOthers(verdict);
}

/**
 * Texts of a record after the guardrails of the mode `logging_only`. Null where one blocks or changes the number of
 * texts. Throws what a guardrail throws. Synchronous with guardrails that call no service.
 */
export function maskedTexts(
  { guardrails, caller, callId, traceId, signal: ending }: MaskingContext,
  model: string,
  texts: readonly GuardedText[],
): CheckedTexts | Promise<CheckedTexts> {
  const check = ({ guardrail }: ActiveGuardrail, current: readonly string[]): Verdict | Promise<Verdict> => {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const signal = ending === undefined ? deadline : AbortSignal.any([deadline, ending]);
    const inspected = current.map((text, index) => ({ text, role: texts[index]?.role ?? null }));
    const inspection: Inspection = { phase: 'request', texts: inspected, model, callId, traceId, caller, signal };
    return guardrail.check(inspection);
  };
  const unmasked = texts.map(({ text }) => text);
  return runInOrder(guardrails, unmasked, check);
}

/**
 * Masks a prompt and an answer before they are recorded. Null where a guardrail blocks or fails: texts that were not
 * checked are not recorded. Synchronous with guardrails that call no service.
 */
export function maskedForRecord(
  context: MaskingContext,
  { request, outcome }: RecordedTexts,
): Masked | Promise<Masked> {
  const { endpoint, body, model } = request;
  const member = endpoint.input?.member;
  const prompt: Members = member === undefined ? {} : { [member]: body[member] };
  try {
    const places = endpoint.path === undefined ? allTexts(prompt) : requestTexts({ path: endpoint.path }, prompt);
    const answer = outcome?.text ?? null;
    const allTextsOfCall: readonly GuardedText[] =
      answer === null ? places : [...places, { text: answer, role: 'assistant' }];
    const withCheckedTexts = (texts: CheckedTexts): Masked => {
      if (texts === null) return null;
      const changes = withTexts(prompt, places, texts.slice(0, places.length));
      return {
        request: { ...request, body: { ...body, ...changes } },
        outcome: outcome === null || answer === null ? outcome : { ...outcome, text: texts.at(-1) ?? null },
      };
    };
    const texts = maskedTexts(context, model, allTextsOfCall);
    return texts instanceof Promise ? texts.then(withCheckedTexts).catch(() => null) : withCheckedTexts(texts);
  } catch {
    return null;
  }
}
