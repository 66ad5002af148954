import type { ChatDelta } from './chat.ts';

/**
 * One step of an answer, independent of the vendor. Graph clients see only the steps of `ChatDelta`; the others are for
 * translations between dialects. The first step is `begin`. `finish` comes once, after all content. `usage` may come
 * before or after `finish`; a later usage replaces an earlier one. Reasons of `finish` are OpenAI's: `stop`, `length`,
 * `tool_calls`, `content_filter`.
 */
export type AnswerStep =
  | {
      readonly kind: 'begin';
      /** The upstream's id of the answer; null where it sends none. */
      readonly id: string | null;
      /** The model that answers, as the upstream names it. */
      readonly model: string | null;
    }
  | ChatDelta
  /** The model's refusal. */
  | { readonly kind: 'refusal'; readonly text: string }
  /** The upstream's proof of the reasoning so far. Reasoning and proof are sent back together. */
  | { readonly kind: 'reasoningProof'; readonly proof: string }
  /** Reasoning that is withheld; only the upstream can read it. */
  | { readonly kind: 'redactedReasoning'; readonly proof: string }
  /** The upstream's proof of the thought behind a tool call (Gemini's `thoughtSignature`). */
  | { readonly kind: 'toolCallProof'; readonly index: number; readonly proof: string }
  /** The caller's `stop` text that ended the answer; comes before `finish`. */
  | { readonly kind: 'stopSequence'; readonly text: string };

const DELTA_KINDS = new Set<AnswerStep['kind']>(['text', 'reasoning', 'toolCall', 'finish', 'usage', 'failure']);

/** Whether graph clients see a step. */
export const isChatDelta = (step: AnswerStep): step is ChatDelta => DELTA_KINDS.has(step.kind);
