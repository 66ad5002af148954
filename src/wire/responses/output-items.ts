import { proofOf } from '../chat-completions/write-answer.ts';
import { createInputUnwrapper, unwrapInput } from './custom-tools.ts';

/** Says an event of one item; its type, and what it carries beside its place. */
export type Say = (type: string, rest: object) => void;

/** One item of an output while it is written. */
export interface OpenItem {
  /** Ends the item: says what is still to be said, and gives the item as it stays. */
  close(status: 'completed' | 'incomplete'): object;
}

/** A thought: its summary in one part, and its proof where the upstream gives one. */
export interface OpenReasoning extends OpenItem {
  add(piece: string): void;
  prove(proof: string): void;
}

export function openReasoning(id: string, say: Say): OpenReasoning {
  let text = '';
  let shown = false;
  let proof: string | null = null;
  const item = (status: string): object => ({
    id,
    type: 'reasoning',
    summary: shown ? [{ type: 'summary_text', text }] : [],
    ...(proof === null ? {} : { encrypted_content: proof }),
    status,
  });
  say('response.output_item.added', { item: item('in_progress') });
  return {
    add(piece) {
      if (!shown)
        say('response.reasoning_summary_part.added', {
          item_id: id,
          summary_index: 0,
          part: { type: 'summary_text', text: '' },
        });
      shown = true;
      text += piece;
      say('response.reasoning_summary_text.delta', { item_id: id, summary_index: 0, delta: piece });
    },
    prove(given) {
      proof = given;
    },
    close(status) {
      if (shown) {
        say('response.reasoning_summary_text.done', { item_id: id, summary_index: 0, text });
        const part = { type: 'summary_text', text };
        say('response.reasoning_summary_part.done', { item_id: id, summary_index: 0, part });
      }
      const done = item(status);
      say('response.output_item.done', { item: done });
      return done;
    },
  };
}

type PartKind = 'output_text' | 'refusal';

/** A message: words, and where the model refuses, its reason, each in a part of its own. */
export interface OpenMessage extends OpenItem {
  add(kind: PartKind, piece: string): void;
}

export function openMessage(id: string, say: Say): OpenMessage {
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
    say(`response.${kind}.done`, { ...place(), ...(kind === 'refusal' ? { refusal: text } : { text, logprobs: [] }) });
    say('response.content_part.done', { ...place(), part: content(part) });
  };
  say('response.output_item.added', { item: item('in_progress') });
  return {
    add(kind, piece) {
      let part = parts.at(-1);
      if (part?.kind !== kind) {
        closePart();
        part = { kind, text: '' };
        parts.push(part);
        say('response.content_part.added', { ...place(), part: content(part) });
      }
      part.text += piece;
      say(`response.${kind}.delta`, { ...place(), delta: piece, ...(kind === 'refusal' ? {} : { logprobs: [] }) });
    },
    close(status) {
      closePart();
      const done = item(status);
      say('response.output_item.done', { item: done });
      return done;
    },
  };
}

/** A call of a tool of the caller's. */
export interface OpenCall extends OpenItem {
  add(piece: string): void;
  prove(proof: string): void;
}

/** A custom tool is called with a text, any other with arguments. */
export function openCall(
  about: { readonly id: string; readonly callId: string; readonly name: string; readonly custom: boolean },
  say: Say,
): OpenCall {
  const { id, callId, name, custom } = about;
  const type = custom ? 'custom_tool_call' : 'function_call';
  const member = custom ? 'input' : 'arguments';
  const event = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
  const unwrapper = custom ? createInputUnwrapper() : null;
  let whole = '';
  let proof: string | null = null;
  const item = (text: string, status: string): object => ({
    id,
    type,
    status,
    call_id: callId,
    name,
    [member]: text,
    ...(proof === null ? {} : proofOf(proof)),
  });
  const delta = (piece: string): void => {
    if (piece !== '') say(`${event}.delta`, { item_id: id, delta: piece });
  };
  say('response.output_item.added', { item: item('', 'in_progress') });
  return {
    add(piece) {
      whole += piece;
      delta(unwrapper === null ? piece : unwrapper.add(piece));
    },
    prove(given) {
      proof = given;
    },
    close(status) {
      delta(unwrapper?.rest() ?? '');
      const text = custom ? unwrapInput(whole) : whole;
      say(`${event}.done`, { item_id: id, [member]: text, ...(custom ? {} : { name }) });
      const done = item(text, status);
      say('response.output_item.done', { item: done });
      return done;
    },
  };
}
