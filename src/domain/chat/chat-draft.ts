/** A chat as the graph asks for it: the dialect's own words, already typed. */
export interface ChatDraft {
  readonly model: string;
  /** Messages of the chat-completions dialect, e.g. `{ role: 'user', content: 'Hello' }`. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Further parameters of the dialect, e.g. `{ temperature: 0, tools: [...] }`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly callId: string | null;
  /** Where the call hangs in the caller's own trace; null starts a new one. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null;
}
