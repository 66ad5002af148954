import type { ByteStream } from '../bytes.ts';
import type { CallLabels } from '../calls/call-labels.ts';
import type { Endpoint } from '../inference/endpoint.ts';
import type { Form } from '../inference/form.ts';
import type { Measured } from '../inference/measured.ts';
import type { Retries } from '../inference/retries.ts';
import type { Usd } from '../money.ts';
import type { Secret } from '../secret.ts';

/** Token counts of one call, as the upstream reported them. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** What of the writes a cache keeps for an hour, which costs more; absent where there is none. */
  readonly longCacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** What of these was sound; absent where the upstream does not tell it apart. */
  readonly audio?: AudioTokens;
  /** What of these was pictures; absent likewise. */
  readonly image?: ImageTokens;
}

/** The tokens of pictures within a usage. */
interface ImageTokens {
  /** Of the input, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}

/** The tokens of sound within a usage: they have prices of their own. */
export interface AudioTokens {
  /** Of the input, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}

/** A call of a model as a door hands it to the gateway, in the dialect of its endpoint. */
export interface ModelRequest {
  readonly endpoint: Endpoint;
  /** The name the caller sent: a model group. */
  readonly model: string;
  readonly stream: boolean;
  /** The caller asked for a closing usage chunk. */
  readonly includeUsage: boolean;
  /** The request exactly as it came. */
  readonly bytes: Uint8Array;
  /** The same, parsed once; files by their names. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The same as a form, where it is one. */
  readonly form?: Form;
  /** The caller's name for this call; null lets the gateway make one. */
  readonly callId: string | null;
  /** Where the call hangs in the caller's own trace; null starts a new one. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null;
  /** Headers of the caller that are part of its dialect, by lower-case name: an upstream of the same dialect gets them. */
  readonly forwarded?: Readonly<Record<string, string>>;
  /** What is done where the model does not answer; nothing when absent. */
  readonly retries?: Retries;
  /** A key and an address the caller brings of its own; null where there is none of it. */
  readonly credentials?: { readonly apiKey: Secret | null; readonly apiBase: string | null } | null;
  /** What the caller notes on it; nothing when absent. */
  readonly labels?: CallLabels;
  /** Neither what is asked nor what is answered is kept on its span, whatever else is. */
  readonly unkept?: true;
  /** What is answered in the place of a model, of which nobody is asked. */
  readonly mockResponse?: string;
  /** Seconds the caller gives the upstream to begin its answer; the deployment says when absent. */
  readonly timeoutSeconds?: number;
  /** Most characters of the answer's text that its outcome keeps; none when absent. */
  readonly textLimit?: number;
  /** Members of the body that differ from what `bytes` say; undefined ones are left out. None when absent. */
  readonly replaced?: Readonly<Record<string, unknown>>;
  /** The deployment that must serve it: what the request refers to is kept there. Any of the model's when absent. */
  readonly deploymentId?: string;
  /** Present for answers that their callers may come back to. */
  readonly followUp?: FollowUp;
  /** Hash of the caller's key: connections to an upstream are shared fairly by it. Absent for calls of the process itself. */
  readonly owner?: string;
}

/** How an answer that its caller may come back to is named, and where it stays. */
export interface FollowUp {
  /** The id of an answer put into words here, because its upstream speaks another dialect. */
  readonly ownId: string;
  /** The id of what it goes on from, where that is part of the request by now; null where there is none. */
  readonly previousId: string | null;
  /** Keeps such an answer, once it is whole; false where that is not possible. Absent where it is not to be kept. */
  readonly keep?: (answer: Readonly<Record<string, unknown>>) => boolean;
  /** The id under which the caller sees what a deployment's upstream keeps. */
  shownId(deploymentId: string, upstreamId: string): string;
}

/** One step of an answer, typed. A stream ends after `finish`, `usage` or `failure`. */
export type ChatDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | {
      readonly kind: 'toolCall';
      /** Position among the calls of this answer. */
      readonly index: number;
      /** Given on the first piece only. */
      readonly id: string | null;
      readonly name: string | null;
      /** The next piece of the JSON arguments. */
      readonly arguments: string;
    }
  | { readonly kind: 'finish'; readonly reason: string }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'failure'; readonly message: string; readonly code: string };

/** What is known of an answer once it has ended. */
export interface Outcome {
  readonly responseId: string | null;
  readonly responseModel: string | null;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  /** What it is billed by where that is not tokens; absent elsewhere. */
  readonly measured?: Measured;
  /** What the upstream says the call cost; absent where it does not say, or is not the one to say. */
  readonly charged?: Usd;
  /** Set when the upstream reported a failure inside a started stream. */
  readonly failure: { readonly message: string; readonly code: string } | null;
  /** What the answer says, cut to the request's `textLimit`; null when none was to be kept. */
  readonly text: string | null;
}

/** An upstream's answer, whose head has come and whose body is on its way. */
export interface Exchange {
  readonly status: number;
  /** Lower-case names; what the upstream sent, hop-by-hop headers left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its outcome is not complete before its body has ended. */
  readonly streaming: boolean;
  /** What the request asked for and the upstream has no words for, left out; none when absent. */
  readonly dropped?: readonly string[];
  /** The answer in the caller's dialect, ready to forward. Consume this or `deltas`, not both. */
  readonly bytes: ByteStream;
  /** The same answer, typed. */
  deltas(): AsyncIterableIterator<ChatDelta>;
  /** What has been seen of the answer so far; complete once the body has ended. */
  outcome(): Outcome;
}
