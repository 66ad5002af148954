/**
 * A chat in no vendor's words. Where caller and upstream speak different dialects, the caller's request is read into
 * this and the upstream's is written from it. Null always means that the caller said nothing about it.
 */
export interface NeutralChat {
  /** The name sent upstream. */
  readonly model: string;
  readonly stream: boolean;
  /** In order; system messages stand where the caller put them. */
  readonly messages: readonly NeutralMessage[];
  readonly tools: readonly NeutralTool[];
  readonly toolChoice: ToolChoice | null;
  /** Whether the model may call several tools in one answer. */
  readonly parallelToolCalls: boolean | null;
  /** Most tokens of the answer, reasoning included. */
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
  /** Which end user the call is for, as the caller names them. */
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
  /** The caller asks for the prompt up to and with this part to be cached. */
  readonly cached?: CacheMark;
}

/** How long a marked prompt is to be kept; null leaves it to the upstream. */
export interface CacheMark {
  readonly ttl: string | null;
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart;

/** Bytes by value, as base64 text, or where they are. */
export type Source =
  | { readonly form: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly form: 'url'; readonly url: string; readonly mediaType: string | null }
  /** A file that was uploaded to the upstream beforehand. */
  | { readonly form: 'id'; readonly id: string };

interface ImagePart {
  readonly kind: 'image';
  readonly source: Source;
  /** How closely it is looked at: `low`, `high`, `auto`. */
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

/** What the model thought in an earlier answer, sent back to it. */
export interface ReasoningPart {
  readonly kind: 'reasoning';
  /** Empty where only the proof was shown. */
  readonly text: string;
  /** The upstream's proof that the text is its own, or the text itself in a form only it can read. Of no use to another. */
  readonly proof: string | null;
  /** Whether the proof stands in place of a text that was withheld. */
  readonly redacted: boolean;
}

export interface ToolCallPart {
  readonly kind: 'toolCall';
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
  /** The upstream's proof of the thought behind this call, where it gives one per call (Gemini's `thoughtSignature`). */
  readonly proof?: string;
}

export interface ToolResult {
  /** The call it answers. */
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
  readonly parameters: Readonly<Record<string, unknown>>;
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

/** What form the answer's text must have. */
export type OutputForm =
  | { readonly form: 'text' }
  | { readonly form: 'json' }
  | {
      readonly form: 'schema';
      readonly name: string;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/** How long the model may think before it answers. Dialects say it in words or in tokens; either may be null. */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`. */
  readonly effort: string | null;
  readonly budgetTokens: number | null;
  /** Whether the caller wants to see the thoughts. */
  readonly shown: boolean | null;
}

/** Something a request asks for that the dialect of the upstream has no words for. */
export interface Loss {
  /** Where it stands in the caller's request, e.g. `logit_bias`, `messages[2].content[0]`. */
  readonly member: string;
  /**
   * `hint` when the answer is still the one asked for without it (a label, a cache mark): it is left out, and the caller
   * is told. `essential` when it is not: the call is refused, unless the deployment or the caller allows the drop.
   */
  readonly weight: 'hint' | 'essential';
}

/** Takes note of what a reader or a writer of requests cannot carry over. */
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
