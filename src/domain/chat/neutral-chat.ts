import type { JsonObject } from '../json-object.ts';

/**
 * A chat request, independent of the vendor. Where caller and upstream have different dialects, the caller's request is
 * read into this form, and the upstream's request is written from it. A setting is null when the request has none that
 * this form can express.
 */
export interface NeutralChat {
  /** The name sent upstream. */
  readonly model: string;
  readonly stream: boolean;
  /** In the order of the request; system messages keep their place. */
  readonly messages: readonly NeutralMessage[];
  readonly tools: readonly NeutralTool[];
  readonly toolChoice: ToolChoice | null;
  /** Whether the model may call several tools in one answer. */
  readonly parallelToolCalls: boolean | null;
  /** Maximum tokens of the answer, reasoning included. */
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  /** Texts that end the answer. */
  readonly stop: readonly string[];
  readonly seed: number | null;
  readonly frequencyPenalty: number | null;
  readonly presencePenalty: number | null;
  readonly outputForm: OutputForm | null;
  readonly reasoning: Reasoning | null;
  /** The caller's id of its end user. */
  readonly endUser: string | null;
}

export type NeutralMessage =
  | { readonly role: 'system'; readonly content: readonly TextPart[] }
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  /** Present where the prompt up to and including this part is to be cached. */
  readonly cached?: CacheMark;
}

/** Lifetime of the cached prompt; null is the upstream's default. */
export interface CacheMark {
  readonly ttl: string | null;
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart;

/** Content as base64 text, its address, or the id of an uploaded file. */
export type Source =
  | { readonly form: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly form: 'url'; readonly url: string; readonly mediaType: string | null }
  /** A file that was uploaded to the upstream before. */
  | { readonly form: 'id'; readonly id: string };

interface ImagePart {
  readonly kind: 'image';
  readonly source: Source;
  /** Resolution of image input: `low`, `high`, `auto`. */
  readonly detail: string | null;
  readonly cached?: CacheMark;
}

/** A document, e.g. a PDF or plain text. */
interface FilePart {
  readonly kind: 'file';
  readonly source: Source;
  readonly name: string | null;
  readonly cached?: CacheMark;
}

interface AudioPart {
  readonly kind: 'audio';
  readonly source: Source;
}

export type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart;

interface RefusalPart {
  readonly kind: 'refusal';
  readonly text: string;
}

/** Reasoning of an earlier answer, sent back to the model. */
export interface ReasoningPart {
  readonly kind: 'reasoning';
  /** Empty where the answer had only the proof. */
  readonly text: string;
  /** The upstream's signature of the text, or the text in a form that only this upstream can read. */
  readonly proof: string | null;
  /** Whether the proof replaces a withheld text. */
  readonly redacted: boolean;
}

export interface ToolCallPart {
  readonly kind: 'toolCall';
  readonly id: string;
  readonly name: string;
  /** JSON text, usually of an object. It is not validated. */
  readonly arguments: string;
  /**
   * The upstream's signature of the reasoning for this call, where it has one per call (Gemini's `thoughtSignature`).
   */
  readonly proof?: string;
}

export interface ToolResult {
  /** Id of the tool call that it answers. */
  readonly callId: string;
  readonly content: readonly UserPart[];
  readonly failed: boolean;
  readonly cached?: CacheMark;
}

/** A function the model may ask the caller to run. */
export interface NeutralTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of its arguments, an object. */
  readonly parameters: JsonObject;
  /** Whether arguments must fit the schema. */
  readonly strict: boolean | null;
  readonly cached?: CacheMark;
}

export type ToolChoice =
  | { readonly mode: 'auto' }
  | { readonly mode: 'none' }
  /** Some tool must be called. */
  | { readonly mode: 'required' }
  | { readonly mode: 'tool'; readonly name: string };

/** Required form of the answer's text. */
export type OutputForm =
  | { readonly form: 'text' }
  | { readonly form: 'json' }
  | {
      readonly form: 'schema';
      readonly name: string;
      readonly description: string | null;
      readonly schema: JsonObject;
      readonly strict: boolean | null;
    };

/** Reasoning settings. Dialects limit reasoning by an effort or by a number of tokens; either may be null. */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`. */
  readonly effort: string | null;
  readonly budgetTokens: number | null;
  /** Whether the answer should contain the reasoning. */
  readonly shown: boolean | null;
}

/** A member of a request that the neutral form or the upstream's dialect cannot express. */
export interface Loss {
  /**
   * Path of the member, e.g. `logit_bias`, `messages[2].content[0]`: in the caller's dialect or in chat completions.
   */
  readonly member: string;
  /**
   * `hint`, e.g. for a label or a cache mark: the member is left out, and the answer names it. `essential`: the call is
   * refused, unless the deployment or the caller allows to drop the member.
   */
  readonly weight: 'hint' | 'essential';
}

/** Collects the members that a reader or writer of requests cannot translate. */
export class Losses {
  readonly #all: Loss[] = [];

  hint(member: string): void {
    this.#all.push({ member, weight: 'hint' });
  }

  essential(member: string): void {
    this.#all.push({ member, weight: 'essential' });
  }

  all(): readonly Loss[] {
    return this.#all;
  }
}
