import type { ActiveGuardrail, GuardedText, Verdict } from './guardrail.ts';

/** Error of an edit whose texts cannot be assigned to places. */
export const WRONG_COUNT = 'The guardrail returned another number of texts than it was given';

/** The texts that a guardrail checks. */
export const inspectedBy = (
  { skips }: Pick<ActiveGuardrail, 'skips'>,
  texts: readonly GuardedText[],
): readonly GuardedText[] => texts.filter(({ role }) => role === null || !skips.includes(role));

/** The verdict. An edit with another number of texts blocks, because its texts cannot be assigned to places. */
export function checkedVerdict(verdict: Verdict, texts: readonly GuardedText[]): Verdict {
  if (verdict.kind !== 'edited' || verdict.texts.length === texts.length) return verdict;
  return { kind: 'blocked', detail: { error: WRONG_COUNT }, report: WRONG_COUNT };
}

/** The verdict about all texts. An edit has the edited texts, and those that were not checked. */
export function withUncheckedTexts(
  verdict: Verdict,
  texts: readonly GuardedText[],
  inspected: readonly GuardedText[],
): Verdict {
  if (verdict.kind !== 'edited' || inspected.length === texts.length) return verdict;
  const edited = new Map(inspected.map((one, index) => [one, verdict.texts[index]]));
  return { ...verdict, texts: texts.map((one) => edited.get(one) ?? one.text) };
}
