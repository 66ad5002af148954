import type { JsonObject } from '../json-object.ts';

/** Arguments of a chat in the graph, in the chat-completions dialect. */
export interface ChatDraft {
  readonly model: string;
  /** Messages of the chat-completions dialect, e.g. `{ role: 'user', content: 'Hello' }`. */
  readonly messages: readonly JsonObject[];
  /** Further parameters of the dialect, e.g. `{ temperature: 0, tools: [...] }`. */
  readonly parameters: JsonObject;
  /** The caller's id of this call; null lets the gateway generate one. */
  readonly callId: string | null;
  /** Parent span in the caller's own trace; null starts a new trace. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null;
}
