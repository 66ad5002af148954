import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerContext, AnswerWriter } from '../dialect.ts';
import { argumentsOf, type Fields, lookupTable } from '../json/fields.ts';

/** Google's finish reasons, by OpenAI's. All others are `OTHER`. */
const FINISH_REASONS = lookupTable<string>({
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
});

interface PendingCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  arguments: string;
  proof: string | null;
}

/**
 * Converts the steps of an answer to Google's parts. A function call is one part, so its pieces are buffered until the
 * call is complete. Other content becomes parts immediately.
 */
class PartCollector {
  id: string;
  finishReason = 'STOP';
  usage: Usage | null = null;
  #call: PendingCall | null = null;

  constructor(fallbackId: string) {
    this.id = fallbackId;
  }

  /** Parts that a step completes. */
  add(step: AnswerStep): readonly Fields[] {
    switch (step.kind) {
      case 'begin':
        this.id = step.id ?? this.id;
        return [];
      case 'text':
      case 'refusal':
        return [...this.release(), { text: step.text }];
      case 'reasoning':
        return [...this.release(), { text: step.text, thought: true }];
      case 'reasoningProof':
        return [...this.release(), { text: '', thought: true, thoughtSignature: step.proof }];
      case 'toolCall':
        return this.#addCall(step);
      case 'toolCallProof':
        if (this.#call?.index === step.index) this.#call.proof = step.proof;
        return [];
      case 'finish':
        this.finishReason = FINISH_REASONS[step.reason] ?? 'OTHER';
        return this.release();
      case 'usage':
        this.usage = step.usage;
        return [];
      case 'redactedReasoning':
      case 'stopSequence':
      case 'failure':
        return [];
    }
  }

  /** Ends the pending call and returns it as a part, with the arguments so far. Empty when no call is pending. */
  release(): readonly Fields[] {
    if (this.#call === null) return [];
    const { id, name, arguments: text, proof } = this.#call;
    this.#call = null;
    return [
      { functionCall: { id, name, args: argumentsOf(text) }, ...(proof === null ? {} : { thoughtSignature: proof }) },
    ];
  }

  #addCall({ index, id, name, arguments: piece }: Extract<AnswerStep, { kind: 'toolCall' }>): readonly Fields[] {
    if (this.#call?.index === index) {
      this.#call.arguments += piece;
      return [];
    }
    const previous = this.release();
    this.#call = { index, id: id ?? '', name: name ?? '', arguments: piece, proof: null };
    return previous;
  }
}

const usageObject = (usage: Usage): Fields => ({
  promptTokenCount: usage.inputTokens,
  candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
  totalTokenCount: usage.inputTokens + usage.outputTokens,
  ...(usage.cacheReadTokens === 0 ? {} : { cachedContentTokenCount: usage.cacheReadTokens }),
  ...(usage.reasoningTokens === 0 ? {} : { thoughtsTokenCount: usage.reasoningTokens }),
});

/** Writes an answer as generateContent chunks. The last chunk contains finish reason and usage. */
export function createContentWriter(context: AnswerContext): AnswerWriter {
  const collector = new PartCollector(context.fallbackId);
  const event = (candidate: Fields, rest: Fields = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ ...candidate, index: 0 }], ...rest, modelVersion: context.model, responseId: collector.id })}\n\n`;
  return {
    write(step) {
      const parts = collector.add(step);
      return parts.length === 0 ? '' : event({ content: { parts, role: 'model' } });
    },
    end() {
      const remaining = collector.release();
      const content = { parts: remaining.length === 0 ? [{ text: '' }] : remaining, role: 'model' };
      const { usage, finishReason } = collector;
      return event({ content, finishReason }, usage === null ? {} : { usageMetadata: usageObject(usage) });
    },
  };
}

/** A complete answer as a generateContent answer. */
export function wholeContent(steps: readonly AnswerStep[], context: AnswerContext): unknown {
  const collector = new PartCollector(context.fallbackId);
  const parts = [...steps.flatMap((step) => collector.add(step)), ...collector.release()];
  const { usage, finishReason, id } = collector;
  return {
    candidates: [{ content: { parts: joinedTexts(parts), role: 'model' }, finishReason, index: 0 }],
    ...(usage === null ? {} : { usageMetadata: usageObject(usage) }),
    modelVersion: context.model,
    responseId: id,
  };
}

/** Joins consecutive text parts. Text and thoughts stay separate. A signature ends its part. */
function joinedTexts(parts: readonly Fields[]): readonly Fields[] {
  const joined: Fields[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const continuesLast =
      typeof part['text'] === 'string' &&
      typeof last?.['text'] === 'string' &&
      last['thought'] === part['thought'] &&
      last['thoughtSignature'] === undefined;
    if (continuesLast)
      joined[joined.length - 1] = { ...last, ...part, text: `${String(last['text'])}${String(part['text'])}` };
    else joined.push(part);
  }
  return joined;
}
