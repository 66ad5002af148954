import type { AnswerStep } from './answer-step.ts';
import type { Outcome, Usage } from './chat.ts';

/** Collects the facts for accounting from the steps of one answer. */
export class OutcomeCollector {
  readonly #textLimit: number;
  #responseId: string | null = null;
  #responseModel: string | null = null;
  #finishReason: string | null = null;
  #usage: Usage | null = null;
  #failure: Outcome['failure'] = null;
  #text = '';
  #calledTools: string[] | null = null;

  /** `textLimit`: number of characters to keep of the answer's text, refusal and tool calls; 0 keeps none. */
  constructor(textLimit: number) {
    this.#textLimit = textLimit;
  }

  add(step: AnswerStep): void {
    switch (step.kind) {
      case 'begin':
        this.#responseId ??= step.id;
        this.#responseModel = step.model ?? this.#responseModel;
        break;
      case 'finish':
        this.#finishReason = step.reason;
        break;
      case 'usage':
        this.#usage = step.usage;
        break;
      case 'failure':
        this.#failure = { message: step.message, code: step.code };
        break;
      case 'text':
      case 'refusal':
        this.#addText(step.text);
        break;
      case 'toolCall':
        this.#addText(`${step.name ?? ''}${step.arguments}`);
        if (step.name !== null) (this.#calledTools ??= []).push(step.name);
        break;
      case 'reasoning':
      case 'reasoningProof':
      case 'redactedReasoning':
      case 'toolCallProof':
      case 'stopSequence':
        break;
    }
  }

  get finishReason(): string | null {
    return this.#finishReason;
  }

  outcome(): Outcome {
    return {
      responseId: this.#responseId,
      responseModel: this.#responseModel,
      finishReason: this.#finishReason,
      usage: this.#usage,
      failure: this.#failure,
      text: this.#textLimit === 0 ? null : this.#text,
      ...(this.#calledTools === null ? {} : { calledTools: this.#calledTools }),
    };
  }

  #addText(piece: string): void {
    const room = this.#textLimit - this.#text.length;
    if (room > 0) this.#text += piece.slice(0, room);
  }
}
