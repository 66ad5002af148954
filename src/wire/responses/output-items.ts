import { thoughtSignatureFields } from '../chat-completions/write-answer.ts';
import { createInputUnwrapper, unwrapInput } from './custom-tools.ts';

/** Emits an event of one output item. `rest` are the members besides type, sequence number and output index. */
export type EmitEvent = (type: string, rest: object) => void;

/** An output item that is not complete yet. */
export interface OpenItem {
  /** Completes the item: emits its remaining events and returns its final form. */
  close(status: 'completed' | 'incomplete'): object;
}

/** A reasoning item with one summary part, and with the upstream's proof if there is one. */
export interface OpenReasoning extends OpenItem {
  add(piece: string): void;
  addProof(proof: string): void;
}

/** Begins a reasoning item and emits its first event. */
export function openReasoning(id: string, emit: EmitEvent): OpenReasoning {
  let text = '';
  let hasSummary = false;
  let proof: string | null = null;
  const item = (status: string): object => ({
    id,
    type: 'reasoning',
    summary: hasSummary ? [{ type: 'summary_text', text }] : [],
    ...(proof === null ? {} : { encrypted_content: proof }),
    status,
  });
  emit('response.output_item.added', { item: item('in_progress') });
  return {
    add(piece) {
      if (!hasSummary)
        emit('response.reasoning_summary_part.added', {
          item_id: id,
          summary_index: 0,
          part: { type: 'summary_text', text: '' },
        });
      hasSummary = true;
      text += piece;
      emit('response.reasoning_summary_text.delta', { item_id: id, summary_index: 0, delta: piece });
    },
    addProof(value) {
      proof = value;
    },
    close(status) {
      if (hasSummary) {
        emit('response.reasoning_summary_text.done', { item_id: id, summary_index: 0, text });
        const part = { type: 'summary_text', text };
        emit('response.reasoning_summary_part.done', { item_id: id, summary_index: 0, part });
      }
      const finalItem = item(status);
      emit('response.output_item.done', { item: finalItem });
      return finalItem;
    },
  };
}

type PartKind = 'output_text' | 'refusal';

/** A message item. Text and refusal are separate parts. */
export interface OpenMessage extends OpenItem {
  add(kind: PartKind, piece: string): void;
}

/** Begins a message item and emits its first event. */
export function openMessage(id: string, emit: EmitEvent): OpenMessage {
  const parts: { kind: PartKind; text: string }[] = [];
  const content = ({ kind, text }: (typeof parts)[number]): object =>
    kind === 'refusal' ? { type: kind, refusal: text } : { type: kind, annotations: [], logprobs: [], text };
  const item = (status: string): object => ({
    id,
    type: 'message',
    status,
    role: 'assistant',
    content: parts.map(content),
  });
  const place = (): object => ({ item_id: id, content_index: parts.length - 1 });
  const closePart = (): void => {
    const part = parts.at(-1);
    if (part === undefined) return;
    const { kind, text } = part;
    emit(`response.${kind}.done`, { ...place(), ...(kind === 'refusal' ? { refusal: text } : { text, logprobs: [] }) });
    emit('response.content_part.done', { ...place(), part: content(part) });
  };
  emit('response.output_item.added', { item: item('in_progress') });
  return {
    add(kind, piece) {
      let part = parts.at(-1);
      if (part?.kind !== kind) {
        closePart();
        part = { kind, text: '' };
        parts.push(part);
        emit('response.content_part.added', { ...place(), part: content(part) });
      }
      part.text += piece;
      emit(`response.${kind}.delta`, { ...place(), delta: piece, ...(kind === 'refusal' ? {} : { logprobs: [] }) });
    },
    close(status) {
      closePart();
      const finalItem = item(status);
      emit('response.output_item.done', { item: finalItem });
      return finalItem;
    },
  };
}

/** A call of one of the caller's tools. */
export interface OpenCall extends OpenItem {
  add(piece: string): void;
  addProof(proof: string): void;
}

/** Begins a tool call and emits its first event. A custom tool has one text, a function has arguments. */
export function openCall(
  call: { readonly id: string; readonly callId: string; readonly name: string; readonly custom: boolean },
  emit: EmitEvent,
): OpenCall {
  const { id, callId, name, custom } = call;
  const type = custom ? 'custom_tool_call' : 'function_call';
  const member = custom ? 'input' : 'arguments';
  const eventPrefix = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const unwrapper = custom ? createInputUnwrapper() : null;
  let rawArguments = '';
  let proof: string | null = null;
  const item = (text: string, status: string): object => ({
    id,
    type,
    status,
    call_id: callId,
    name,
    [member]: text,
    ...(proof === null ? {} : thoughtSignatureFields(proof)),
  });
  const emitDelta = (piece: string): void => {
    if (piece !== '') emit(`${eventPrefix}.delta`, { item_id: id, delta: piece });
  };
  emit('response.output_item.added', { item: item('', 'in_progress') });
  return {
    add(piece) {
      rawArguments += piece;
      emitDelta(unwrapper === null ? piece : unwrapper.add(piece));
    },
    addProof(value) {
      proof = value;
    },
    close(status) {
      emitDelta(unwrapper?.rest() ?? '');
      const text = custom ? unwrapInput(rawArguments) : rawArguments;
      emit(`${eventPrefix}.done`, { item_id: id, [member]: text, ...(custom ? {} : { name }) });
      const finalItem = item(text, status);
      emit('response.output_item.done', { item: finalItem });
      return finalItem;
    },
  };
}
