import type { Caller } from '../../caller.ts';
import { DomainError, GuardrailFailed } from '../../errors.ts';
import { inParallel } from '../../in-parallel.ts';
import type { Guardrail, Inspection, Verdict } from '../guardrail.ts';

/** One check: a question about a text that is answered yes or no. */
interface DecisionCheck {
  readonly name: string;
  readonly instructions: string;
  /** Minimum probability of yes at which the check flags a text. */
  readonly threshold: number;
  readonly action: 'block' | 'log';
}

/**
 * Asks a decision model the questions of all checks about one text. Resolves to the probability of yes for each check;
 * null for a question without an answer.
 */
export type AskDecisions = (
  model: string,
  about: { readonly text: string; readonly checks: readonly DecisionCheck[]; readonly caller: Caller },
  signal: AbortSignal,
) => Promise<readonly (number | null)[]>;

export interface DecisionGuardrailSettings {
  readonly model: string;
  readonly checks: readonly DecisionCheck[];
  /** Maximum length of a text in one question, in UTF-16 units. A longer text is split into overlapping pieces. */
  readonly maxInputChars: number;
  readonly maxConcurrentCalls: number;
  /** Whether a text passes when the model gives no answer. */
  readonly failsOpen: boolean;
}

/** Share of a piece that the next piece repeats. */
const OVERLAP = 0.1;

/** A text in pieces of at most `size` characters, each of which repeats the end of the one before. */
export function piecesOf(text: string, size: number): readonly string[] {
  if (text.length <= size) return [text];
  const step = Math.max(1, Math.ceil(size * (1 - OVERLAP)));
  const pieces: string[] = [];
  for (let from = 0; ; from += step) {
    pieces.push(text.slice(from, from + size));
    if (from + size >= text.length) return pieces;
  }
}

/** The highest probability of one check over all pieces; null when any piece has no answer. */
function highestProbability(answers: readonly (readonly (number | null)[])[], index: number): number | null {
  const all = answers.map((one) => one[index] ?? null);
  return all.some((one) => one === null) ? null : Math.max(...all.map(Number));
}

/** A guardrail whose checks are questions to a decision model. */
export function decisionGuardrail(name: string, settings: DecisionGuardrailSettings, ask: AskDecisions): Guardrail {
  const { model, checks, maxInputChars, maxConcurrentCalls, failsOpen } = settings;

  async function answersTo({ texts, caller, signal }: Inspection): Promise<readonly (readonly (number | null)[])[]> {
    const pieces = texts.flatMap(({ text }) => piecesOf(text, maxInputChars));
    return await inParallel(pieces, maxConcurrentCalls, (text) => ask(model, { text, checks, caller }, signal));
  }

  function verdictOf(answers: readonly (readonly (number | null)[])[]): Verdict {
    const results = checks.map((check, index) => ({ check, probability: highestProbability(answers, index) }));
    const isFlagged = ({ check, probability }: (typeof results)[number]): boolean =>
      probability === null ? !failsOpen : probability >= check.threshold;
    const flagged = results.filter(isFlagged);
    const report = results.map((one) => ({
      check: one.check.name,
      probability: one.probability,
      threshold: one.check.threshold,
      flagged: isFlagged(one),
    }));
    const blocking = flagged.filter(({ check }) => check.action === 'block');
    if (blocking.length > 0)
      return {
        kind: 'blocked',
        detail: {
          error: 'Violated decision model guardrail policy',
          guardrail_name: name,
          flagged_checks: blocking.map(({ check }) => check.name),
        },
        report,
      };
    return { kind: flagged.length > 0 ? 'flagged' : 'passed', report };
  }

  return {
    async check(inspection) {
      let answers: readonly (readonly (number | null)[])[];
      try {
        answers = await answersTo(inspection);
      } catch (failure) {
        if (inspection.signal.aborted) throw failure;
        if (failsOpen && failure instanceof DomainError)
          return { kind: 'passed', report: 'the decision model failed to respond' };
        throw new GuardrailFailed('Decision model guardrail failed to respond', name, { cause: failure });
      }
      return verdictOf(answers);
    },
  };
}
