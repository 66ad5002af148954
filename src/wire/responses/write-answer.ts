import type { AnswerStep } from '../../domain/chat/answer-step.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import { itemIdOf, ownResponseId } from '../../domain/responses/response-ids.ts';
import type { AnswerContext, AnswerWriter } from '../dialect.ts';
import { customToolsOf } from './custom-tools.ts';
import {
  openCall,
  type OpenCall,
  type OpenItem,
  openMessage,
  type OpenMessage,
  openReasoning,
  type OpenReasoning,
  type Say,
} from './output-items.ts';
import { responseObject, type ResponseState } from './response-object.ts';

type Reason = ResponseState['reason'];
const REASONS: Readonly<Record<string, Reason>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

/** Writes an answer as the events of a response: every step at once, the whole response last. */
export class ResponseWriter implements AnswerWriter {
  readonly #about: AnswerContext;
  readonly #custom: ReadonlySet<string>;
  #id: string;
  #text = '';
  #sequence = 0;
  #begun = false;
  /** Items by their place; an open one has no final form yet. */
  readonly #output: (object | null)[] = [];
  #spoken: { readonly item: OpenMessage; readonly index: number } | null = null;
  #thought: { readonly item: OpenReasoning; readonly index: number } | null = null;
  /** By the call's position in the answer. A call stays open until the end: its pieces may come between another's. */
  readonly #calls = new Map<number, { readonly item: OpenCall; readonly index: number }>();
  #reason: Reason = null;
  #usage: Usage | null = null;
  #last: Readonly<Record<string, unknown>> | null = null;

  constructor(about: AnswerContext) {
    this.#about = about;
    this.#custom = customToolsOf(about.body['tools']);
    this.#id = about.followUp?.ownId ?? ownResponseId(about.fallbackId);
  }

  write(step: AnswerStep): string {
    if (step.kind === 'begin') this.#id = this.#about.followUp?.ownId ?? step.id ?? this.#id;
    if (step.kind === 'usage') this.#usage = step.usage;
    else this.#add(step);
    return this.#taken();
  }

  end(): string {
    this.#opens();
    this.#closeAll();
    const status = this.#reason === null ? 'completed' : 'incomplete';
    const response = this.#response(status);
    // Before its last event goes out: whoever has read that may come back at once.
    const isLost = this.#about.followUp?.keep?.(response) === false;
    this.#last = isLost ? { ...response, store: false } : response;
    this.#event(`response.${status}`, { response: this.#last });
    return this.#taken();
  }

  whole(): Readonly<Record<string, unknown>> | null {
    return this.#last;
  }

  #add(step: Exclude<AnswerStep, { kind: 'usage' }>): void {
    this.#opens();
    switch (step.kind) {
      case 'text':
        this.#message().add('output_text', step.text);
        break;
      case 'refusal':
        this.#message().add('refusal', step.text);
        break;
      case 'reasoning':
        this.#reasoning().add(step.text);
        break;
      case 'reasoningProof':
        this.#reasoning().prove(step.proof);
        this.#closeThought();
        break;
      case 'redactedReasoning':
        this.#closeThought();
        this.#reasoning().prove(step.proof);
        this.#closeThought();
        break;
      case 'toolCall':
        this.#call(step).add(step.arguments);
        break;
      case 'toolCallProof':
        this.#calls.get(step.index)?.item.prove(step.proof);
        break;
      case 'finish':
        this.#reason = REASONS[step.reason] ?? null;
        // An empty answer is an empty message: without any item a response counts as failed.
        if (this.#output.length === 0) this.#message().add('output_text', '');
        this.#closeAll();
        break;
      case 'begin':
      case 'failure':
      case 'stopSequence':
        break;
    }
  }

  #opens(): void {
    if (this.#begun) return;
    this.#begun = true;
    const response = this.#response('in_progress');
    this.#event('response.created', { response });
    this.#event('response.in_progress', { response });
  }

  #message(): OpenMessage {
    this.#closeThought();
    if (this.#spoken === null) {
      const { index, say } = this.#place();
      this.#spoken = { item: openMessage(itemIdOf('msg', this.#id, index), say), index };
    }
    return this.#spoken.item;
  }

  #reasoning(): OpenReasoning {
    this.#closeMessage();
    if (this.#thought === null) {
      const { index, say } = this.#place();
      this.#thought = { item: openReasoning(itemIdOf('rs', this.#id, index), say), index };
    }
    return this.#thought.item;
  }

  #call(step: Extract<AnswerStep, { kind: 'toolCall' }>): OpenCall {
    const known = this.#calls.get(step.index);
    if (known !== undefined) return known.item;
    this.#closeThought();
    this.#closeMessage();
    const { index, say } = this.#place();
    const id = itemIdOf('fc', this.#id, index);
    const name = step.name ?? '';
    const item = openCall({ id, callId: step.id ?? `call_${id}`, name, custom: this.#custom.has(name) }, say);
    this.#calls.set(step.index, { item, index });
    return item;
  }

  /** The place of the next item, and how it speaks. */
  #place(): { readonly index: number; readonly say: Say } {
    const index = this.#output.length;
    this.#output.push(null);
    return { index, say: (type, rest) => this.#event(type, { output_index: index, ...rest }) };
  }

  #closeMessage(): void {
    this.#close(this.#spoken);
    this.#spoken = null;
  }

  #closeThought(): void {
    this.#close(this.#thought);
    this.#thought = null;
  }

  #closeAll(): void {
    this.#closeThought();
    this.#closeMessage();
    for (const call of this.#calls.values()) this.#close(call);
    this.#calls.clear();
  }

  #close(open: { readonly item: OpenItem; readonly index: number } | null): void {
    if (open === null) return;
    this.#output[open.index] = open.item.close(this.#reason === null ? 'completed' : 'incomplete');
  }

  #response(status: ResponseState['status']): Readonly<Record<string, unknown>> {
    return responseObject(this.#about, {
      id: this.#id,
      status,
      reason: this.#reason,
      output: this.#output.filter((item) => item !== null),
      usage: status === 'in_progress' ? null : this.#usage,
      completedAt: status === 'completed' ? (this.#about.now?.() ?? this.#about.createdAt) : null,
    });
  }

  #event(type: string, rest: object): void {
    this.#text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence, ...rest })}\n\n`;
    this.#sequence += 1;
  }

  #taken(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** An answer whole, as a response. */
export function wholeResponse(steps: readonly AnswerStep[], about: AnswerContext): unknown {
  const writer = new ResponseWriter(about);
  for (const step of steps) writer.write(step);
  writer.end();
  return writer.whole();
}
