import type { JsonObject } from '../domain/json-object.ts';
import type { AnswerStep } from '../domain/chat/answer-step.ts';
import type { ChatDelta, FollowUp, Outcome } from '../domain/chat/chat.ts';
import type { Losses, NeutralChat } from '../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../domain/inference/request-validation.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Form } from '../domain/inference/form.ts';

/** Error object of an upstream, from an error body or from inside an answer. */
export interface AnswerError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  /** Error code of the upstream, or the HTTP status that the error stands for. Null when neither is known. */
  readonly code: string | null;
}

/** A dialect of callers. Its requests and answers can be translated to and from the dialect of an upstream. */
export interface InboundDialect {
  /**
   * Reads a request into the neutral form. Adds to `losses` the members that the neutral form cannot represent, unknown
   * members included. Ignores gateway fields, nulls and default values. Throws InvalidInput for a request that breaks
   * the rules of this dialect.
   */
  readRequest(body: RequestBody, losses: Losses): NeutralChat;
  /** Creates the writer of one streamed answer. */
  writer(context: AnswerContext): AnswerWriter;
  /** The complete answer as a JSON value, for a caller that does not stream. */
  whole(steps: readonly AnswerStep[], context: AnswerContext): unknown;
}

/** Facts of an answer that its steps do not contain. */
export interface AnswerContext {
  /** Model name as the caller sent it. */
  readonly model: string;
  /** Id of the answer when the upstream sends none. */
  readonly fallbackId: string;
  /** Start time of the answer, in Unix seconds. */
  readonly createdAt: number;
  /** Current time in Unix seconds, for dialects that report the end time. `createdAt` when absent. */
  readonly now?: () => number;
  /** Whether the caller requested a closing usage chunk. Only some dialects make this optional. */
  readonly includeUsage: boolean;
  /** Request of the caller, for dialects whose answers repeat parts of it. */
  readonly body: RequestBody;
  /** Id and storage of the answer, in dialects with stored answers. When absent, the answer has the upstream's id. */
  readonly followUp?: FollowUp;
}

/** Writes the steps of one answer as server-sent events. */
export interface AnswerWriter {
  /** Events for one step. Empty text when the dialect sends no event for the step now. */
  write(step: AnswerStep): string;
  /** Remaining events after the last step. */
  end(): string;
}

/** A dialect of upstreams. Callers of other dialects use it through translation. */
export interface OutboundDialect {
  /**
   * Writes a neutral chat as a request of this dialect. Adds to `losses` the settings and parts that this dialect does
   * not support.
   */
  writeRequest(chat: NeutralChat, losses: Losses): RequestBody;
  /** Creates the reader of one streamed answer. */
  reader(): AnswerReader;
  /** Steps of a complete answer, given as parsed JSON. */
  stepsOf(answer: unknown): readonly AnswerStep[];
}

/** Reads one streamed answer into steps. Ignores unknown events and members. Never throws. */
export interface AnswerReader {
  /** Steps of one event. `data` is its parsed JSON, `event` its name or null. */
  read(data: unknown, event: string | null): readonly AnswerStep[];
}

/** Reads the facts of an upstream's answers while they are forwarded. May rewrite them, for example the model name. */
export interface NativeDialect {
  /** Error in a parsed body or event. Null when there is none. */
  errorOf(value: unknown): AnswerError | null;
  /** Reads a complete answer, or the error that it has despite a 2xx status. Null when the bytes are neither. */
  whole(bytes: Uint8Array, context: WholeAnswerContext): WholeAnswer | { readonly error: AnswerError } | null;
  /** Creates the inspector of one streamed answer. */
  inspector(options: InspectorOptions): StreamInspector;
}

/** Facts about the request of a complete answer. */
export interface WholeAnswerContext {
  readonly endpoint: Endpoint;
  /** Model name as the caller sent it. */
  readonly model: string;
  /** Request of the caller, for answers whose form depends on it. */
  readonly body: RequestBody;
  /** Multipart form of the request. Absent for a JSON request. */
  readonly form?: Form;
  /** Maximum characters of the answer text in the outcome. 0 keeps no text. */
  readonly textLimit: number;
  /** Maps an upstream id to the id that the caller sees. Identity when absent. */
  readonly idOf?: (upstreamId: string) => string;
  /** `previous_response_id` of the caller. Present when the gateway sent the whole conversation instead of this id. */
  readonly previousId?: string | null;
  /** Called with the ids of containers that the answer names. Ignored when absent. */
  readonly onContainers?: (ids: readonly string[]) => void;
  /** Called with a response in the background. Returns whether its cost is recorded later: false when absent. */
  readonly onBackground?: (response: JsonObject) => boolean;
}

/** A complete answer, ready to forward. */
export interface WholeAnswer {
  readonly bytes: Uint8Array;
  readonly outcome: Outcome;
  /** The answer as typed deltas. */
  deltas(): readonly ChatDelta[];
}

/** Settings of the inspection of one streamed answer. */
export interface InspectorOptions {
  /** Model name as the caller sent it. */
  readonly model: string;
  /** Whether to remove the closing usage chunk, because the gateway requested it and the caller did not. */
  readonly removeUsageChunk: boolean;
  /** Maximum characters of the answer text in the outcome. 0 keeps no text. */
  readonly textLimit: number;
  /** Maps an upstream id to the id that the caller sees. Identity when absent. */
  readonly idOf?: (upstreamId: string) => string;
  /** `previous_response_id` of the caller. Present when the gateway sent the whole conversation instead of this id. */
  readonly previousId?: string | null;
  /** Called with the ids of containers that the answer names; an id may be repeated. Ignored when absent. */
  readonly onContainers?: (ids: readonly string[]) => void;
  /**
   * Called with each state of a response in the background. Returns whether its cost is recorded later: false when
   * absent.
   */
  readonly onBackground?: (response: JsonObject) => boolean;
  /** Request of the caller, for dialects whose answers depend on its settings. */
  readonly body?: RequestBody;
  /** Creates the error for an error that the upstream reports inside its stream. */
  readonly upstreamError: (error: AnswerError) => Error;
  /** Creates the error for a stream that violates its format. `fault` names the violation. */
  readonly formatError: (fault: string) => Error;
}

/** Inspects the events of one streamed answer while they are forwarded. */
export interface StreamInspector {
  /**
   * Reads the accounting facts of one event. Returns the event to forward: the same buffer, a replacement, or null to
   * drop it. Returns an Error to end the stream.
   */
  inspect(event: Buffer): Buffer | null | Error;
  /** Whether the answer has begun. Before that, a failure can still become an HTTP error. */
  readonly hasBegun: boolean;
  /** Whether the answer is complete. A stream that ends before is truncated. */
  readonly complete: boolean;
  outcome(): Outcome;
  /** Events so far that count as one output token each, as an estimate. Absent for answers without text. */
  readonly pieces?: number;
  /** Typed deltas of one event. */
  deltas(data: Buffer, event: string | null): readonly ChatDelta[];
}
