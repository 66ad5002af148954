import type { RoutingDecision } from '../auto-routers/routing-decision.ts';
import type { JsonObject } from '../json-object.ts';
import type { Region } from '../customers/customer.ts';
import type { ByteStream } from '../bytes.ts';
import type { CallLabels } from '../calls/call-labels.ts';
import type { AnsweredQuestion, MadeDecision } from '../decisions/decision.ts';
import type { EarlierAnswers } from '../decisions/earlier-answers.ts';
import type { Endpoint } from '../inference/endpoint.ts';
import type { Form } from '../inference/form.ts';
import type { BilledQuantity } from '../inference/billed-quantity.ts';
import type { Retries } from '../inference/retries.ts';
import type { Usd } from '../money.ts';
import type { CacheControls } from '../response-cache/cache-use.ts';
import type { PromptUse } from '../prompts/prompt.ts';
import type { Secret } from '../secret.ts';
import type { Usage } from './usage.ts';

export type { AudioTokens, Usage } from './usage.ts';

/** A model call as a transport passes it to the gateway, in the dialect of its endpoint. */
export interface ModelRequest {
  /** Region that the call may not leave; absent for any. */
  readonly region?: Region;
  readonly endpoint: Endpoint;
  /** A model group: the name that the caller sent, or the model of an alias. */
  readonly model: string;
  /** Name of the model in the answer: the alias that the caller sent. `model` when undefined. */
  readonly answerModel?: string | undefined;
  /** Configured alias of `model`, by which routers find its deployments; undefined for none. */
  readonly alias?: string | undefined;
  readonly stream: boolean;
  /** Whether a stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  /** The request bytes, unchanged. */
  readonly bytes: Uint8Array;
  /** The parsed body. Files of a form are `FormFile`. */
  readonly body: JsonObject;
  /** The body as a form; absent for other bodies. */
  readonly form?: Form;
  /** The caller's id of this call; null lets the gateway generate one. */
  readonly callId: string | null;
  /**
   * Parent span in the caller's own trace; null starts a new trace. With `spanId` null, the call is a root span of that
   * trace.
   */
  readonly parent: { readonly traceId: string; readonly spanId: string | null } | null;
  /**
   * Headers of the caller that are part of its dialect, by lower-case name: an upstream of the same dialect gets them.
   */
  readonly forwarded?: Readonly<Record<string, string>>;
  /** Retries and fallbacks; the configured ones when absent. */
  readonly retries?: Retries;
  /** API key and base address from the caller; null where the caller sends none. */
  readonly credentials?: { readonly apiKey: Secret | null; readonly apiBase: string | null } | null;
  /** Labels from the caller; none when absent. */
  readonly labels?: CallLabels;
  /** The caller's `User-Agent` header; absent when it sent none. */
  readonly userAgent?: string;
  /** The span stores neither prompt nor answer. */
  readonly omitContent?: true;
  /** Names of guardrails that the caller requests in addition to those of its key and those of every call. */
  readonly guardrails?: readonly string[];
  /** Names of policies that the caller requests in addition to those that apply to the call. */
  readonly policies?: readonly string[];
  /** The stored prompt whose messages precede those of the body; absent once they do. */
  readonly prompt?: PromptUse;
  /** An answer that is not streamed lists the guardrails that ran. */
  readonly reportsGuardrails?: true;
  /** The sender reads `deltas()` of the answer, not its `bytes`. */
  readonly typed?: true;
  /** No guardrail runs: a guardrail itself makes the call. */
  readonly unguarded?: true;
  /** Use of the cache of answers; that of the settings when absent. */
  readonly cache?: CacheControls;
  /**
   * Name of the auto router that asks a judge by this call. The right to call the router is the right to this call. It
   * counts in budgets, but not in rate limits: the routed call counts there.
   */
  readonly judgeFor?: string;
  /** Decision of the auto router that selected `model`; absent for other calls. */
  readonly routing?: RoutingDecision;
  /** Mock answer; no upstream is called. */
  readonly mockResponse?: string;
  /** Why a mock answer ends; as a complete answer when absent. */
  readonly mockFinish?: 'content_filter';
  /** Timeout of the answer's head, in seconds; the deployment's when absent. */
  readonly timeoutSeconds?: number;
  /** Maximum length of `Outcome.text`, in characters. When absent, the outcome keeps no text. */
  readonly textLimit?: number;
  /** Members of the body that replace those in `bytes`; undefined removes a member. None when absent. */
  readonly replaced?: JsonObject;
  /**
   * The deployment that must serve the call, because the request refers to an object there. Any deployment of the model
   * when absent.
   */
  readonly deploymentId?: string;
  /** Present when callers can refer to the answer later. */
  readonly followUp?: FollowUp;
  /**
   * Hash of the caller's key. Connections to an upstream are shared fairly between owners. Absent for calls of the
   * process itself.
   */
  readonly owner?: string;
  /** Scope whose recorded decision outcomes calibrate the answers of a decision; the platform's when absent. */
  readonly outcomeScope?: string;
  /** Called with each answer of a decision as soon as it is known. After a retry, it may get an answer again. */
  readonly answered?: (one: AnsweredQuestion) => void;
  /** Answers of other models to the same decision. Only the open questions are asked; all questions when absent. */
  readonly earlier?: EarlierAnswers;
}

