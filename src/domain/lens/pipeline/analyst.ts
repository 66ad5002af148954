import { type JsonObject, isJsonObject } from '../../json-object.ts';
import { DomainError } from '../../errors.ts';
import { repairRequest } from '../prompts/prompts.ts';
import type { Purpose } from '../lens.ts';
import {
  type AnalysisAnswer,
  type AnalysisMessage,
  type LensBackend,
  OwnershipLost,
  type RunClaim,
  ServerUnreachable,
} from '../worker.ts';
import { readAnswer, type Structure } from './structure.ts';

/** A question to the model: members of the prompt, the task first. */
interface Question<Value> {
  readonly purpose: Purpose;
  readonly task: string;
  readonly structure: Structure<Value>;
  /** Further members; texts of traces are fenced. */
  readonly members: JsonObject;
}

/**
 * An answer, or why there is none. `tooLong`: a shorter prompt may get an answer. `final`: a limit, such as the budget,
 * is used up, so no further question is answered.
 */
type AnalystAnswer<Value> =
  | { readonly value: Value }
  | { readonly failure: string; readonly tooLong: boolean; readonly final: boolean };

export interface Analyst {
  /**
   * Asks the model. An invalid answer is sent back once with its faults, unless it was cut off or filtered. A
   * DomainError becomes a failure. OwnershipLost, ServerUnreachable, other errors, and any error after the abort of the
   * signal are thrown.
   */
  ask<Value>(question: Question<Value>): Promise<AnalystAnswer<Value>>;
}

/** Why an answer is not complete, by its finish reason. */
const UNFINISHED: Readonly<Record<string, string>> = {
  length: 'The answer of the model was cut off at its output limit.',
  content_filter: 'The content filter of the provider refused the answer.',
};

/** A model behind a backend, for one run. */
export function createAnalyst(backend: LensBackend, claim: RunClaim, signal: AbortSignal): Analyst {
  async function send(
    prompt: string,
    purpose: Purpose,
    messages: readonly AnalysisMessage[] | null,
  ): Promise<AnalysisAnswer | Extract<AnalystAnswer<never>, { failure: string }>> {
    try {
      return await backend.model(claim, { prompt, purpose, messages }, signal);
    } catch (error) {
      const isEnd = error instanceof OwnershipLost || error instanceof ServerUnreachable;
      if (isEnd || signal.aborted || !(error instanceof DomainError)) throw error;
      return { failure: error.message, tooLong: false, final: error.code === 'LIMIT_EXCEEDED' };
    }
  }

  return {
    async ask({ purpose, task, structure, members }) {
      const prompt = JSON.stringify({ task, response_schema: structure.schema, ...members });
      const first = await send(prompt, purpose, null);
      if ('failure' in first) return first;
      if (first.contextExceeded)
        return { failure: 'The prompt is longer than the model accepts.', tooLong: true, final: false };
      const read = readAnswer(structure, first.content);
      if ('value' in read) return read;
      const reason = UNFINISHED[first.finishReason];
      if (reason !== undefined) return { failure: reason, tooLong: first.finishReason === 'length', final: false };
      const again = await send(prompt, purpose, [
        ...asMessages(prompt),
        { role: 'assistant', content: first.content },
        { role: 'user', content: repairRequest(read.faults) },
      ]);
      if ('failure' in again) return again;
      const repaired = readAnswer(structure, again.content);
      if ('value' in repaired) return repaired;
      return { failure: `The answer of the model is not valid: ${repaired.faults[0]}`, tooLong: false, final: false };
    },
  };
}

/** Members of a prompt that are instructions; the others are data. */
const INSTRUCTIONS = new Set(['task', 'navigation', 'context', 'checks', 'questions', 'response_schema']);

/**
 * A prompt as messages. The instructions of a JSON object become the system message, its other members the user
 * message. Any other prompt becomes the system message, with `{}` as user message.
 */
export function asMessages(prompt: string): readonly AnalysisMessage[] {
  const sent = objectIn(prompt);
  if (sent === null)
    return [
      { role: 'system', content: prompt },
      { role: 'user', content: '{}' },
    ];
  const isInstruction = ([name]: readonly [string, unknown]): boolean => INSTRUCTIONS.has(name);
  const members = Object.entries(sent);
  const part = (some: readonly (readonly [string, unknown])[]): string => JSON.stringify(Object.fromEntries(some));
  return [
    { role: 'system', content: part(members.filter(isInstruction)) },
    { role: 'user', content: part(members.filter((member) => !isInstruction(member))) },
  ];
}

/** The JSON object in a prompt; null for any other prompt. */
export function objectIn(prompt: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(prompt);
    return isJsonObject(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
