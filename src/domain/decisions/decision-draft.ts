import type { JsonObject } from '../json-object.ts';
import type { ModelRequest } from '../chat/chat.ts';

/**
 * A decision as a caller of the graph asks for it. Input and questions have the standard format (see `DecisionFormat`).
 */
export interface DecisionDraft {
  readonly model: string;
  readonly input: unknown;
  readonly questions: readonly JsonObject[];
  /** Further members of the request. */
  readonly parameters: JsonObject;
  /** The caller's id of this call; null lets the gateway generate one. */
  readonly callId: string | null;
  /** Parent span in the caller's own trace; null starts a new trace. */
  readonly parent: ModelRequest['parent'];
  /** Labels of the call; none when absent. */
  readonly labels?: ModelRequest['labels'];
  /** The span of the call stores neither input nor answers. */
  readonly omitContent?: true;
}
