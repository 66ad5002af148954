import type { JsonObject } from '../../domain/json-object.ts';
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
  type EmitEvent,
} from './output-items.ts';
import { responseObject, type ResponseState } from './response-object.ts';
import { lookupTable } from '../json/fields.ts';

type IncompleteReason = ResponseState['reason'];
/** Reasons for an incomplete response, by finish reason. */
const INCOMPLETE_REASONS = lookupTable<IncompleteReason>({
  length: 'max_output_tokens',
  content_filter: 'content_filter',
});

/**
 * Writes an answer as the events of a response. Content is written immediately. The last event has the complete
 * response.
 */
export class ResponseWriter implements AnswerWriter {
  readonly #context: AnswerContext;
  /** Names of the custom tools of the request. */
  readonly #customTools: ReadonlySet<string>;
  #id: string;
  /** Events that `write` and `end` have not returned yet. */
  #pendingEvents = '';
  #sequence = 0;
  #hasBegun = false;
  /** Final items by output index. Null while an item is open. */
  readonly #output: (object | null)[] = [];
  #openMessage: { readonly item: OpenMessage; readonly index: number } | null = null;
  #openReasoning: { readonly item: OpenReasoning; readonly index: number } | null = null;
  /** Open calls by call index. A call stays open until the end, because pieces of several calls may alternate. */
  readonly #calls = new Map<number, { readonly item: OpenCall; readonly index: number }>();
  #incompleteReason: IncompleteReason = null;
  #usage: Usage | null = null;
  /** The response of the last event. Null before `end`. */
  #finalResponse: JsonObject | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#customTools = customToolsOf(context.body['tools']);
    this.#id = context.followUp?.ownId ?? ownResponseId(context.fallbackId);
  }

  write(step: AnswerStep): string {
    if (step.kind === 'begin') this.#id = this.#context.followUp?.ownId ?? step.id ?? this.#id;
    if (step.kind === 'usage') this.#usage = step.usage;
    else this.#add(step);
    return this.#takeEvents();
  }

  end(): string {
    this.#begin();
    this.#closeAll();
    const status = this.#status();
    const response = this.#response(status);
    // The response is stored before its last event is sent, because the client may use its id right after that event.
    const isNotStored = this.#context.followUp?.store?.(response, this.#context.body) === false;
    this.#finalResponse = isNotStored ? { ...response, store: false } : response;
    this.#event(`response.${status}`, { response: this.#finalResponse });
    return this.#takeEvents();
  }

  /** The complete response. Null before `end`. */
  whole(): JsonObject | null {
    return this.#finalResponse;
  }

  #add(step: Exclude<AnswerStep, { kind: 'usage' }>): void {
    this.#begin();
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
        this.#reasoning().addProof(step.proof);
        this.#closeReasoning();
        break;
      case 'redactedReasoning':
        this.#closeReasoning();
        this.#reasoning().addProof(step.proof);
        this.#closeReasoning();
        break;
      case 'toolCall':
        this.#call(step).add(step.arguments);
        break;
      case 'toolCallProof':
        this.#calls.get(step.index)?.item.addProof(step.proof);
        break;
      case 'finish':
        this.#incompleteReason = INCOMPLETE_REASONS[step.reason] ?? null;
        // Some readers, such as `ideFaultOf`, treat a response without items as failed. So an empty answer becomes an
        // empty message.
        if (this.#output.length === 0) this.#message().add('output_text', '');
        this.#closeAll();
        break;
      case 'begin':
      case 'failure':
      case 'stopSequence':
        break;
    }
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const response = this.#response('in_progress');
    this.#event('response.created', { response });
    this.#event('response.in_progress', { response });
  }

  /** The open message item. Opens one when there is none. */
  #message(): OpenMessage {
    this.#closeReasoning();
    if (this.#openMessage === null) {
      const { index, emit } = this.#reserve();
      this.#openMessage = { item: openMessage(itemIdOf('msg', this.#id, index), emit), index };
    }
    return this.#openMessage.item;
  }

  /** The open reasoning item. Opens one when there is none. */
  #reasoning(): OpenReasoning {
    this.#closeMessage();
    if (this.#openReasoning === null) {
      const { index, emit } = this.#reserve();
      this.#openReasoning = { item: openReasoning(itemIdOf('rs', this.#id, index), emit), index };
    }
    return this.#openReasoning.item;
  }

  /** The open item of a call. The first piece of a call opens it. */
  #call(step: Extract<AnswerStep, { kind: 'toolCall' }>): OpenCall {
    const openedCall = this.#calls.get(step.index);
    if (openedCall !== undefined) return openedCall.item;
    this.#closeReasoning();
    this.#closeMessage();
    const { index, emit } = this.#reserve();
    const id = itemIdOf('fc', this.#id, index);
    const name = step.name ?? '';
    const item = openCall({ id, callId: step.id ?? `call_${id}`, name, custom: this.#customTools.has(name) }, emit);
    this.#calls.set(step.index, { item, index });
    return item;
  }

  /** Reserves the next output index, with the function that emits events of that item. */
  #reserve(): { readonly index: number; readonly emit: EmitEvent } {
    const index = this.#output.length;
    this.#output.push(null);
    return { index, emit: (type, rest) => this.#event(type, { output_index: index, ...rest }) };
  }

  #closeMessage(): void {
    this.#close(this.#openMessage);
    this.#openMessage = null;
  }

  #closeReasoning(): void {
    this.#close(this.#openReasoning);
    this.#openReasoning = null;
  }

  #closeAll(): void {
    this.#closeReasoning();
    this.#closeMessage();
    for (const call of this.#calls.values()) this.#close(call);
    this.#calls.clear();
  }

  #close(open: { readonly item: OpenItem; readonly index: number } | null): void {
    if (open === null) return;
    this.#output[open.index] = open.item.close(this.#status());
  }

  #status(): 'completed' | 'incomplete' {
    return this.#incompleteReason === null ? 'completed' : 'incomplete';
  }

  #response(status: ResponseState['status']): JsonObject {
    return responseObject(this.#context, {
      id: this.#id,
      status,
      reason: this.#incompleteReason,
      output: this.#output.filter((item) => item !== null),
      usage: status === 'in_progress' ? null : this.#usage,
      completedAt: status === 'completed' ? (this.#context.now?.() ?? this.#context.createdAt) : null,
    });
  }

  #event(type: string, rest: object): void {
    const data = JSON.stringify({ type, sequence_number: this.#sequence, ...rest });
    this.#pendingEvents += `event: ${type}\ndata: ${data}\n\n`;
    this.#sequence += 1;
  }

  #takeEvents(): string {
    const events = this.#pendingEvents;
    this.#pendingEvents = '';
    return events;
  }
}

/** A complete answer as a response object. */
export function wholeResponse(steps: readonly AnswerStep[], context: AnswerContext): unknown {
  const writer = new ResponseWriter(context);
  for (const step of steps) writer.write(step);
  writer.end();
  return writer.whole();
}