/** Id and storage of an answer that callers can refer to later. */
export interface FollowUp {
  /** Id of an answer that the gateway translates, because its upstream has another dialect. */
  readonly ownId: string;
  /** Id of the previous response, when the request contains its conversation; null otherwise. */
  readonly previousId: string | null;
  /**
   * Stores a complete answer that the gateway translates, with the body of its request as guardrails have edited it.
   * Returns false when the answer cannot be stored. Absent for answers that must not be stored.
   */
  readonly store?: (answer: JsonObject, body: JsonObject) => boolean;
  /**
   * Whether callers can still refer to an earlier answer by its id. Absent for answers that must not be stored. Throws
   * Unavailable.
   */
  readonly isAvailable?: (id: string) => Promise<boolean>;
  /** Id that callers get for an object that a deployment's upstream stores. */
  shownId(deploymentId: string, upstreamId: string): string;
  /** Called with the ids of containers at a deployment that the answer names; an id may be repeated. */
  readonly onContainers?: (deploymentId: string, ids: readonly string[]) => void;
  /**
   * Called with each state of a response that a deployment's upstream makes in the background. Returns whether its cost
   * is recorded when it has ended.
   */
  readonly onBackground?: (deploymentId: string, response: JsonObject) => boolean;
}

/** One step of an answer, typed. The last step of a stream is `finish`, `usage` or `failure`. */
export type ChatDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | {
      readonly kind: 'toolCall';
      /** Position among the tool calls of this answer. */
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

/** Facts of an answer that has ended. */
export interface Outcome {
  readonly responseId: string | null;
  readonly responseModel: string | null;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  /** Billed quantity other than tokens; absent for calls that are billed by tokens. */
  readonly measured?: BilledQuantity;
  /** Cost that the upstream reports; absent where it reports none or its report is not authoritative. */
  readonly charged?: Usd;
  /**
   * Whether the upstream still works on the answer, in the background, and its usage and cost are recorded when it has
   * ended. Absent for other answers.
   */
  readonly billedLater?: true;
  /** Failure that the upstream reported inside its answer; null without one. */
  readonly failure: { readonly message: string; readonly code: string } | null;
  /** Text of the answer, truncated to the request's `textLimit`; null without a limit. */
  readonly text: string | null;
  /**
   * Names of the tools that the answer calls, as far as its events were parsed; absent for none. A name may repeat.
   */
  readonly calledTools?: readonly string[];
  /** Key of the cached answer; absent for the answer of an upstream. */
  readonly cacheHitKey?: string;
}

/** An upstream's answer whose head has arrived. */
export interface Exchange {
  readonly status: number;
  /** The upstream's headers with lower-case names, without hop-by-hop headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the outcome is complete only after the end of the body. */
  readonly streaming: boolean;
  /** Whether only the tokens of the outcome are known after the end of the body, and all else before. */
  readonly reportsUsageAtEnd?: boolean;
  /** Members of the request that the upstream's dialect cannot express and that were left out; none when absent. */
  readonly dropped?: readonly string[];
  /** The decision that the bytes express; absent for other calls. */
  readonly decision?: MadeDecision;
  /** The exchange with an edited decision, in the same format. Present where `decision` is. */
  readonly withDecision?: (edited: MadeDecision) => Exchange;
  /** Key of the answer in the cache; absent for calls that do not use it. */
  readonly cacheKey?: string;
  /** The answer in the caller's dialect, ready to forward. Consume this or `deltas`, not both. */
  readonly bytes: ByteStream;
  /** The answer as typed deltas. Consume this or `bytes`, not both. */
  deltas(): AsyncIterableIterator<ChatDelta>;
  /** Outcome so far; complete when the body has ended. */
  outcome(): Outcome;
  /**
   * Estimated tokens of the answer so far, by its events or by the size of its text; absent where they are not counted.
   */
  readonly pieces?: () => number;
}
