import type { AnswerStep } from '../domain/chat/answer-step.ts';
import type { ChatDelta, FollowUp, Outcome } from '../domain/chat/chat.ts';
import type { Losses, NeutralChat } from '../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../domain/inference/askable.ts';
import type { Endpoint } from '../domain/inference/endpoint.ts';
import type { Form } from '../domain/inference/form.ts';

/** A failure as an upstream words it, alone or inside an answer. */
export interface AnswerError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  /** The upstream's own code, or the status it means where the body names one. */
  readonly code: string | null;
}

/** What a caller's dialect must be able to do so that its calls can go to an upstream of another. */
export interface InboundDialect {
  /**
   * A request of this dialect in neutral words. Notes in `losses` every member it cannot carry, unknown ones too. Throws
   * InvalidInput for what breaks the dialect's own rules.
   */
  readRequest(body: RequestBody, losses: Losses): NeutralChat;
  /** Writes one streamed answer. */
  writer(about: AnswerAbout): AnswerWriter;
  /** The same answer whole, as a JSON value. */
  whole(steps: readonly AnswerStep[], about: AnswerAbout): unknown;
}

/** What an answer says of itself beside its steps. */
export interface AnswerAbout {
  /** The name the caller asked for. */
  readonly model: string;
  /** Used where the upstream gives an answer no id. */
  readonly fallbackId: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The same, of now, for answers that tell when they ended; the first when absent. */
  readonly now?: () => number;
  /** The caller asked for a closing usage chunk, where the dialect leaves that to them. */
  readonly includeUsage: boolean;
  /** The caller's request, for dialects whose answers repeat parts of it. */
  readonly body: RequestBody;
  /** How the answer is named and kept, in dialects whose callers may come back to it; else it has the upstream's id. */
  readonly followUp?: FollowUp;
}

/** Writes the steps of one answer as the text of server-sent events. */
export interface AnswerWriter {
  /** The events of one step; empty text when this dialect says nothing of it now. */
  write(step: AnswerStep): string;
  /** What is still to be said when the answer is complete. */
  end(): string;
}

/** What an upstream's dialect must be able to do so that callers of another can be served by it. */
export interface OutboundDialect {
  /** A request in this dialect's words. Notes in `losses` what it has no words for. */
  writeRequest(chat: NeutralChat, losses: Losses): RequestBody;
  /** Reads one streamed answer. */
  reader(): AnswerReader;
  /** The steps of an answer that came whole. */
  stepsOf(answer: unknown): readonly AnswerStep[];
}

/** Reads one streamed answer into steps. What it does not know says nothing; it never throws. */
export interface AnswerReader {
  /** The steps of one event: its parsed data, and its name where the dialect names events. */
  read(data: unknown, event: string | null): readonly AnswerStep[];
}

/** What forwarding an answer in its own dialect needs: its facts read in passing, its model's name rewritten. */
export interface NativeDialect {
  /** The failure a body or an event carries; null when it carries none. */
  errorOf(value: unknown): AnswerError | null;
  /** Reads a whole answer, or the failure it carries under a good status; null when the bytes are neither. */
  whole(bytes: Uint8Array, about: WholeAbout): WholeAnswer | { readonly error: AnswerError } | null;
  /** Follows a streamed answer. */
  inspector(options: InspectorOptions): StreamInspector;
}

export interface WholeAbout {
  readonly endpoint: Endpoint;
  /** The model name the caller asked for. */
  readonly model: string;
  /** The caller's request, for answers whose form depends on it. */
  readonly body: RequestBody;
  /** The same as the form it was, with the files in it. */
  readonly form?: Form;
  /** Most characters of the answer's text kept for the outcome; 0 keeps none. */
  readonly textLimit: number;
  /** An id of the upstream's as the caller gets to see it; as it is when absent. */
  readonly idOf?: (upstreamId: string) => string;
  /** The response that the answer goes on from, where its upstream was told the conversation instead; none when absent. */
  readonly previousId?: string | null;
}

/** A whole answer, ready to forward. */
export interface WholeAnswer {
  readonly bytes: Uint8Array;
  readonly outcome: Outcome;
  /** The same, typed. */
  deltas(): readonly ChatDelta[];
}

export interface InspectorOptions {
  /** The model name the caller asked for. */
  readonly model: string;
  /** Leave the closing usage chunk out: the gateway asked for it, the caller did not. */
  readonly dropUsage: boolean;
  /** Most characters of the answer's text kept for the outcome; 0 keeps none. */
  readonly textLimit: number;
  /** An id of the upstream's as the caller gets to see it; as it is when absent. */
  readonly idOf?: (upstreamId: string) => string;
  /** The response that the answer goes on from, where its upstream was told the conversation instead; none when absent. */
  readonly previousId?: string | null;
  /** The request, for answers that leave to it what they are; none when absent. */
  readonly body?: RequestBody;
  /** The upstream reported a failure inside its stream. */
  readonly refused: (error: AnswerError) => Error;
  /** The stream broke a rule of its format; `fault` says which. */
  readonly garbled: (fault: string) => Error;
}

/** Follows the events of one streamed answer as they are forwarded. */
export interface StreamInspector {
  /**
   * Reads what accounting needs of one event. Gives what goes on in its place: the same buffer untouched, another, null
   * for nothing; or why the stream ends here.
   */
  inspect(event: Buffer): Buffer | null | Error;
  /** Whether the answer has begun: up to then a failure can still be answered as one. */
  readonly begun: boolean;
  /** Whether the answer has said all it must before its stream may end. */
  readonly complete: boolean;
  outcome(): Outcome;
  /** The typed steps of one event. */
  deltas(data: Buffer, event: string | null): readonly ChatDelta[];
}
