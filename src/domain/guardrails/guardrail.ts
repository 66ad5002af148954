import type { JsonObject } from '../json-object.ts';
import type { Caller } from '../caller.ts';
import type { GuardrailDefinition, GuardrailMode } from './definition.ts';

export type TextRole = 'system' | 'user' | 'assistant' | 'tool';

/** One text of a request or of an answer. */
export interface GuardedText {
  readonly text: string;
  /** Null where the format has no roles. */
  readonly role: TextRole | null;
}

/** Tools of a request or of an answer. */
export interface InspectedTools {
  /** Names of the tools that a request offers or calls, or that an answer calls. */
  readonly used: readonly string[];
  /** Reads the names of the tools whose results the conversation has. */
  resultsOf(): readonly string[];
}

/** Texts of one call for one guardrail. */
export interface Inspection {
  readonly phase: 'request' | 'response';
  readonly texts: readonly GuardedText[];
  /** Name of the model that the caller sent; empty without a model call. */
  readonly model: string;
  readonly callId: string;
  readonly traceId: string;
  readonly caller: Caller;
  /** Fires when the call is cancelled. */
  readonly signal: AbortSignal;
  /** Reads the tools of the request or of the answer; absent where there are none. */
  readonly tools?: (() => InspectedTools) | undefined;
  /** Language of the texts; null or absent for the configured one. */
  readonly language?: string | null;
  /** Kinds of entities to find; null or absent for the configured kinds. */
  readonly entities?: readonly string[] | null;
}

/** Findings of a guardrail, for the record and for callers that request them. */
export type GuardrailReport = string | JsonObject | readonly unknown[];

interface Reported {
  readonly report?: GuardrailReport;
}

/** Result of a guardrail. */
export type Verdict =
  | ({ readonly kind: 'passed' } & Reported)
  /** One text for each checked text, in order, and the number of masked places by kind. */
  | ({
      readonly kind: 'edited';
      readonly texts: readonly string[];
      readonly masked: Readonly<Record<string, number>>;
    } & Reported)
  /** `detail` is the text of the error, or an object with that text as `error`. */
  | ({ readonly kind: 'blocked'; readonly detail: string | JsonObject } & Reported)
  /** Something was found, and the call continues. */
  | ({ readonly kind: 'flagged' } & Reported);

/** A check of texts. */
export interface Guardrail {
  /** Throws GuardrailFailed, and Unavailable when the guardrail cannot run with its settings. */
  check(inspection: Inspection): Verdict | Promise<Verdict>;
  /** Whether it checks tools, and so also requests and answers without texts. */
  readonly readsTools?: true;
}

/** How texts of a stream are checked. */
export interface StreamSettings {
  /** Chunks between two checks. */
  readonly samplingRate: number;
  /** Whether texts are checked only at the end of the stream. The stream is held until then. */
  readonly atEndOnly: boolean;
}

/** A definition that is ready to run. */
export interface ActiveGuardrail {
  readonly definition: GuardrailDefinition;
  readonly guardrail: Guardrail;
  readonly stream: StreamSettings;
  /** Whether it checks the texts of embedding requests. */
  readonly inspectsEmbeddings: boolean;
  /** Roles whose texts it does not check. */
  readonly skips: readonly TextRole[];
}

/** The guardrails in force, compiled. */
export interface ActiveGuardrails {
  /** In the order in which they run. The same array as before until a guardrail changes. */
  current(): readonly ActiveGuardrail[];
  /** Why a guardrail cannot run with its settings; null when it can. */
  faultOf(definition: GuardrailDefinition): string | null;
}

/**
 * Whether a caller may select a guardrail by name: one of the caller's team, or one without a team. Proxy
 * administrators may select all.
 */
export const isVisibleTo = ({ definition: { teamId } }: ActiveGuardrail, caller: Caller): boolean =>
  teamId === null || teamId === caller.teamId || caller.role === 'proxy_admin';

export const hasMode = ({ definition }: ActiveGuardrail, mode: GuardrailMode): boolean =>
  definition.modes.includes(mode);
